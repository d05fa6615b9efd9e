import type { Json } from '../json/json.ts'

/**
 * One run of a testset through an application and evaluators. Everything it is of is pinned by revision id when it begins, so that a
 * resumed run goes on with the same.
 */
export interface EvaluationPlan {
  readonly id: string
  readonly created_at: string
  readonly created_by: string
  readonly testset: PinnedRevision
  readonly application: PinnedRevision
  readonly evaluators: readonly NamedEvaluator[]
  /** How many rows are run at once. */
  readonly concurrency: number
  /** How many rows the testset revision has. */
  readonly rows: number
  /** The evaluation that ran the application, where this one only judges its outputs anew. */
  readonly outputs_from?: string
}

/** So many rows of an evaluation may run at once. */
export const MOST_AT_ONCE = 64

/** A revision by everything that names it. */
export interface PinnedRevision {
  readonly artifact_id: string
  readonly artifact_slug: string
  readonly revision_id: string
  readonly revision_slug: string
  readonly version: number
}

/** An evaluator under the name that results have: its slug, or its revision's where several of the same take part. */
export interface NamedEvaluator extends PinnedRevision {
  readonly name: string
}

/** What came of a row: the application's outputs and what each evaluator made of them. */
export interface RowResult {
  readonly testcase_id: string
  readonly trace_id: string
  readonly application: RunResult
  /** By the names of the evaluators; empty where the application failed. */
  readonly evaluators: Readonly<Record<string, RunResult>>
}

/** The outputs of a run, or why there are none. */
export type RunResult =
  { readonly outputs: Json } | { readonly error: { readonly code: string; readonly message: string } }

/**
 * How a row ended. `error`: the application failed on it, or an evaluator did. Else `failed`: a verdict was no. Else `passed`: there was a verdict.
 * A score alone is no verdict.
 */
export const RESULT_OUTCOMES = ['passed', 'failed', 'error'] as const

/** `finished` all rows are done; `interrupted` it can be resumed. */
export type EvaluationState = 'running' | 'finished' | 'interrupted'

/** An evaluation as it stands. */
export interface Evaluation {
  readonly plan: EvaluationPlan
  readonly state: EvaluationState
  readonly finishedAt: string | undefined
  readonly summary: EvaluationSummary
}

/** `done`: in which rows were done. `testset`: in which the testset has them. */
export const RESULT_ORDERS = ['done', 'testset'] as const

/** The order that results are answered in. */
export type ResultOrder = (typeof RESULT_ORDERS)[number]

/** How an evaluation ended whose rows are all done. */
export interface EvaluationEnd {
  readonly finished_at: string
  readonly summary: EvaluationSummary
}

/** What an evaluation has come to. */
export interface EvaluationSummary {
  /** Rows that were run. */
  readonly done: number
  /** Rows whose application failed. */
  readonly failed: number
  readonly evaluators: Readonly<Record<string, EvaluatorSummary>>
}

/** What an evaluator made of all rows. It does not run on rows whose application failed, but they count in both rates. */
export interface EvaluatorSummary {
  /** Rows it gave a score, or a verdict, which counts as 1 or 0. */
  readonly scored: number
  readonly passed: number
  /** Rows that did not pass, by its verdict; a score alone is no verdict. Absent where an earlier version finished the evaluation. */
  readonly failed?: number
  /** Rows that it failed on itself. */
  readonly errors: number
  /** Over `mean_rows`; null where it scored none. */
  readonly mean_score: number | null
  /** The rows it scored, and, as 0, those that it or the application failed on. Absent as `failed` is: then they are the rows it scored. */
  readonly mean_rows?: number
  /** Passed rows of all that were done; null where there are none. */
  readonly success_rate: number | null
}
