import { invalid } from '../../errors.ts'
import { JsonStream, stringifyJson } from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { DiffRequest, DiffSide, PresentedDiff } from '../payload/family.ts'
import { commaSeparated, inBatches } from './present-testset.ts'
import type { RowEntry } from './rows/row-entry.ts'
import { decodeRow, dedupIdOf } from './rows/stored-row.ts'
import type { RowBytes } from './rows/stored-rows.ts'
import { allRows, rowBytes, withoutMeta } from './rows/stored-rows.ts'
import { presentTestcase } from './testcase.ts'
import type { StoredTestset } from './testset-payload.ts'
import { asStored } from './testset-payload.ts'
import { rowPath } from './testset-tree.ts'

/** A row that differs. Differences are sorted by the head's order; rows that only the base has come last. */
interface RowDifference {
  readonly dedupId: string
  readonly base: RowEntry | undefined
  readonly head: RowEntry | undefined
}

/** One side of the comparison. */
interface Side extends Pick<DiffSide, 'artifactId' | 'source'> {
  readonly testset: StoredTestset
}

/**
 * The differing rows of two testset revisions, joined on their dedup ids, and their columns (interface 8.24).
 * `windowing.limit` pages through the rows, and `count_total` counts them. Reads only rows whose content differs; a page's rows are read
 * while it is written.
 */
export async function diffTestsets(
  base: DiffSide,
  head: DiffSide,
  { windowing, signal }: DiffRequest,
): Promise<PresentedDiff> {
  const slice = new TimeSlice(signal)
  const [before, after] = [sideOf(base), sideOf(head)]
  const all = await differences(before, after, slice)
  const start = startOf(all, windowing?.next)
  const end = Math.min(all.length, start + (windowing?.limit ?? all.length))
  const [added, removed, changed]: [RowEntry[], RowEntry[], ChangedRow[]] = [[], [], []]
  await slice.each(all.slice(start, end), ({ dedupId, base: old, head: now }) => {
    if (old && now) changed.push({ dedupId, old, now })
    else if (now) added.push(now)
    else if (old) removed.push(old)
  })
  return {
    diff: {
      rows: {
        added: testcases(after, added),
        removed: testcases(before, removed),
        changed: changes(before, after, changed),
      },
      columns: {
        added: columnsMissing(after, before),
        removed: columnsMissing(before, after),
      },
    },
    ...(windowing?.count_total ? { total: all.length } : {}),
    ...(end < all.length ? { windowing: { ...windowing, next: String(end) } } : {}),
  }
}

function testcases(side: Side, rows: readonly RowEntry[]): JsonStream {
  return new JsonStream(listPieces(rowBytes(side.source, inBatches(rows)), (row) => show(side, row)))
}

interface ChangedRow {
  readonly dedupId: string
  readonly old: RowEntry
  readonly now: RowEntry
}

function changes(base: Side, head: Side, rows: readonly ChangedRow[]): JsonStream {
  return new JsonStream(
    listPieces(
      pairs(base, head, rows),
      ({ dedupId, old, now }) =>
        `{"dedup_id":${stringifyJson(dedupId)},"base":${show(base, old)},"head":${show(head, now)}}`,
    ),
  )
}

interface RowPair {
  readonly dedupId: string
  readonly old: RowBytes
  readonly now: RowBytes
}

/** Changed rows with the bytes of both sides. */
async function* pairs(
  base: Side,
  head: Side,
  rows: readonly ChangedRow[],
): AsyncGenerator<readonly RowPair[]> {
  const old = rowByRow(rowBytes(base.source, inBatches(rows.map((row) => row.old))))
  const now = rowByRow(rowBytes(head.source, inBatches(rows.map((row) => row.now))))
  for (const { dedupId } of rows) {
    const [before, after] = [await old.next(), await now.next()]
    if (!before.done && !after.done) yield [{ dedupId, old: before.value, now: after.value }]
  }
}

async function* rowByRow(batches: AsyncIterable<readonly RowBytes[]>): AsyncGenerator<RowBytes> {
  for await (const batch of batches) yield* batch
}

async function* listPieces<T>(
  batches: AsyncIterable<readonly T[]>,
  write: (item: T) => string,
): AsyncGenerator<string> {
  yield '['
  yield* commaSeparated(batches, write)
  yield ']'
}

function show({ artifactId, testset }: Side, row: RowBytes): string {
  return stringifyJson(presentTestcase(row, artifactId, testset.columns))
}

/** The columns of the first that the other lacks. */
function columnsMissing({ testset }: Side, other: Side): readonly string[] {
  const known = new Set(other.testset.columns)
  return testset.columns.filter((column) => !known.has(column))
}

async function differences(base: Side, head: Side, slice: TimeSlice): Promise<readonly RowDifference[]> {
  if (base.source === head.source && base.testset.tree === head.testset.tree) return []
  const old = await allRows(base.source, base.testset.tree, slice)
  const now = await allRows(head.source, head.testset.tree, slice)
  const removed = await withDedupIds(base, await without(old, await keysOf(now, slice), slice), slice)
  const added = await withDedupIds(head, await without(now, await keysOf(old, slice), slice), slice)
  const rows: RowDifference[] = []
  const places = new Map<string, RowEntry>()
  await slice.each(removed, ([dedupId, row]) => places.set(dedupId, row))
  const joined = new Map<string, true>()
  await slice.each(added, ([dedupId, row]) => {
    joined.set(dedupId, true)
    rows.push({ dedupId, base: places.get(dedupId), head: row })
  })
  await slice.each(removed, ([dedupId, row]) => {
    if (!joined.has(dedupId)) rows.push({ dedupId, base: row, head: undefined })
  })
  return rows
}

/** Rows with equal keys have equal data and metadata. */
function keyOf({ oid, meta }: RowEntry): string {
  return meta === undefined ? oid : `${oid} ${meta}`
}

async function keysOf(rows: readonly RowEntry[], slice: TimeSlice): Promise<Map<string, true>> {
  const keys = new Map<string, true>()
  await slice.each(rows, (row) => keys.set(keyOf(row), true))
  return keys
}

async function without(
  rows: readonly RowEntry[],
  keys: Map<string, true>,
  slice: TimeSlice,
): Promise<RowEntry[]> {
  const left: RowEntry[] = []
  await slice.each(rows, (row) => {
    if (!keys.has(keyOf(row))) left.push(row)
  })
  return left
}

/** Rows with their dedup ids, in order. A push may repeat a dedup id; the last row wins. */
async function withDedupIds(
  { source }: Side,
  rows: readonly RowEntry[],
  slice: TimeSlice,
): Promise<readonly (readonly [dedupId: string, row: RowEntry])[]> {
  const named: [string, RowEntry][] = []
  const places = new Map<string, number>()
  let index = 0
  for await (const batch of rowBytes(source, inBatches(withoutMeta(rows)), slice)) {
    for (const { row: read, data } of batch) {
      const row = rows[index++] ?? read
      const dedupId = dedupIdOf(decodeRow(data, () => rowPath(row.position))) ?? row.oid
      const place = places.get(dedupId) ?? named.length
      places.set(dedupId, place)
      named[place] = [dedupId, row]
      if (slice.isOver) await slice.rest()
    }
  }
  return named
}

function sideOf({ artifactId, source, payload }: DiffSide): Side {
  const testset = payload
    ? asStored(payload)
    : ({ kind: 'stored', tree: undefined, columns: [] } satisfies StoredTestset)
  return { artifactId, source, testset }
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
