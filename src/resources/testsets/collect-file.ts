import type { PackBuilder } from '../../git/pack-builder.ts'
import { hashObject } from '../../git/object.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import type { RowSource } from './named-rows.ts'
import { NamedRows } from './named-rows.ts'
import { csvRows } from './files/csv-rows.ts'
import { invalidFile } from './files/file-refusal.ts'
import type { FileRow } from './files/file-row.ts'
import { jsonLinesRows } from './files/json-lines-rows.ts'
import { jsonRows } from './files/json-rows.ts'
import type { TestsetLimits } from './row-collector.ts'
import { RowCollector } from './row-collector.ts'
import type { RowEntry } from './row-tree.ts'
import { sentRow } from './sent-row.ts'
import type { CollectedTestset } from './testset-payload.ts'

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
  readonly rows: readonly RowEntry[]
}

/**
 * Reads a file of rows into a pack, never more than a little of it at a time: what stays in memory is some 350 bytes a row.
 * Rows that the repository has are not written again. A bad file is refused by line and column, and leaves nothing.
 */
export async function collectFile(
  file: RowFile,
  builder: PackBuilder,
  replaced: ReplacedRows | undefined,
  limits: TestsetLimits,
): Promise<CollectedTestset> {
  const there = new Set(replaced?.rows.map(({ oid }) => oid))
  const collector = new RowCollector(
    {
      put: (bytes) => {
        const oid = there.size > 0 ? hashObject('blob', bytes) : undefined
        return oid !== undefined && there.has(oid) ? oid : builder.add('blob', bytes)
      },
      get: async (oid) => {
        const added = builder.read(oid)
        if (added || !replaced) return added?.bytes ?? Buffer.alloc(0)
        return readBytes(replaced.source, oid, 'blob')
      },
    },
    limits,
  )
  const named = replaced && new NamedRows(replaced.source, replaced.rows)
  try {
    for await (const batch of rowsOfFile(file, limits)) {
      for (const row of batch) {
        const sent = sentFileRow(row)
        const identified = named ? named.identify(sent) : sent
        collector.add(identified instanceof Promise ? await identified : identified)
      }
    }
    return { kind: 'collected', ...(await collector.finish()), pack: await builder.finish() }
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
  return sentRow(data, NOTHING_BESIDE, (key, problem) => {
    throw invalidFile({ line, column: 1 }, `In the row that begins here, ${key} ${problem}.`)
  })
}

const NOTHING_BESIDE = {}
