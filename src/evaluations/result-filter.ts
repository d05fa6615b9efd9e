import type { RESULT_OUTCOMES, RowResult, RunResult } from './evaluation.ts'
import { verdictOf } from './tally.ts'

/** Which rows are wanted; what is undefined leaves none out. */
export interface ResultFilter {
  readonly outcome?: (typeof RESULT_OUTCOMES)[number] | undefined
  /** The outcome by this evaluator alone. */
  readonly evaluator?: string | undefined
  readonly testcaseIds?: ReadonlySet<string> | undefined
}

/** Whether a row is wanted for how it ended. */
export function hasOutcome(row: RowResult, { outcome, evaluator }: ResultFilter): boolean {
  return outcome === undefined || outcomeOf(row, evaluator) === outcome
}

function outcomeOf(
  { application, evaluators }: RowResult,
  evaluator: string | undefined,
): ResultFilter['outcome'] {
  if ('error' in application) return 'error'
  const results = Object.entries(evaluators).flatMap(([name, result]) =>
    evaluator === undefined || name === evaluator ? [result] : [],
  )
  if (results.some((result) => 'error' in result)) return 'error'
  const verdicts = results.map(successOf)
  if (verdicts.includes(false)) return 'failed'
  return verdicts.includes(true) ? 'passed' : undefined
}

function successOf(result: RunResult): boolean | undefined {
  return 'outputs' in result ? verdictOf(result.outputs).success : undefined
}
