import { z } from 'zod'
import { deployments } from '../schemas/deployments.ts'
import type { EndpointResponse, Call, Endpoint } from './endpoint.ts'

/**
 * The endpoint with what it answers cut down, for a key without the scope `read`, to what says which things were written: ids,
 * slugs, versions, dates and addresses. Nothing that is stored shows then, not even what the same key has sent. Endpoints whose
 * answers are meant for everyone they let in say `showsAll`; any other that lets such a key in is cut down, whatever it answers.
 */
export function withholding(endpoint: Endpoint): Endpoint {
  if (endpoint.showsAll || (endpoint.scope === 'read' && endpoint.orScope === undefined)) return endpoint
  const { run, recall, alsoAnswers = [] } = endpoint
  return {
    ...endpoint,
    alsoAnswers: [...alsoAnswers, withheldAnswer],
    run: (call) => (call.mayRead ? run(call) : withheldLater(endpoint, run(call))),
    ...(recall
      ? {
          recall: (call: Call<never>, address: Parameters<typeof recall>[1]) =>
            call.mayRead ? recall(call, address) : withheldLater(endpoint, recall(call, address)),
        }
      : {}),
  }
}

/** What is answered to a key without the scope `read`. */
export const withheldAnswer = z
  .object({
    count: z.literal(1),
    trace_id: z.string().optional(),
    changed: z.boolean().optional(),
    deployments: deployments.optional(),
  })
  .catchall(z.record(z.string(), z.union([z.string(), z.int()])))
  .meta({ description: 'To a key without the scope `read`: ids, slugs, versions, dates and addresses' })

async function withheldLater(
  { path }: Endpoint,
  answer: EndpointResponse | Promise<EndpointResponse>,
): Promise<EndpointResponse> {
  const { body, text, stream, ...rest } = await answer
  // A bug of ours, and told as one rather than shown.
  if (!body || text !== undefined || stream) throw new Error(`${path} answers what cannot be withheld`)
  return { ...rest, body: withheld(body) }
}

/** Numbers and texts of the body whose names say that they are no content, and the same of the records in it. */
function withheld(body: object): object {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    if (isScalar(value)) {
      if (name === 'count' || IDENTITY.test(name)) shown[name] = value
    } else if (isRecord(value)) shown[name] = identityOf(value)
    else if (name === 'deployments' || name === 'changed') shown[name] = value
  }
  return shown
}

function identityOf(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => isScalar(value) && IDENTITY.test(name)),
  )
}

/** Names of members that hold ids, slugs, versions, dates and addresses. Members that users name are never at this level. */
const IDENTITY = /^(?:id|slug|version|date|git_url)$|_(?:id|slug|at)$/

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
