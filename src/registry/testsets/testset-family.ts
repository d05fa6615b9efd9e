import type { TreeEntry } from '../../git/objects.ts'
import type { Family, StoredPayload, ChangedRows, PayloadTarget, WrittenPayload } from '../payload/family.ts'
import { type ObjectReader, readBytes } from '../payload/tree-files.ts'
import { acceptTestset } from './accept-testset.ts'
import { applyRowDelta } from './deltas/apply-row-delta.ts'
import { diffTestsets } from './diff-testsets.ts'
import { mergeTestsets } from './merge/merge-testsets.ts'
import { presentTestset, inBatches } from './present-testset.ts'
import { type TestsetLimits, RowCollector } from './import/row-collector.ts'
import { onlyAddsRows, parseRowDelta } from './deltas/row-delta.ts'
import {
  asStored,
  asTestset,
  type CollectedTestset,
  type ByIdTestset,
  type InputTestset,
  type LaidRows,
  type TestsetPayload,
  type CollectedRow,
  type StoredTestset,
} from './testset-payload.ts'
import { isTestsetFile, readTestset, ROWS_FOLDER, rowsIn, writeTestsetEntries } from './testset-tree.ts'
import { repeatedDedupIds } from './dedup/repeated-dedup-ids.ts'
import { type RowProblem, rowProblems } from './rows/row-problems.ts'
import { countRows, rowCounts, editRows } from './rows/row-tree.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { RowsById } from './deltas/named-rows.ts'
import type { RowEntry } from './rows/row-entry.ts'
import { type WrittenRows, countChanges, writeRowTree } from './import/lay-rows.ts'
import { areColumnsCached, cacheColumns } from './rows/listed-columns.ts'
import type { InputRow } from './import/input-row.ts'
import { rowKeys } from './dedup/row-index.ts'
import { ROW_KEYS_FILE } from './dedup/row-keys.ts'
import { allRows, rowBytes, withoutMeta } from './rows/stored-rows.ts'
import { invalid } from '../../errors.ts'
import { keysOf } from '../../base/json.ts'
import { contentOf, decodeRow, dedupIdOf, encodeContent } from './rows/stored-row.ts'

/** Testsets: immutable rows, each a separate blob (interface 8.1, 15.5). */
export function testsetFamily(limits: TestsetLimits): Family {
  return {
    name: 'testset',
    folder: 'testsets',
    roles: ['search'],
    flagNames: [],
    ownsFile: isTestsetFile,
    rowsFolder: ROWS_FOLDER,
    write: async (target, payload, before) => {
      const written = await writeTestset(target, asTestset(payload), before, limits)
      return { ...written, stored: await readStored(target, written.entries) }
    },
    read: readStored,
    check: (source, entries, before) => checkRows(source, entries, before, limits),
    assertWalkable: (source, entries, before) => assertCountable(source, entries, before, limits),
    accept: acceptTestset,
    applyDelta: async (base, delta, { loc, target, isExisting = false }) => {
      const stored = base ? asStored(base) : NO_ROWS
      const changes = await parseRowDelta(delta, loc, isExisting)
      return { payload: await applyRowDelta(target, stored, changes, limits, isExisting), warnings: [] }
    },
    mayRebase: onlyAddsRows,
    warnings: () => [],
    flags: () => ({}),
    present: (payload, context) => presentTestset(asStored(payload), context),
    diff: diffTestsets,
    merge: (sides, merging, context) => mergeTestsets(sides, merging, context, limits),
  }
}

async function readStored(
  source: ObjectReader,
  entries: readonly TreeEntry[],
): Promise<StoredPayload | undefined> {
  const payload = await readTestset(source, entries)
  return payload && { payload, size: 200 + 50 * payload.columns.length }
}

const NO_ROWS = { kind: 'stored', tree: undefined, columns: [] } as const

