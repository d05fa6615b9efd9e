import { invalid } from '../errors.ts'
import type { Window } from '../versioning/pagination.ts'
import type { RowResult } from './evaluation.ts'
import type { EvaluationLog } from './evaluation-log.ts'
import { hasOutcome, type ResultFilter } from './result-filter.ts'

/** Which results are wanted: at most so many, those behind a row, those that a filter leaves. */
export interface ResultsWanted extends ResultFilter {
  readonly limit?: number | undefined
  readonly next?: string | undefined
}

/** A page of the rows that are done, in the order in which they were. Refuses an evaluator that took no part, and a `next` that is none of them. */
export async function resultsPage(
  log: EvaluationLog,
  { limit = Number.POSITIVE_INFINITY, next, ...filter }: ResultsWanted,
): Promise<Window<RowResult>> {
  const { evaluator } = filter
  if (evaluator !== undefined && !log.plan.evaluators.some(({ name }) => name === evaluator)) {
    const names = log.plan.evaluators.map(({ name }) => name).join(', ') || 'none'
    throw invalid(
      ['body', 'result', 'evaluator'],
      `${JSON.stringify(evaluator)} took no part in this evaluation. Its evaluators: ${names}`,
    )
  }
  const rows: RowResult[] = []
  let hasBegun = next === undefined
  for await (const row of log.rows()) {
    if (!hasBegun) {
      hasBegun = row.isOf(next ?? '')
      continue
    }
    if (filter.testcaseIds && !filter.testcaseIds.has(row.testcaseId)) continue
    const result = row.read()
    if (!hasOutcome(result, filter)) continue
    if (rows.length === limit) return { rows, next: rows.at(-1)?.testcase_id }
    rows.push(result)
  }
  if (hasBegun) return { rows, next: undefined }
  throw invalid(
    ['body', 'windowing', 'next'],
    `${next} is no testcase of this evaluation's results. Send the \`next\` of the previous answer.`,
    'invalid_cursor',
  )
}
