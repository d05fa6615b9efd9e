import { randomHex, type SpanLink } from '../../feeds/traces.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Invocation } from '../../run/invocation.ts'

/** The version of the invocation protocol in answers (interface 12.2). */
export const PROTOCOL_VERSION = '2025.07.14'

/** The caller's span that the request continues: W3C `traceparent`, else `x-svc-trace-id` and `x-svc-span-id`. */
export function callersSpan(headers: IncomingHttpHeaders): SpanLink | undefined {
  const parent = headers['traceparent']
  if (typeof parent === 'string') {
    // version, trace, span, flags; later versions may add more
    const [, version = 'ff', traceId = '', spanId = ''] =
      /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/.exec(parent.trim()) ?? []
    return version === 'ff' ? undefined : spanLink(traceId, spanId)
  }
  const [traceId, spanId] = [headers['x-svc-trace-id'], headers['x-svc-span-id']]
  return typeof traceId === 'string' && typeof spanId === 'string' ? spanLink(traceId, spanId) : undefined
}

/** Ignores invalid ids, and ids of zeros only, as the specification requires. */
function spanLink(traceId: string, spanId: string): SpanLink | undefined {
  const isValid = /^(?!0+$)[0-9a-f]{32}$/.test(traceId) && /^(?!0+$)[0-9a-f]{16}$/.test(spanId)
  return isValid ? { traceId, spanId } : undefined
}

/** The session of a run: the sent one, `minted` if none was sent, neither if the sent one is invalid. */
export interface Session {
  readonly sent: string | undefined
  readonly minted: string | undefined
}

/** The session in a request's body, header or baggage; a new one if there is none (interface 12.10). */
export function sessionOf(inBody: string | undefined, headers: IncomingHttpHeaders): Session {
  const named = inBody ?? oneOf(headers['x-svc-session-id']) ?? inBaggage(oneOf(headers['baggage']))
  if (named === undefined) return { sent: undefined, minted: randomHex(16) }
  return { sent: /^[A-Za-z0-9._:-]{1,128}$/.test(named) ? named : undefined, minted: undefined }
}

function oneOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0]
}

function inBaggage(baggage: string | undefined): string | undefined {
  if (baggage === undefined) return undefined
  const [, value] = /(?:^|,)\s*svc\.session\.id\s*=\s*([^,;\s]*)/.exec(baggage) ?? []
  return value
}

/** The headers of every answer to an invocation that has begun (interface 12.10). */
export function traceHeaders(
  { traceId, spanId }: Pick<Invocation, 'traceId' | 'spanId'>,
  { sent, minted }: Session,
): Readonly<Record<string, string>> {
  const session = sent ?? minted
  const headers: Record<string, string> = {
    'x-svc-version': PROTOCOL_VERSION,
    'x-svc-trace-id': traceId,
    'x-svc-span-id': spanId,
    traceparent: `00-${traceId}-${spanId}-01`,
  }
  if (session !== undefined) {
    headers['x-svc-session-id'] = session
    headers['baggage'] = `svc.session.id=${session}`
  }
  return headers
}