/**
 * Checks the rows of a push: throws an Error that names the file unless each row is canonical JSON and a newline with a unique dedup id,
 * and every file in the folder of rows belongs to a row. Files that are unchanged since the parent commit were checked before. Costs the
 * changed folders and blobs, and a comparison of 32 bits for each other row.
 */
async function checkRows(
  source: ObjectReader,
  entries: readonly TreeEntry[],
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<void> {
  const { maxRowBytes } = limits
  const other = entries.find(({ name, mode }) => name === ROWS_FOLDER && mode !== '40000')
  if (other) throw new Error(`${ROWS_FOLDER} is a file, and must be the folder of rows`)
  const tree = rowsIn(entries)
  if (tree === undefined || tree === rowsIn(before)) return
  // This comes first, because walking the tree might never end.
  await assertCountable(source, entries, before, limits)
  const dedupKeys = new Set<number>()
  const look = { source, seen: new Set<string>(), maxRowBytes, dedupKeys }
  await assertNone(rowProblems(look, tree, rowsIn(before)))
  await assertNone(repeatedDedupIds(source, tree, dedupKeys))
}

/** Refuses too many rows: a tree may repeat one folder again and again. */
async function assertCountable(
  source: ObjectReader,
  entries: readonly TreeEntry[],
  before: readonly TreeEntry[],
  { maxRows }: TestsetLimits,
): Promise<void> {
  const tree = rowsIn(entries)
  if (tree === undefined || tree === rowsIn(before)) return
  if ((await countRows(source, tree, rowCounts)) > maxRows)
    throw new Error(`${ROWS_FOLDER} holds more than ${maxRows} rows, which is the most a testset may have`)
}

async function assertNone(problems: AsyncIterable<RowProblem>): Promise<void> {
  for await (const { sentence, isLayout } of problems) {
    throw new Error(isLayout ? `${sentence}. ${REMEDY}` : sentence)
  }
}

const REMEDY = 'Write it so with branchpoint canonicalise DIR, where DIR is your clone, and amend the commit'

/** Writes a testset onto the one in the parent's root, so that git shows exactly the changed rows. */
async function writeTestset(
  target: PayloadTarget,
  payload: TestsetPayload,
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<Omit<WrittenPayload, 'stored'>> {
  if (payload.kind === 'stored')
    return { entries: writeTestsetEntries(target, payload.tree, payload.columns) }
  if (payload.kind === 'edited') {
    const { base, changes, columns, moved = 0, met } = payload
    const edited = await editRows(target, base.tree, changes)
    if (areColumnsCached(base)) cacheColumns({ kind: 'stored', tree: edited, columns })
    const countAll = async (): Promise<ChangedRows | undefined> => {
      if (base.tree !== rowsIn(before)) return undefined
      const [old, now] = [
        await countRows(target, base.tree, rowCounts),
        await countRows(target, edited, rowCounts),
      ]
      const { added, changed, removed } = countChanges(changes, now - old)
      return { added: added - moved, changed, removed: removed - moved, moved }
    }
    return { entries: writeTestsetEntries(target, edited, columns), changedRows: countAll, met }
  }
  const { tree, columns, changedRows, met } = await laid(target, payload, before, limits)
  if (tree !== undefined) rowKeys.keep(tree, target.derived?.(ROW_KEYS_FILE))
  if (payload.kind !== 'named') cacheColumns({ kind: 'stored', tree, columns })
  return {
    entries: writeTestsetEntries(target, tree, columns),
    changedRows: () => changedRows,
    met,
  }
}

/** The folder of the rows and their columns; reuses the laid-out folder if the parent is the one it was laid over. */
async function laid(
  target: PayloadTarget,
  payload: InputTestset | ByIdTestset | CollectedTestset,
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<Pick<CollectedTestset, 'columns' | 'met'> & LaidRows> {
  const onto = rowsIn(before)
  if (payload.kind === 'collected') {
    if (payload.pack) target.adopt(payload.pack)
    const { laid: done, columns, met } = payload
    if (done && done.onto === onto) return { ...done, columns, ...(met && { met }) }
  }
  const slice = new TimeSlice()
  const base = { tree: onto, rows: await allRows(target, onto, slice) }
  const { rows, columns, met } = await collected(target, payload, { before, base, limits, slice })
  return { ...(await writeRowTree(target, rows, base, slice)), columns, ...(met && { met }) }
}

async function collected(
  target: PayloadTarget,
  payload: InputTestset | ByIdTestset | CollectedTestset,
  onto: {
    readonly before: readonly TreeEntry[]
    readonly base: WrittenRows
    readonly limits: TestsetLimits
    readonly slice: TimeSlice
  },
): Promise<CollectedTestset> {
  const { base, before, limits, slice } = onto
  if (payload.kind === 'collected') return payload
  if (payload.kind === 'sent') return collectInput(target, payload.rows, base.rows, limits, slice)
  return findRowsById(target, payload, base.rows, await readTestset(target, before), slice)
}

/** Writes the rows of a request, which may name rows of the replaced revision by their ids (interface 8.9). */
async function collectInput(
  target: PayloadTarget,
  rows: readonly InputRow[],
  base: readonly RowEntry[],
  limits: TestsetLimits,
  slice: TimeSlice,
): Promise<CollectedTestset> {
  const collector = new RowCollector(
    { put: (bytes) => target.write('blob', bytes), get: (oid) => readBytes(target, oid, 'blob') },
    limits,
  )
  const named = new RowsById(target, base)
  for (const row of rows) {
    collector.add(await named.identify(row))
    if (slice.isOver) await slice.rest()
  }
  return { kind: 'collected', ...(await collector.finish(slice)) }
}

/**
 * The rows that a request named by testcase ids, in its order, each once (interface 8.12): rows of the previous revision with their flags,
 * tags and meta, or rows of any earlier one.
 */
async function findRowsById(
  target: PayloadTarget,
  { ids, loc }: ByIdTestset,
  base: readonly RowEntry[],
  stored: StoredTestset | undefined,
  slice: TimeSlice,
): Promise<CollectedTestset> {
  const found = await entriesOf(new RowsById(target, base), ids, loc, slice)
  const rows: CollectedRow[] = []
  const columns = new Set(stored?.columns)
  for await (const batch of rowBytes(target, inBatches(withoutMeta(found)), slice)) {
    for (const { row, data: bytes } of batch) {
      const { oid } = row
      const meta = found[rows.length]?.meta
      const data = decodeRow(bytes, () => `the row ${oid}`)
      const content = contentOf(data)
      for (const key of keysOf(content)) columns.add(key)
      rows.push({ oid, meta, key: dedupIdOf(data) ?? oid, contentHash: encodeContent(content).hash })
      if (slice.isOver) await slice.rest()
    }
  }
  const met = { collapsed: ids.length - rows.length, replaced: 0 }
  return { kind: 'collected', rows, columns: [...columns], met }
}

/** The rows of these testcases, each once; a row of an earlier revision has only its data. */
async function entriesOf(
  named: RowsById,
  ids: readonly string[],
  loc: ByIdTestset['loc'],
  slice: TimeSlice,
): Promise<readonly RowEntry[]> {
  const rows: RowEntry[] = []
  const seen = new Map<string, true>()
  for (const [index, id] of ids.entries()) {
    const entry = await named.find(id)
    const oid = entry?.oid ?? (await named.findEver(id))
    if (oid === undefined) {
      throw invalid(
        [...loc, index],
        `${id} is no testcase of this testset. Send its data in testcases instead.`,
        'unknown_testcase',
      )
    }
    if (!seen.has(oid)) rows.push({ position: '', oid, meta: entry?.meta })
    seen.set(oid, true)
    if (index % AT_ONCE === 0 && slice.isOver) await slice.rest()
  }
  return rows
}

const AT_ONCE = 16
