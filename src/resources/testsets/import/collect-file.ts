import type { ObjectKind, Oid } from '../../../git/objects/object.ts'
import { hashObject } from '../../../git/objects/object.ts'
import type { StreamingPackWriter } from '../../../git/packs/streaming-pack-writer.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import type { RowSource } from '../deltas/named-rows.ts'
import { RowsById } from '../deltas/named-rows.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { CollectedTestset } from '../testset-payload.ts'
import { csvRows } from './files/csv-rows.ts'
import { invalidFile } from './files/file-refusal.ts'
import type { FileRow } from './files/file-row.ts'
import { jsonLinesRows } from './files/json-lines-rows.ts'
import { jsonRows } from './files/json-rows.ts'
import { inputRow } from './input-row.ts'
import { writeRowTree } from './lay-rows.ts'
import type { TestsetLimits } from './row-collector.ts'
import { RowCollector } from './row-collector.ts'

/** The formats of imports and exports (ruling 5.5). */
export const FILE_TYPES = ['csv', 'json', 'jsonl'] as const

export type FileType = (typeof FILE_TYPES)[number]

/** A file of rows as it comes in. */
export interface RowFile {
  readonly type: FileType
  chunks(): AsyncIterable<Buffer>
  /** Whether CSV cells are read as the JSON values they look like; strings otherwise. */
  readonly infer: boolean
}

/** The revision whose rows the file replaces. */
export interface ReplacedRows {
  readonly source: RowSource
  /** The folder of the rows; undefined if there are none. */
  readonly tree: Oid | undefined
  readonly rows: readonly RowEntry[]
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
): Promise<CollectedTestset> {
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
  const add = (row: FileRow): Promise<void> | void => {
    const sent = sentFileRow(row)
    const identified = named ? named.identify(sent) : sent
    if (identified instanceof Promise) return identified.then((known) => collector.add(known))
    collector.add(identified)
  }
  try {
    await slice.each(base.rows, ({ oid }) => there.set(oid, true))
    for await (const batch of rowsOfFile(file, limits)) await slice.each(batch, add)
    const { rows, columns } = await collector.finish(slice)
    const laid = { onto: base.tree, ...(await writeRowTree(target, rows, base, slice)) }
    const pack = await builder.finish()
    await slice.rest()
    return { kind: 'collected', rows, columns, laid, pack }
  } catch (error) {
    builder.discard()
    throw error
  }
}

function rowsOfFile(
  { type, chunks, infer }: RowFile,
  limits: TestsetLimits,
): AsyncIterable<readonly FileRow[]> {
  if (type === 'csv') return csvRows(chunks(), { ...limits, infer })
  return type === 'json' ? jsonRows(chunks(), limits) : jsonLinesRows(chunks(), limits)
}

function sentFileRow({ data, line }: FileRow) {
  return inputRow(data, NOTHING_BESIDE, (key, problem) => {
    throw invalidFile({ line, column: 1 }, `In the row that begins here, ${key} ${problem}.`)
  })
}

const NOTHING_BESIDE = {}
