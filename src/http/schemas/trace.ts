import { z } from 'zod'
import { numberOf, type Json, stringifyJson } from '../../base/json.ts'
import { readTime, isoOf, readSpanId, readTraceId, type TraceWindow } from '../../feeds/traces.ts'
import { annotationRecord } from './annotation.ts'
import { shown } from './request-schemas.ts'

/** The schemas of requests and answers about traces. */

export const traceId = hexId('trace', 32, readTraceId)
export const spanId = hexId('span', 16, readSpanId)

function hexId(what: string, digits: number, read: (text: string) => string | undefined): z.ZodType<string> {
  return z
    .string()
    .transform(
      (text, context) =>
        read(text) ?? problem(context, `${shown(text)} is no ${what} id; send its ${digits} hex digits`),
    )
    .meta({ pattern: `^[0-9a-f]{${digits}}$`, description: `${digits} hex digits; also as a UUID.` })
}

const time = z
  .unknown()
  .transform((value, context): number => {
    const text =
      typeof value === 'string' ? value : numberOf(value as Json) === undefined ? '' : stringifyJson(value)
    return (
      readTime(text) ??
      problem(
        context,
        `${shown(value)} is not a time; send RFC 3339, such as 2026-03-01T09:30:00Z, or seconds, ms, µs or ns since 1970`,
      )
    )
  })
  .meta({
    type: ['string', 'integer'],
    description: 'RFC 3339, or a whole number of 10, 13, 16 or 19 digits.',
  })

const limit = number('a whole number from 1 on', (value) => Number.isSafeInteger(value) && value >= 1)
const share = number('a number from 0 to 1', (value) => value >= 0 && value <= 1)
const length = number('a number above 0', (value) => value > 0 && Number.isFinite(value))

function number(rule: string, isRight: (value: number) => boolean): z.ZodType<number> {
  return z
    .unknown()
    .transform((value, context): number => {
      const text = typeof value === 'string' && /^[0-9]{1,15}(\.[0-9]{1,15})?$/.test(value)
      const read = text ? Number(value) : numberOf(value as Json)
      return read !== undefined && isRight(read)
        ? read
        : problem(context, `must be ${rule}, but it is ${shown(value)}`)
    })
    .meta({ type: 'number', description: rule })
}

function problem(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message, params: { type: 'value_error' } })
  return z.NEVER
}

/** A page of the matching traces or spans, newest first unless ascending (interface 12.11). */
export const traceWindowing: z.ZodType<TraceWindow> = z
  .object({
    newest: time.optional(),
    oldest: time.optional(),
    next: z.string().min(1).optional(),
    limit: limit.optional(),
    order: z.enum(['ascending', 'descending'], 'must be "ascending" or "descending"').optional(),
    rate: share.optional(),
    interval: length.optional(),
  })
  .transform(({ interval: _ofAnalytics, ...window }) => window)
  .meta({ description: 'oldest ≤ start_time < newest; `next` is that of the answer before.' })

export function presentWindow({ newest, oldest, ...window }: TraceWindow): object {
  return {
    ...window,
    ...(newest === undefined ? {} : { newest: isoOf(newest) }),
    ...(oldest === undefined ? {} : { oldest: isoOf(oldest) }),
  }
}

const timestamp = z.string().meta({ format: 'date-time' })
const json = z.unknown().meta({ type: 'object' })
const key = z.strictObject({ key: z.string() })

/** A span (interface 12.9); in a trace, with its child spans. */
export const spanRecordSchema = z.strictObject({
  trace_id: z.string(),
  span_id: z.string(),
  parent_id: z.string().optional(),
  trace_type: z.string(),
  span_type: z.string(),
  span_kind: z.string(),
  span_name: z.string(),
  start_time: timestamp,
  end_time: timestamp,
  status_code: z.string(),
  status_message: z.string().optional(),
  session_id: z.string().optional(),
  attributes: json,
  references: z
    .array(
      z.strictObject({
        id: z.string().optional(),
        slug: z.string().optional(),
        // A string for old runs, and where VERSION_TYPE asks for it.
        version: z.union([z.int(), z.string()]).optional(),
        attributes: key,
      }),
    )
    .optional(),
  links: z.array(z.strictObject({ trace_id: z.string(), span_id: z.string(), attributes: key })).optional(),
  exception: json.optional(),
  events: z.array(z.strictObject({ name: z.string(), timestamp, attributes: json })).optional(),
  created_at: timestamp,
  spans: z
    .unknown()
    .meta({ description: 'The spans below, by name; a list where several have one name.' })
    .optional(),
})

export const traceRecord = z.strictObject({
  trace_id: z.string(),
  spans: z.record(z.string(), z.union([spanRecordSchema, z.array(spanRecordSchema)])),
  // Of a list that was asked for them.
  annotations: z.array(annotationRecord).optional(),
})

/** The window of the next page; present exactly when there is one (interface 2.18). */
export const traceWindowInfo = z.strictObject({
  next: z.string(),
  newest: timestamp.optional(),
  oldest: timestamp.optional(),
  limit: z.int().optional(),
  order: z.enum(['ascending', 'descending']).optional(),
  rate: z.number().optional(),
})

/** `{count, <key>: [record], windowing?}`. */
export function traceList(name: string, record: z.ZodType): z.ZodType {
  return z.strictObject({
    count: z.int().min(0),
    [name]: z.array(record),
    windowing: traceWindowInfo.optional(),
  })
}
