import type { Oid } from '../../../git/objects.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { PayloadTarget } from '../../payload/family.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { readBytes } from '../../payload/tree-files.ts'
import { oidPrefix } from '../../store/ids.ts'
import type { InputRow } from '../import/input-row.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import { RowHistory } from '../rows/row-history.ts'
import { decodeRow, dedupIdOf } from '../rows/stored-row.ts'
import { testcaseId } from '../testcase.ts'

/** Where the rows of a testset are read from. */
export type RowSource = ObjectReader &
  Pick<PayloadTarget, 'artifactId' | 'readMany' | 'startingWith' | 'tips'>

/** Finds the rows of a testset by testcase id, in one revision or in all of them (interface 8.9). */
export class RowsById {
  readonly #source: RowSource
  readonly #base: readonly RowEntry[]
  #byPrefix: Promise<Map<string, readonly RowEntry[]>> | undefined
  #history: RowHistory | undefined
  #someIds: readonly string[] | undefined

  constructor(source: RowSource, base: readonly RowEntry[]) {
    this.#source = source
    this.#base = base
  }

  /** The row with the dedup id of the testcase it names, unless it has its own. */
  identify(row: InputRow): InputRow | Promise<InputRow> {
    const { dedupId, isTestcase } = row
    return dedupId !== undefined || isTestcase === undefined ? row : this.#withDedupId(row, isTestcase)
  }

  /** The row of the revision with this testcase id, if any. */
  async find(id: string): Promise<RowEntry | undefined> {
    const entries = (await (this.#byPrefix ??= byPrefix(this.#base))).get(
      oidPrefix(id).slice(0, PREFIX_DIGITS),
    )
    return entries?.find(({ oid }) => testcaseId(oid, this.#source.artifactId) === id)
  }

  /** Ids of the first rows, to compare an unknown one with; the same list for each, since a delta may name very many. */
  someIds(): readonly string[] {
    this.#someIds ??= this.#base
      .slice(0, MAX_IDS_COMPARED)
      .map(({ oid }) => testcaseId(oid, this.#source.artifactId))
    return this.#someIds
  }

  /** The blob of the testcase with this id, from any revision; undefined if there is none. */
  async findEver(id: string): Promise<Oid | undefined> {
    const entry = await this.find(id)
    if (entry) return entry.oid
    this.#history ??= new RowHistory(this.#source)
    for (const oid of await this.#source.startingWith(oidPrefix(id))) {
      if (testcaseId(oid, this.#source.artifactId) !== id) continue
      if (await this.#history.holds(oid, this.#source.tips())) return oid
    }
    return undefined
  }

  async #withDedupId(row: InputRow, id: string): Promise<InputRow> {
    const oid = await this.findEver(id)
    if (oid === undefined) return row
    const data = decodeRow(await readBytes(this.#source, oid, 'blob'), () => `the row ${oid}`)
    return { ...row, dedupId: dedupIdOf(data) }
  }
}

const MAX_IDS_COMPARED = 1000

/** Enough hex digits to distinguish nearly all rows of a revision. */
const PREFIX_DIGITS = 12

async function byPrefix(rows: readonly RowEntry[]): Promise<Map<string, readonly RowEntry[]>> {
  const found = new Map<string, RowEntry[]>()
  await new TimeSlice().each(rows, (row) => {
    const prefix = row.oid.slice(0, PREFIX_DIGITS)
    const before = found.get(prefix)
    if (before) before.push(row)
    else found.set(prefix, [row])
  })
  return found
}
