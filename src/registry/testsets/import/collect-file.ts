import { type ObjectKind, type Oid, hashObject } from '../../../git/objects.ts'
import { type StreamingPackWriter, SequentialPackReader } from '../../../git/packs.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { CacheFile } from '../../../storage/files.ts'
import { readBytes } from '../../payload/tree-files.ts'
import { type RowSource, RowsById } from '../deltas/named-rows.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { MetRows } from '../../payload/family.ts'
import type { CollectedTestset } from '../testset-payload.ts'
import { invalidFile } from '../files/file-refusal.ts'
import type { FileNotes, FileRow, RenamedColumn, RowCells } from '../files/file-row.ts'
import { type RowFile, readRowFile } from '../files/read-file.ts'
import { type InputRow, inputRow } from './input-row.ts'
import { writeRowTree } from './lay-rows.ts'
import { type TestsetLimits, RowCollector } from './row-collector.ts'
import { type Json, type JsonObject, entriesOf, fromEntries, getKey } from '../../../base/json.ts'
import { rowKeys } from '../dedup/row-index.ts'
import { keyOfDedupId } from '../dedup/row-keys.ts'
import { isWrittenAs } from '../csv-line.ts'
import { decodeRow, dedupIdOf } from '../rows/stored-row.ts'
import { readBlobs } from '../rows/stored-rows.ts'
import { rowPath } from '../testset-tree.ts'

/** The revision whose rows the file replaces. */
export interface ReplacedRows {
  readonly source: RowSource
  /** The folder of the rows; undefined if there are none. */
  readonly tree: Oid | undefined
  readonly rows: readonly RowEntry[]
  /** The stored row keys for the next process, if there are any. */
  readonly derived?: CacheFile | undefined
}

/** The result of reading a file. */
export interface CollectedFile extends CollectedTestset {
  readonly met: MetRows
  readonly renamed: readonly RenamedColumn[]
}

/**
 * Reads a file of rows into a pack, little at a time, and lays the rows over those they replace; takes about 350 bytes of memory per row.
 * Rows that the repository has are not written again. An invalid file is refused by line and column. It leaves nothing behind, and neither
 * does an aborted one.
 */
export async function collectFile(
  file: RowFile,
  builder: StreamingPackWriter,
  replaced: ReplacedRows | undefined,
  limits: TestsetLimits,
  slice: TimeSlice,
): Promise<CollectedFile> {
  const source = replaced?.source
  const base = { tree: replaced?.tree, rows: replaced?.rows ?? [] }
  const there = new Map<string, true>()
  const target = {
    read: async (oid: Oid) => builder.read(oid) ?? (await source?.read(oid)),
    readMany: (oids: readonly Oid[]) => source?.readMany(oids) ?? [],
    write: (kind: ObjectKind, bytes: Buffer) => builder.add(kind, bytes),
  }
  const collector = new RowCollector(
    {
      put: (bytes) => {
        const oid = there.size > 0 ? hashObject('blob', bytes) : undefined
        return oid !== undefined && there.has(oid) ? oid : builder.add('blob', bytes)
      },
      get: (oid) => readBytes(target, oid, 'blob'),
    },
    limits,
  )
  const named = source && new RowsById(source, base.rows)
  const cells = replaced && new StoredCells(replaced, slice)
  const known = (row: FileRow): Promise<InputRow> | InputRow => {
    const sent = sentFileRow(row)
    return named ? named.identify(sent) : sent
  }
  const add = (row: FileRow): Promise<void> | void => {
    const identified = known(row)
    if (identified instanceof Promise) return identified.then((it) => collector.add(it))
    collector.add(identified)
  }
  /** For a table whose rows may already be stored. */
  const addKept = async (batch: readonly FileRow[], stored: StoredCells): Promise<void> => {
    const rows: TableRow[] = []
    await slice.each(batch, async (row) => rows.push({ row: await known(row), cells: row.cells }))
    await slice.each(await stored.keep(rows), (row) => collector.add(row))
  }
  const notes: FileNotes = { columns: [], renamed: [] }
  try {
    await slice.each(base.rows, ({ oid }) => there.set(oid, true))
    for await (const batch of readRowFile(file, limits, notes, slice)) {
      if (cells && batch[0]?.cells) await addKept(batch, cells)
      else await slice.each(batch, add)
    }
    collector.addColumns(notes.columns)
    const { rows, columns, met } = await collector.finish(slice)
    const laid = { onto: base.tree, ...(await writeRowTree(target, rows, base, slice)) }
    const pack = await builder.finish()
    await slice.rest()
    return { kind: 'collected', rows, columns, met, renamed: notes.renamed, laid, ...(pack ? { pack } : {}) }
  } catch (error) {
    builder.discard()
    throw error
  }
}

