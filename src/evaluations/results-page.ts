import { invalid } from '../errors.ts'
import type { Window } from '../versioning/pagination.ts'
import type { RowResult } from './evaluation.ts'
import type { EvaluationLog } from './evaluation-log.ts'

/** Which results are wanted: at most so many, those behind a row. */
export interface ResultsWanted {
  readonly limit?: number | undefined
  readonly next?: string | undefined
}

/** A page of the rows that are done, in the order in which they were. Refuses a `next` that is none of them. */
export async function resultsPage(
  log: EvaluationLog,
  { limit = Number.POSITIVE_INFINITY, next }: ResultsWanted,
): Promise<Window<RowResult>> {
  const rows: RowResult[] = []
  let hasBegun = next === undefined
  for await (const row of log.rows()) {
    if (!hasBegun) hasBegun = row.isOf(next ?? '')
    else if (rows.length === limit) return { rows, next: rows.at(-1)?.testcase_id }
    else rows.push(row.read())
  }
  if (hasBegun) return { rows, next: undefined }
  throw invalid(
    ['body', 'windowing', 'next'],
    `${next} is no testcase of this evaluation's results. Send the \`next\` of the previous answer.`,
    'invalid_cursor',
  )
}
