import type { DiffRequest, DiffSide, PresentedDiff } from '../../versioning/family.ts'
import { TimeSlice } from '../../time-slice.ts'
import { invalid } from '../../errors.ts'
import type { RowEntry } from './row-tree.ts'
import { allRows, withBytes } from './stored-rows.ts'
import { decodeRow, dedupIdOf } from './stored-row.ts'
import { presentTestcase } from './testcase.ts'
import { rowPath } from './testset-tree.ts'
import { asStored, type StoredTestset } from './testset-payload.ts'

/** A difference of one row: where it stands in the order of differences is by the head, then what only the base has. */
interface RowDifference {
  readonly dedupId: string
  readonly base: RowEntry | undefined
  readonly head: RowEntry | undefined
}

/**
 * The rows that two revisions of testsets do not share, joined on their dedup ids, and the columns (ruling 5.7); a windowing's
 * limit pages through the rows. Only rows whose content differs are read.
 */
export async function diffTestsets(
  base: DiffSide,
  head: DiffSide,
  { windowing, signal }: DiffRequest,
): Promise<PresentedDiff> {
  const [before, after] = [storedOf(base), storedOf(head)]
  const all = await differences(base, before, head, after, new TimeSlice(signal))
  const start = startOf(all, windowing?.next)
  const end = Math.min(all.length, start + (windowing?.limit ?? all.length))
  const rows = all.slice(start, end)
  const show = async (side: DiffSide, testset: StoredTestset, entries: readonly RowEntry[]) =>
    new Map(
      (await withBytes(side.source, entries)).map((row) => [
        row.row.oid,
        presentTestcase(row, side.artifactId, testset.columns),
      ]),
    )
  const old = await show(
    base,
    before,
    rows.flatMap((row) => row.base ?? []),
  )
  const now = await show(
    head,
    after,
    rows.flatMap((row) => row.head ?? []),
  )
  return {
    diff: {
      rows: {
        added: rows.flatMap((row) => (row.head && !row.base ? (now.get(row.head.oid) ?? []) : [])),
        removed: rows.flatMap((row) => (row.base && !row.head ? (old.get(row.base.oid) ?? []) : [])),
        changed: rows.flatMap((row) =>
          row.base && row.head
            ? [{ dedup_id: row.dedupId, base: old.get(row.base.oid), head: now.get(row.head.oid) }]
            : [],
        ),
      },
      columns: {
        added: after.columns.filter((column) => !before.columns.includes(column)),
        removed: before.columns.filter((column) => !after.columns.includes(column)),
      },
    },
    ...(end < all.length ? { windowing: { ...windowing, next: String(end) } } : {}),
  }
}

async function differences(
  base: DiffSide,
  before: StoredTestset,
  head: DiffSide,
  after: StoredTestset,
  slice: TimeSlice,
): Promise<readonly RowDifference[]> {
  if (base.source === head.source && before.tree === after.tree) return []
  const [old, now] = [
    await allRows(base.source, before.tree, slice),
    await allRows(head.source, after.tree, slice),
  ]
  const same = keysOf(old)
  const gone = keysOf(now)
  const removed = await byDedupId(
    base,
    old.filter((row) => !gone.has(keyOf(row))),
  )
  const added = await byDedupId(
    head,
    now.filter((row) => !same.has(keyOf(row))),
  )
  const rows: RowDifference[] = []
  for (const [dedupId, row] of added) rows.push({ dedupId, base: removed.get(dedupId), head: row })
  for (const [dedupId, row] of removed)
    if (!added.has(dedupId)) rows.push({ dedupId, base: row, head: undefined })
  return rows
}

/** Rows with equal keys are equal, with all that belongs to them. */
function keyOf({ oid, meta }: RowEntry): string {
  return meta === undefined ? oid : `${oid} ${meta}`
}

function keysOf(rows: readonly RowEntry[]): ReadonlySet<string> {
  return new Set(rows.map(keyOf))
}

async function byDedupId(
  { source }: DiffSide,
  rows: readonly RowEntry[],
): Promise<ReadonlyMap<string, RowEntry>> {
  const named = await withBytes(source, rows)
  return new Map(
    named.map(({ row, data }) => [dedupIdOf(decodeRow(data, () => rowPath(row.position))) ?? row.oid, row]),
  )
}

function storedOf({ payload }: DiffSide): StoredTestset {
  return payload ? asStored(payload) : { kind: 'stored', tree: undefined, columns: [] }
}

function startOf(all: readonly RowDifference[], next: string | undefined): number {
  if (next === undefined) return 0
  const start = Number(next)
  if (Number.isInteger(start) && start >= 0 && start <= all.length) return start
  throw invalid(
    ['body', 'windowing', 'next'],
    `"${next}" is no cursor of this diff. Send the \`next\` of the previous answer.`,
    'invalid_cursor',
  )
}
