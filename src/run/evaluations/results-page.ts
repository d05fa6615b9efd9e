import { invalid } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { Revision } from '../../registry/revisions.ts'
import type { Window } from '../../registry/registries.ts'
import type { ResultOrder, RowResult, RESULT_OUTCOMES, RunResult } from './evaluation.ts'
import type { EvaluationLog, LoggedRow, RowPlace } from './evaluation-log.ts'
import { testcaseIdsOf } from './evaluation-rows.ts'
import { verdictOf } from './tally.ts'

/** The requested results: their order, number, start and filter. */
export interface ResultsWanted extends ResultFilter {
  readonly order: ResultOrder
  readonly limit?: number | undefined
  /** The testcase after which the page starts. */
  readonly next?: string | undefined
}

/** Answers the finished rows after the row `next`, in some order; undefined if there is no such row. */
export type RowsBehind = (next: string | undefined) => Promise<AsyncIterable<LoggedRow> | undefined>

/** A page of the finished rows. Refuses an evaluator that took no part, and an unknown `next`. */
export async function resultsPage(
  { plan }: EvaluationLog,
  rowsBehind: RowsBehind,
  { order, limit = Number.POSITIVE_INFINITY, next, ...filter }: ResultsWanted,
): Promise<Window<RowResult>> {
  const { evaluator } = filter
  if (evaluator !== undefined && !plan.evaluators.some(({ name }) => name === evaluator)) {
    const names = plan.evaluators.map(({ name }) => name).join(', ') || 'none'
    throw invalid(
      ['body', 'result', 'evaluator'],
      `${JSON.stringify(evaluator)} took no part in this evaluation. Its evaluators: ${names}`,
    )
  }
  const behind = await rowsBehind(next)
  if (!behind) {
    throw invalid(
      ['body', 'windowing', 'next'],
      `${next} is no testcase of this evaluation's results. Send the \`next\` of the previous answer.`,
      'invalid_cursor',
    )
  }
  const rows: RowResult[] = []
  for await (const row of behind) {
    if (filter.testcaseIds && !filter.testcaseIds.has(row.testcaseId)) continue
    const result = row.read()
    if (!hasOutcome(result, filter)) continue
    if (rows.length === limit) return { rows, next: cursorOf(order, rows.at(-1)?.testcase_id) }
    rows.push(result)
  }
  return { rows, next: undefined }
}

/** The rows in the order of completion. */
export function rowsAsDone(log: EvaluationLog): RowsBehind {
  return async (next) => {
    const rows = log.rows()
    if (next === undefined) return rows
    // A `for await` loop would close the generator, which is still needed.
    for (let row = await rows.next(); !row.done; row = await rows.next())
      if (row.value.isOf(next)) return rows
    return undefined
  }
}

/** The rows in the order of a testset, then rows that the testset does not have. */
export function rowsInOrder(log: EvaluationLog, order: ReadonlyMap<string, RowPlace>): RowsBehind {
  return async (next) => {
    if (next !== undefined && !order.has(next)) return undefined
    const slice = new TimeSlice()
    const wanted: RowPlace[] = []
    let isBehind = next === undefined
    for (const [id, place] of order) {
      if (isBehind) wanted.push(place)
      else isBehind = id === next
      if (slice.isOver) await slice.rest()
    }
    return log.rowsAt(wanted)
  }
}

/** The places of a log's rows, in the order of the testset. */
export async function testsetOrder(
  log: EvaluationLog,
  testset: Revision,
): Promise<ReadonlyMap<string, RowPlace>> {
  const done = await log.places()
  const order = new Map<string, RowPlace>()
  for await (const ids of testcaseIdsOf(testset)) {
    for (const id of ids) {
      const place = done.get(id)
      if (place) order.set(id, place)
    }
  }
  for (const [id, place] of done) if (!order.has(id)) order.set(id, place)
  return order
}

/** A cursor includes its order, because the default order changes when an evaluation ends, and pages must not. */
function cursorOf(order: ResultOrder, id: string | undefined): string | undefined {
  return id !== undefined && order === 'done' ? `${DONE}${id}` : id
}

/** The order of a cursor, and the testcase after which it continues. */
export function readCursor(cursor: string): { readonly order: ResultOrder; readonly id: string } {
  return cursor.startsWith(DONE)
    ? { order: 'done', id: cursor.slice(DONE.length) }
    : { order: 'testset', id: cursor }
}

const DONE = 'done:'

/** Undefined members do not filter. */
interface ResultFilter {
  readonly outcome?: (typeof RESULT_OUTCOMES)[number] | undefined
  /** Filter by the outcome of this evaluator only. */
  readonly evaluator?: string | undefined
  readonly testcaseIds?: ReadonlySet<string> | undefined
}

function hasOutcome(row: RowResult, { outcome, evaluator }: ResultFilter): boolean {
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
