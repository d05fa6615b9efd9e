import type { ObjectKind, Oid } from '../../../git/objects/object.ts'
import { hashObject } from '../../../git/objects/object.ts'
import type { StreamingPackWriter } from '../../../git/packs/streaming-pack-writer.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { CacheFile } from '../../../storage/cache-file.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import type { RowSource } from '../deltas/named-rows.ts'
import { RowsById } from '../deltas/named-rows.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { MetRows } from '../../../versioning/family/family.ts'
import type { CollectedTestset } from '../testset-payload.ts'
import { invalidFile } from './files/file-refusal.ts'
import type { FileNotes, FileRow, RenamedColumn } from './files/file-row.ts'
import type { RowFile } from './files/read-file.ts'
import { readRowFile } from './files/read-file.ts'
import type { InputRow } from './input-row.ts'
import { inputRow } from './input-row.ts'
import { writeRowTree } from './lay-rows.ts'
import type { TestsetLimits } from './row-collector.ts'
import { RowCollector } from './row-collector.ts'
import type { TableRow } from './stored-cells.ts'
import { StoredCells } from './stored-cells.ts'

/** The revision whose rows the file replaces. */
export interface ReplacedRows {
  readonly source: RowSource
  /** The folder of the rows; undefined if there are none. */
  readonly tree: Oid | undefined
  readonly rows: readonly RowEntry[]
  /** What is kept of the rows for the next process, if anything is. */
  readonly derived?: CacheFile | undefined
}

/** What a file came to. */
export interface CollectedFile extends CollectedTestset {
  readonly met: MetRows
  readonly renamed: readonly RenamedColumn[]
}

/**
 * Reads a file of rows into a pack, never more than a little of it at a time, and lays them over the rows they replace: what stays
 * in memory is some 350 bytes a row. Rows that the repository has are not written again. A bad file is refused by line and column;
 * it leaves nothing, and neither does one whose time is up.
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
  /** Of a table whose rows may be there already. */
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
    return { kind: 'collected', rows, columns, met, renamed: notes.renamed, laid, pack }
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
