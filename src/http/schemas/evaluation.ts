import { z } from 'zod'
import { type Evaluation, RESULT_OUTCOMES } from '../../run/evaluations.ts'
import { uuid } from './request-schemas.ts'

const id = z.string().meta({ format: 'uuid' })
const timestamp = z.string().meta({ format: 'date-time' })

const pinned = {
  artifact_id: id,
  artifact_slug: z.string(),
  revision_id: id,
  revision_slug: z.string(),
  version: z.int().min(1),
}

export const MAX_TESTCASE_IDS = 1000

const amounts = z.strictObject({ prompt: z.number(), completion: z.number(), total: z.number() })

const usage = z.strictObject({
  duration_ms: z.number(),
  tokens: amounts.optional(),
  costs: amounts
    .meta({
      description:
        'In US dollars, by the prices of the catalog; absent if no model was called, or if the cost of one call is unknown.',
    })
    .optional(),
})

const summary = z.strictObject({
  done: z.int(),
  failed: z.int(),
  evaluators: z.record(
    z.string(),
    z.strictObject({
      scored: z.int(),
      passed: z.int(),
      failed: z.int().optional(),
      errors: z.int(),
      mean_score: z.number().nullable(),
      mean_rows: z.int().optional(),
      success_rate: z.number().nullable(),
    }),
  ),
  usage: usage.meta({ description: 'The sum over the rows.' }).optional(),
})

/** A run of a testset through an application and evaluators, each pinned to a revision. */
export const evaluationRecord = z.strictObject({
  id,
  state: z.enum(['running', 'finished', 'interrupted']),
  created_at: timestamp,
  created_by: z.string(),
  finished_at: timestamp.optional(),
  testset: z.strictObject(pinned),
  application: z.strictObject(pinned),
  evaluators: z.array(z.strictObject({ name: z.string(), ...pinned })),
  concurrency: z.int(),
  rows: z.int(),
  testcase_ids: z.array(id).meta({ description: 'The rows that are run, where not all are.' }).optional(),
  outputs_from: id
    .meta({
      description: 'The evaluation that ran the application, where this one only judged its outputs anew.',
    })
    .optional(),
  summary,
})

/** Why a row has no result. */
export const resultError = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), secret: z.string().optional() }),
})

const runResult = z.union([z.strictObject({ outputs: z.unknown() }), resultError])

/** The results of one row. */
export const evaluationResult = z.strictObject({
  testcase_id: id,
  trace_id: z.string(),
  application: runResult,
  evaluators: z.record(z.string(), runResult),
  usage: usage
    .meta({
      description:
        'What the application and the evaluators took; the evaluators alone if they judged older outputs; absent in old evaluations.',
    })
    .optional(),
})

/** A filter for the rows of an evaluation. */
export const resultFilter = z
  .object({
    outcome: z
      .enum(RESULT_OUTCOMES)
      .meta({
        description:
          'How the row ended: error where the application or an evaluator failed on it; else failed where a verdict was no; else passed where there was a verdict.',
      })
      .optional(),
    evaluator: z.string().meta({ description: 'The outcome by this evaluator alone.' }).optional(),
    testcase_ids: z.array(uuid).max(MAX_TESTCASE_IDS).optional(),
  })
  .transform(({ testcase_ids: ids, ...filter }) => ({ ...filter, testcaseIds: ids && new Set(ids) }))

export function presentEvaluation({ plan, state, finishedAt, summary }: Evaluation): object {
  const { id, created_at, created_by, testset, application, evaluators, concurrency, rows } = plan
  const { outputs_from: source, testcase_ids: ids } = plan
  return {
    id,
    state,
    created_at,
    created_by,
    finished_at: finishedAt,
    testset,
    application,
    evaluators,
    concurrency,
    rows,
    ...(ids === undefined ? {} : { testcase_ids: ids }),
    ...(source === undefined ? {} : { outputs_from: source }),
    summary,
  }
}
