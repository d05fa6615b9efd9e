import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { EndpointResponse, Call, Endpoint } from './endpoint.ts'

/**
 * The endpoint, which answers a write with ids, slugs and versions alone where the client sends `Prefer: return=minimal` (RFC 7240, interface 2.3).
 * Warnings and deployments stay: nothing else tells of them. Reads, and what only an admin key may do, answer as ever: what is made
 * there is shown once.
 */
export function preferring(endpoint: Endpoint): Endpoint {
  const { scope, run, recall, alsoAnswers = [] } = endpoint
  if (scope !== 'write' && scope !== 'deploy') return endpoint
  const cut = async (
    call: Call<never>,
    answer: EndpointResponse | Promise<EndpointResponse>,
  ): Promise<EndpointResponse> => (prefersMinimal(call.headers) ? minimal(await answer) : answer)
  return {
    ...endpoint,
    alsoAnswers: [...alsoAnswers, minimalAnswer],
    run: (call) => (call.headers.prefer === undefined ? run(call) : cut(call, run(call))),
    ...(recall
      ? {
          recall: (call: Call<never>, address: Parameters<typeof recall>[1]) =>
            cut(call, recall(call, address)),
        }
      : {}),
  }
}

/** What is answered then. */
export const minimalAnswer = z
  .object({ count: z.int() })
  .catchall(z.unknown())
  .meta({ description: 'With `Prefer: return=minimal`: ids, slugs and versions' })

/** Preferences are a list, with parameters; what is not known is left alone, as RFC 7240 wants it. */
function prefersMinimal({ prefer }: IncomingHttpHeaders): boolean {
  return String(prefer ?? '')
    .split(',')
    .some((preference) => /^\s*return\s*=\s*"?minimal"?\s*(?:;|$)/i.test(preference))
}

function minimal({ body, ...rest }: EndpointResponse): EndpointResponse {
  if (!body) return { ...rest }
  const kept = Object.entries(body).map(([name, value]) => [name, isRecord(value) ? idsOf(value) : value])
  return {
    ...rest,
    body: Object.fromEntries(kept),
    headers: { ...rest.headers, 'Preference-Applied': 'return=minimal' },
  }
}

function idsOf(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => IDS.test(name)))
}

/** Of the thing itself and of what it belongs to. */
const IDS = /^(?:id|slug|version|(?:artifact|variant|revision)_id)$/

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
