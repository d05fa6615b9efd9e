import type { Answer } from '../../api/call.ts'
import { textOf } from '../../parts/text/text.tsx'

/** What came of a row, as the interface answers it. */
export type RowResult = Answer<'POST /evaluations/{id}/results'>['results'][number]

/** What came of one run: the prompt's, or an evaluator's. */
export type RunResult = RowResult['application']

/** `scored`: a number and no verdict. `said`: neither. `absent`: it was not run, as the prompt failed. */
export type OutcomeKind = 'passed' | 'failed' | 'error' | 'scored' | 'said' | 'absent'

/** What an evaluator made of a row. */
export interface Outcome {
  readonly kind: OutcomeKind
  readonly score?: number
  /** Why it failed. */
  readonly message?: string
}

/** Reads an evaluator's outputs as summaries do: `success`, and `score` or `aggregate_score`; a verdict alone counts as 1 or 0. */
export function outcomeOf(result: RunResult | undefined): Outcome {
  if (result === undefined) return { kind: 'absent' }
  if ('error' in result) return { kind: 'error', message: `${result.error.code}: ${result.error.message}` }
  const { outputs } = result
  if (typeof outputs === 'number') return { kind: 'scored', score: outputs }
  if (typeof outputs !== 'object' || outputs === null || Array.isArray(outputs)) return { kind: 'said' }
  const said = outputs as Readonly<Record<string, unknown>>
  const graded = said['score'] ?? said['aggregate_score']
  const verdict = said['success'] ?? graded
  const score = typeof graded === 'number' ? graded : undefined
  if (typeof verdict === 'boolean') {
    return { kind: verdict ? 'passed' : 'failed', ...(score === undefined ? {} : { score }) }
  }
  return score === undefined ? { kind: 'said' } : { kind: 'scored', score }
}

/** How good an outcome is: an error is worse than any score. */
export function rankOf({ kind, score }: Outcome): number | undefined {
  if (kind === 'error' || kind === 'absent') return Number.NEGATIVE_INFINITY
  return score ?? (kind === 'passed' ? 1 : kind === 'failed' ? 0 : undefined)
}

/** What the prompt answered, or why it did not, as one text. */
export function outputOf({ application }: RowResult): string {
  return 'error' in application ? application.error.message : textOf(application.outputs)
}