function sentFileRow({ data, line }: FileRow) {
  return inputRow(data, NOTHING_BESIDE, (key, problem) => {
    throw invalidFile({ line, column: 1 }, `In the row that begins here, ${key} ${problem}.`)
  })
}

const NOTHING_BESIDE = {}

/** A row of a table, and its raw cells. */
interface TableRow {
  readonly row: InputRow
  readonly cells: RowCells | undefined
}

/**
 * Restores the stored values of unedited cells. A table writes every value as text; so a cell that equals what a download writes for the
 * stored value means that value, of any type, and only a different cell was edited. Rows are joined by their dedup ids. Nothing is read
 * before a row has one.
 */
class StoredCells {
  readonly #source: RowSource
  readonly #tree: Oid | undefined
  readonly #base: readonly RowEntry[]
  readonly #slice: TimeSlice
  readonly #file: CacheFile | undefined
  /** The last row of the base for each key of a dedup id. */
  #places: Map<number, number> | undefined
  /** For each row the previous one with the same key. */
  readonly #others = new Map<number, number>()
  readonly #run = new SequentialPackReader()

  constructor({ source, tree, rows, derived }: StoredTable, slice: TimeSlice) {
    this.#source = source
    this.#tree = tree
    this.#base = rows
    this.#file = derived
    this.#slice = slice
  }

  /** The rows, with the stored values of unedited cells. */
  async keep(rows: readonly TableRow[]): Promise<readonly InputRow[]> {
    const kept = rows.map(({ row }) => row)
    const byDedupId = new Map<string, number[]>()
    for (const [index, { row, cells }] of rows.entries()) {
      if (!cells || row.dedupId === undefined) continue
      const same = byDedupId.get(row.dedupId)
      if (same) same.push(index)
      else byDedupId.set(row.dedupId, [index])
    }
    let left = await this.#candidates(byDedupId.keys())
    while (left.length > 0) {
      const oids = left.map(({ oid }) => oid)
      const blobs = await readBlobs(this.#source, oids, this.#run, LONG)
      await this.#slice.each(blobs, (bytes, at) => {
        const stored = decodeRow(bytes, () => rowPath(left[at]?.position ?? ''))
        for (const index of byDedupId.get(dedupIdOf(stored) ?? '') ?? []) {
          const { row, cells } = rows[index] ?? {}
          if (row && cells) kept[index] = { ...row, content: keepStoredValues(row.content, cells, stored) }
        }
      })
      left = left.slice(blobs.length)
    }
    return kept
  }

  /** The rows of the base that may have these dedup ids, in order. */
  async #candidates(dedupIds: Iterable<string>): Promise<readonly RowEntry[]> {
    const places = new Set<number>()
    for (const dedupId of dedupIds) {
      if (this.#tree === undefined) break
      this.#places ??= await this.#learn(this.#tree)
      let place = this.#places.get(keyOfDedupId(dedupId))
      for (; place !== undefined; place = this.#others.get(place)) places.add(place)
    }
    return [...places].sort((a, b) => a - b).flatMap((place) => this.#base[place] ?? [])
  }

  async #learn(tree: Oid): Promise<Map<number, number>> {
    const places = new Map<number, number>()
    let place = 0
    for await (const keys of rowKeys.dedupKeys(this.#source, tree, this.#slice, this.#file)) {
      for (const key of keys) {
        const before = places.get(key)
        if (before !== undefined) this.#others.set(place, before)
        places.set(key, place++)
      }
      if (this.#slice.isOver) await this.#slice.rest()
    }
    return places
  }
}

/** The stored table that an upload replaces. */
interface StoredTable {
  readonly source: RowSource
  readonly tree: Oid | undefined
  readonly rows: readonly RowEntry[]
  readonly derived?: CacheFile | undefined
}

/** Maximum bytes of rows that are held together. */
const LONG = 1024 ** 2

/** A row's content, with the stored value in each cell that equals what a download writes for it; a missing member stays missing. */
function keepStoredValues(content: JsonObject, { columns, texts }: RowCells, stored: JsonObject): JsonObject {
  const kept = new Map<string, Json | undefined>()
  for (const [index, column] of columns.entries()) {
    const sent = getKey(content, column)
    const value = getKey(stored, column)
    if (sent !== undefined && sent !== value && isWrittenAs(value, texts[index] ?? ''))
      kept.set(column, value)
  }
  if (kept.size === 0) return content
  return fromEntries(
    entriesOf(content).flatMap(([key, value]): [string, Json][] => {
      if (!kept.has(key)) return [[key, value]]
      const before = kept.get(key)
      return before === undefined ? [] : [[key, before]]
    }),
  )
}
