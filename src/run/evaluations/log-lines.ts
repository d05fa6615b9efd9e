import { z } from 'zod'
import {
  entriesOf,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  MOST_LEVELS,
  parseJson,
} from '../../base/json.ts'
import type { EvaluationEnd, EvaluationPlan, RowResult } from './evaluation.ts'
import { MOST_AT_ONCE } from './evaluation.ts'

/** A line of a log: the plan, a row, or the end. */
export interface LogLine {
  readonly plan?: EvaluationPlan
  readonly row?: RowResult
  readonly end?: EvaluationEnd
}

/**
 * Parses a line of a log; undefined for what no evaluation writes. Lines are validated, because files may have been restored, copied or
 * edited.
 */
export function readLogLine(text: string): LogLine | undefined {
  try {
    const read = line.safeParse(parseJson(text, { maxDepth: MAX_LEVELS }))
    return read.success ? read.data : undefined
  } catch {
    return undefined // no JSON
  }
}

/** Outputs may be as deep as a request body, and are nested in a row. */
const MAX_LEVELS = MOST_LEVELS + 8

const pinned = {
  artifact_id: z.string(),
  artifact_slug: z.string(),
  revision_id: z.string(),
  revision_slug: z.string(),
  version: z.int(),
}

const plan = z.object({
  id: z.uuid(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
  testset: z.object(pinned),
  application: z.object(pinned),
  evaluators: z.array(z.object({ name: z.string(), ...pinned })),
  concurrency: z.int().min(1).max(MOST_AT_ONCE),
  rows: z.int().min(0),
  testcase_ids: z.array(z.string()).exactOptional(),
  outputs_from: z.uuid().exactOptional(),
})

const counts = z.object({
  scored: z.int(),
  passed: z.int(),
  failed: z.int().optional(),
  errors: z.int(),
  mean_score: z.number().nullable(),
  mean_rows: z.int().optional(),
  success_rate: z.number().nullable(),
})

const amounts = z.object({ prompt: z.number(), completion: z.number(), total: z.number() })

const usage = z.object({
  duration_ms: z.number(),
  tokens: amounts.exactOptional(),
  costs: amounts.exactOptional(),
})

const end = z.object({
  finished_at: z.iso.datetime(),
  summary: z.object({
    done: z.int(),
    failed: z.int(),
    evaluators: named((it) => counts.safeParse(it).data),
    usage: usage.exactOptional(),
  }),
})

const row = z.object({
  testcase_id: z.string(),
  trace_id: z.string(),
  application: z.custom<RowResult['application']>(isRunResult),
  evaluators: named((it) => (isRunResult(it) ? it : undefined)),
  usage: usage.exactOptional(),
})

const line = z.object({ plan: plan.optional(), row: row.optional(), end: end.optional() })

/** An object by slugs. A slug may be special in JavaScript (`42`, `__proto__`); parsed JSON handles these. */
function named<T>(read: (member: Json) => T | undefined) {
  return z
    .custom<JsonObject>((value) => isJsonObject(value as Json))
    .transform((object, context) => {
      const members = entriesOf(object).map(([name, member]) => [name, read(member)] as const)
      if (members.some(([, member]) => member === undefined)) context.addIssue('is no result of an evaluator')
      return Object.fromEntries(members) as Readonly<Record<string, T>>
    })
}

function isRunResult(value: unknown): value is RowResult['application'] {
  if (!isJsonObject(value as Json)) return false
  const result = value as JsonObject
  const error = getKey(result, 'error')
  if (error === undefined) return getKey(result, 'outputs') !== undefined
  return isJsonObject(error) && ['code', 'message'].every((name) => typeof getKey(error, name) === 'string')
}
