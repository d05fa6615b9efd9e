import { z } from 'zod'
import type { Evaluation } from '../../evaluations/evaluation.ts'

const id = z.string().meta({ format: 'uuid' })
const timestamp = z.string().meta({ format: 'date-time' })

const pinned = {
  artifact_id: id,
  artifact_slug: z.string(),
  revision_id: id,
  revision_slug: z.string(),
  version: z.int().min(1),
}

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
})

/** A run of a testset through an application and evaluators, each pinned by its revision. */
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
  summary,
})

/** Why a row has no result. */
export const resultError = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string() }),
})

const runResult = z.union([z.strictObject({ outputs: z.unknown() }), resultError])

/** What came of a row. */
export const evaluationResult = z.strictObject({
  testcase_id: id,
  trace_id: z.string(),
  application: runResult,
  evaluators: z.record(z.string(), runResult),
})

/** An evaluation as a record. */
export function presentEvaluation({ plan, state, finishedAt, summary }: Evaluation): object {
  const { id, created_at, created_by, testset, application, evaluators, concurrency, rows } = plan
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
    summary,
  }
}
