import { addUsage, type ModelUsage } from '../../feeds/traces.ts'
import { getKey, isJsonObject, numberOf, type Json } from '../../base/json.ts'
import type { EvaluationSummary, EvaluatorSummary, RowResult, RunResult, Usage } from './evaluation.ts'

export class RunningSummary {
  #done = 0
  #failed = 0
  #usage: Usage | undefined
  /** Whether an earlier version ran a row, of which it is unknown what it cost. */
  #isPartial = false
  readonly #evaluators = new Map<string, Count>()

  /** `names` are the evaluators, in the order of display. */
  constructor(names: readonly string[]) {
    for (const name of names)
      this.#evaluators.set(name, { scored: 0, passed: 0, failed: 0, errors: 0, sum: 0 })
  }

  add({ application, evaluators, usage }: RowResult): void {
    this.#done++
    if (usage) this.#usage = this.#usage ? sumOf(this.#usage, usage) : usage
    else this.#isPartial = true
    if ('error' in application) this.#failed++
    for (const [name, count] of this.#evaluators) {
      const result = evaluators[name]
      if (result) take(count, result)
    }
  }

  summary(): EvaluationSummary {
    const summaries = [...this.#evaluators].map(([name, count]) => [name, this.#summaryOf(count)] as const)
    return {
      done: this.#done,
      failed: this.#failed,
      evaluators: Object.fromEntries(summaries),
      ...(this.#usage ? { usage: this.#isPartial ? withoutCosts(this.#usage) : this.#usage } : {}),
    }
  }

  #summaryOf({ scored, passed, failed, errors, sum }: Count): EvaluatorSummary {
    const meanRows = scored + errors + this.#failed
    return {
      scored,
      passed,
      failed,
      errors,
      mean_score: scored === 0 ? null : sum / meanRows,
      mean_rows: meanRows,
      success_rate: this.#done === 0 ? null : passed / this.#done,
    }
  }
}

function sumOf(left: Usage, right: Usage): Usage {
  return usageOf(left.duration_ms + right.duration_ms, addUsage(modelUsageOf(left), modelUsageOf(right)))
}

function withoutCosts({ duration_ms, tokens }: Usage): Usage {
  return usageOf(duration_ms, tokens && { tokens })
}

function modelUsageOf({ tokens, costs }: Usage): ModelUsage | undefined {
  return tokens && { tokens, costs }
}

/** What a row took, as it is stored. */
export function usageOf(duration_ms: number, { tokens, costs }: Partial<ModelUsage> = {}): Usage {
  return { duration_ms, ...(tokens ? { tokens } : {}), ...(costs ? { costs } : {}) }
}

interface Count {
  scored: number
  passed: number
  failed: number
  errors: number
  sum: number
}

function take(count: Count, result: RunResult): void {
  if ('error' in result) {
    count.errors++
    return
  }
  const { score, success } = verdictOf(result.outputs)
  if (success === true) count.passed++
  if (success === false) count.failed++
  if (score === undefined) return
  count.scored++
  count.sum += score
}

/** Reads `score` (or `aggregate_score`) and `success`. A verdict without a score counts as 1 or 0. */
export function verdictOf(outputs: Json): {
  readonly score: number | undefined
  readonly success: boolean | undefined
} {
  if (!isJsonObject(outputs)) return { score: numberOf(outputs), success: undefined }
  const said = getKey(outputs, 'score') ?? getKey(outputs, 'aggregate_score')
  const verdict = getKey(outputs, 'success') ?? (typeof said === 'boolean' ? said : undefined)
  const success = typeof verdict === 'boolean' ? verdict : undefined
  const score = numberOf(said) ?? (success === undefined ? undefined : Number(success))
  return { score, success }
}
