import type { JudgePair } from '../../../parts/evaluation/evaluation.tsx'
import { type Outcome, outcomeOf, outputOf, rankOf, type RowResult } from '../outcome.ts'

/** A row of two runs. `mixed`: better by one evaluator and worse by another; `not comparable`: every evaluator judged them by two revisions. */
export interface ComparedRow {
  readonly key: string
  readonly left: RowResult | undefined
  readonly right: RowResult | undefined
  readonly change: 'better' | 'worse' | 'mixed' | 'same' | 'not comparable' | 'only left' | 'only right'
  readonly isOutputChanged: boolean
}

/**
 * Puts the rows of two runs side by side: by testcase, and by dedup id what an edit made another testcase of. `dedupIdOf` knows those of the
 * testcases that only one of them has.
 */
export function joinRows(
  left: readonly RowResult[],
  right: readonly RowResult[],
  judges: readonly JudgePair[],
  dedupIdOf: ReadonlyMap<string, string>,
): readonly ComparedRow[] {
  const byId = new Map(right.map((row) => [row.testcase_id, row]))
  const leftIds = new Set(left.map((row) => row.testcase_id))
  const byDedup = new Map(
    right.flatMap((row): [string, RowResult][] => {
      const dedupId = leftIds.has(row.testcase_id) ? undefined : dedupIdOf.get(row.testcase_id)
      return dedupId === undefined ? [] : [[dedupId, row]]
    }),
  )
  const taken = new Set<RowResult>()
  const rows = left.map((row): ComparedRow => {
    const partner = byId.get(row.testcase_id) ?? byDedup.get(dedupIdOf.get(row.testcase_id) ?? '')
    if (partner) taken.add(partner)
    return compared(row, partner, judges)
  })
  return [...rows, ...right.filter((row) => !taken.has(row)).map((row) => compared(undefined, row, judges))]
}

function compared(
  left: RowResult | undefined,
  right: RowResult | undefined,
  judges: readonly JudgePair[],
): ComparedRow {
  const key = (left ?? right)?.testcase_id ?? ''
  if (!left || !right)
    return { key, left, right, change: left ? 'only left' : 'only right', isOutputChanged: false }
  const comparable = judges.filter(({ isComparable }) => isComparable)
  const signs = comparable.map((judge) =>
    signOf(outcomeOf(left.evaluators[judge.left.name]), outcomeOf(right.evaluators[judge.right.name])),
  )
  const [up, down] = [signs.some((sign) => sign > 0), signs.some((sign) => sign < 0)]
  return {
    key,
    left,
    right,
    change:
      judges.length > 0 && comparable.length === 0
        ? 'not comparable'
        : up && down
          ? 'mixed'
          : up
            ? 'better'
            : down
              ? 'worse'
              : 'same',
    isOutputChanged: outputOf(left) !== outputOf(right),
  }
}

/** 1 where the right one is better, -1 where it is worse. */
function signOf(left: Outcome, right: Outcome): number {
  const [before, after] = [rankOf(left), rankOf(right)]
  return before === undefined || after === undefined || before === after ? 0 : after > before ? 1 : -1
}
