import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { Span } from '../../../src/feeds/traces/span.ts'

/** A time that tests count from, in milliseconds. */
export const NOON = Date.parse('2026-03-01T12:00:00Z')

/** A span as a handler's run leaves it, with what a test says of it. */
export function makeSpan(fields: Partial<Span> = {}): Span {
  const startTime = fields.startTime ?? NOON
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    parentId: undefined,
    traceType: 'invocation',
    type: 'workflow',
    kind: 'SPAN_KIND_SERVER',
    name: 'completion_v0',
    startTime,
    endTime: startTime + 12.5,
    statusCode: 'STATUS_CODE_OK',
    statusMessage: undefined,
    sessionId: undefined,
    attributes: { svc: { type: { trace: 'invocation', span: 'workflow' } } },
    references: new Map(),
    links: new Map(),
    exception: undefined,
    ...fields,
  }
}

/** A span with these members under `svc.data`. */
export function spanWith(data: JsonObject, fields: Partial<Span> = {}): Span {
  return makeSpan({ attributes: { svc: { data } }, ...fields })
}
