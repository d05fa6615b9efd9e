import type { PayloadTarget } from '../../versioning/family.ts'
import { objectUuid } from '../../versioning/ids.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import type { TestsetLimits } from './row-collector.ts'
import { RowCollector } from './row-collector.ts'
import type { RowEntry } from './row-tree.ts'
import type { SentRow } from './sent-row.ts'
import { decodeRow, dedupIdOf } from './stored-row.ts'
import type { CollectedTestset } from './testset-payload.ts'
import { rowPath } from './testset-tree.ts'

/** Writes rows of a request, which know the rows of the revision they replace by their ids (ruling 5.3). */
export async function collectSent(
  target: PayloadTarget,
  rows: readonly SentRow[],
  base: readonly RowEntry[],
  limits: TestsetLimits,
): Promise<CollectedTestset> {
  const collector = new RowCollector(
    { put: (bytes) => target.write('blob', bytes), get: (oid) => readBytes(target, oid, 'blob') },
    limits,
  )
  const named = new NamedRows(target, base)
  for (const row of rows) collector.add(await named.identify(row))
  return { kind: 'collected', ...(await collector.finish()) }
}

/** The rows of a revision by the ids of their testcases. */
export class NamedRows {
  readonly #source: ObjectSource
  readonly #base: readonly RowEntry[]
  #byPrefix: ReadonlyMap<string, RowEntry> | undefined

  constructor(source: ObjectSource, base: readonly RowEntry[]) {
    this.#source = source
    this.#base = base
  }

  /** The row, with the dedup id of the testcase it says it is, if it brings none of its own. */
  identify(row: SentRow): SentRow | Promise<SentRow> {
    if (row.dedupId !== undefined || row.isTestcase === undefined) return row
    const entry = this.find(row.isTestcase)
    if (!entry) return row
    return readBytes(this.#source, entry.oid, 'blob').then((bytes) => ({
      ...row,
      dedupId: dedupIdOf(decodeRow(bytes, rowPath(entry.position))),
    }))
  }

  /** The row that is the testcase of this id; undefined if none is. */
  find(id: string): RowEntry | undefined {
    this.#byPrefix ??= new Map(this.#base.map((row) => [row.oid.slice(0, 12), row]))
    const entry = this.#byPrefix.get(id.slice(0, 8) + id.slice(9, 13))
    return entry && objectUuid(entry.oid, id.slice(-12)) === id ? entry : undefined
  }
}
