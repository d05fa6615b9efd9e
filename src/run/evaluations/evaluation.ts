import type { Json } from '../../base/json.ts'
import type { Amounts } from '../../feeds/traces.ts'

/**
 * A run of a testset through an application and evaluators. All revisions are pinned by id at the start, so that a resumed run uses the same
 * ones.
 */
export interface EvaluationPlan {
  readonly id: string
  readonly created_at: string
  readonly created_by: string
  readonly testset: PinnedRevision
  readonly application: PinnedRevision
  readonly evaluators: readonly NamedEvaluator[]
  /** The number of rows that run at once. */
  readonly concurrency: number
  /** The number of rows that are run. */
  readonly rows: number
  /** The testcases that are run, if not all rows of the testset revision. */
  readonly testcase_ids?: readonly string[]
  /** The evaluation that ran the application, if this one only judges its outputs. */
  readonly outputs_from?: string
}

/** The maximum concurrency of an evaluation. */
export const MOST_AT_ONCE = 64

export interface PinnedRevision {
  readonly artifact_id: string
  readonly artifact_slug: string
  readonly revision_id: string
  readonly revision_slug: string
  readonly version: number
}

/** An evaluator and its name in results: its slug, or its revision's slug if several revisions of it take part. */
export interface NamedEvaluator extends PinnedRevision {
  readonly name: string
}

/** The result of a row: the application's outputs, and the evaluators' results. */
export interface RowResult {
  readonly testcase_id: string
  readonly trace_id: string
  readonly application: RunResult
  /** By evaluator name; empty if the application failed. */
  readonly evaluators: Readonly<Record<string, RunResult>>
  /** Absent if an earlier version ran the row. */
  readonly usage?: Usage
}

/** What a row took, or all rows together: the evaluators with the application. */
export interface Usage {
  readonly duration_ms: number
  /** Absent if no model reported any. */
  readonly tokens?: Amounts
  /** In US dollars. Absent if no model was called, or if the cost of one call is unknown. */
  readonly costs?: Amounts
}

/** The outputs of a run, or its error. */
export type RunResult =
  | { readonly outputs: Json }
  | {
      readonly error: {
        readonly code: string
        readonly message: string
        /** The secret of the project without which it failed. */
        readonly secret?: string
      }
    }

/**
 * The outcome of a row. `error`: the application or an evaluator failed. Else `failed`: a verdict was negative. Else `passed`: there was a
 * verdict. A score alone is no verdict.
 */
export const RESULT_OUTCOMES = ['passed', 'failed', 'error'] as const

/** `finished`: all rows are done. `interrupted`: it can be resumed. */
export type EvaluationState = 'running' | 'finished' | 'interrupted'

/** The current state of an evaluation. */
export interface Evaluation {
  readonly plan: EvaluationPlan
  readonly state: EvaluationState
  readonly finishedAt: string | undefined
  readonly summary: EvaluationSummary
}

/** `done`: the order of completion. `testset`: the order of the testset. */
export const RESULT_ORDERS = ['done', 'testset'] as const

export type ResultOrder = (typeof RESULT_ORDERS)[number]

/** The end of a finished evaluation. */
export interface EvaluationEnd {
  readonly finished_at: string
  readonly summary: EvaluationSummary
}

export interface EvaluationSummary {
  /** Rows that were run. */
  readonly done: number
  /** Rows on which the application failed. */
  readonly failed: number
  readonly evaluators: Readonly<Record<string, EvaluatorSummary>>
  /** The sum over the rows that have it; absent if none has. It has costs only if those of each row are known. */
  readonly usage?: Usage
}

/** An evaluator's results. It does not run on rows on which the application failed, but they count in both rates. */
export interface EvaluatorSummary {
  /** Rows with a score; a verdict counts as 1 or 0. */
  readonly scored: number
  readonly passed: number
  /** Rows with a negative verdict; a score alone is no verdict. Absent if an earlier version finished the evaluation. */
  readonly failed?: number
  /** Rows on which the evaluator failed. */
  readonly errors: number
  /** The mean over `mean_rows`; null if no row has a score. */
  readonly mean_score: number | null
  /**
   * The scored rows, and those on which the evaluator or the application failed, which count as 0. Absent if `failed` is, and then the mean
   * is over the scored rows.
   */
  readonly mean_rows?: number
  /** Passed rows divided by finished rows; null without rows. */
  readonly success_rate: number | null
}
