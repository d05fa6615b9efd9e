import { z } from 'zod'
import type { Annotation } from '../../feeds/traces.ts'

const timestamp = z.string().meta({ format: 'date-time' })

const named = z.strictObject({
  id: z.string().optional(),
  slug: z.string().optional(),
  version: z.union([z.int(), z.string()]).optional(),
})

/** What somebody said of a trace. */
export const annotationRecord = z.strictObject({
  id: z.string(),
  trace_id: z.string(),
  span_id: z.string().optional(),
  data: z.strictObject({ outputs: z.unknown().meta({ type: 'object' }) }),
  references: z
    .strictObject({ evaluator: named, evaluator_variant: named, evaluator_revision: named })
    .optional(),
  author: z.strictObject({ id: z.string(), kind: z.literal('key'), name: z.string() }),
  created_at: timestamp,
  retracted_at: timestamp.optional(),
})

/** `names` are the current names of principals, by id. */
export function presentAnnotation(
  { id, traceId, spanId, outputs, references, by, createdAt, retractedAt }: Annotation,
  names: ReadonlyMap<string, string>,
): object {
  return {
    id,
    trace_id: traceId,
    ...(spanId === undefined ? {} : { span_id: spanId }),
    data: { outputs },
    ...(references.size === 0 ? {} : { references: Object.fromEntries(references) }),
    author: { id: by, kind: 'key', name: names.get(by) ?? by.replace(/^key:/, '') },
    created_at: createdAt,
    ...(retractedAt === undefined ? {} : { retracted_at: retractedAt }),
  }
}
