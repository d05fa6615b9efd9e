import { invalid } from '../../errors.ts'
import { keysOf } from '../../json/json.ts'
import type { PayloadTarget } from '../../versioning/family.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import { changeColumnNames, changeRowColumns } from './change-columns.ts'
import { NamedRows } from './named-rows.ts'
import { limitExceeded, type TestsetLimits } from './row-collector.ts'
import { rowCounts } from './row-counts.ts'
import type { NamedRow, RowDelta } from './row-delta.ts'
import { RowIndex, rowKeys } from './row-index.ts'
import { positionsAfter, type RowPosition } from './row-position.ts'
import type { RowBlobs, RowEntry } from './row-tree.ts'
import { countRows, rowsOf } from './row-tree.ts'
import type { SentRow } from './sent-row.ts'
import { DEDUP_COLUMN } from './sent-row.ts'
import {
  encodeContent,
  type EncodedContent,
  contentOf,
  decodeRow,
  dedupIdOf,
  encodeRow,
  encodeRowMeta,
  generatedDedupId,
  inColumnOrder,
} from './stored-row.ts'
import { allRows, rowBytesOf } from './stored-rows.ts'
import { rowPath } from './testset-tree.ts'
import type { StoredTestset } from './testset-payload.ts'

type Loc = readonly (string | number)[]

/** The changes of one delta as they add up. */
export class RowEdit {
  readonly changes = new Map<RowPosition, RowBlobs | undefined>()
  columns: readonly string[]
  readonly #target: PayloadTarget
  readonly #base: StoredTestset
  readonly #limits: TestsetLimits
  readonly #index: RowIndex
  #named: NamedRows | undefined

  constructor(target: PayloadTarget, base: StoredTestset, limits: TestsetLimits) {
    this.#target = target
    this.#base = base
    this.#limits = limits
    this.#index = new RowIndex(target, base.tree)
    this.columns = base.columns
  }

  /** Removes, renames and adds columns of every row of the base. */
  async changeColumns(change: RowDelta['columns']): Promise<void> {
    if (change.add.length + change.remove.length + change.rename.size === 0) return
    this.columns = changeColumnNames(this.columns, change)
    this.#checkColumns()
    for await (const batch of rowBytesOf(this.#target, this.#base.tree)) {
      for (const { row, data: bytes } of batch) {
        const data = decodeRow(bytes, () => rowPath(row.position))
        const content = encodeContent(
          changeRowColumns(inColumnOrder(contentOf(data), this.#base.columns), change),
        )
        const dedupId = dedupIdOf(data) ?? generatedDedupId(content.hash)
        this.#index.put(row.position, { dedupId, contentHash: content.hash })
        const changed = encodeRow(content, dedupId)
        if (!changed.equals(bytes))
          this.changes.set(row.position, { oid: this.#blob(changed), meta: row.meta })
      }
    }
  }

  /** Gives the row that is this testcase a new content; it keeps its place, and its dedup id unless it brings one. */
  async replace({ id, row, loc }: NamedRow): Promise<void> {
    const entry = await this.#find(id, loc)
    const content = encodeContent(row.content)
    const before = dedupIdOf(
      decodeRow(await readBytes(this.#target, entry.oid, 'blob'), () => rowPath(entry.position)),
    )
    const dedupId = row.dedupId ?? before ?? generatedDedupId(content.hash)
    await this.#index.learn([], [dedupId])
    const holder = this.#index.holderOf(dedupId)
    if (holder !== undefined && holder !== entry.position) throw held(dedupId, loc)
    this.#put(entry.position, row, content, dedupId, entry.meta)
  }

  /** Takes out the row that is this testcase. */
  async remove(id: string, loc: Loc): Promise<void> {
    const { position } = await this.#find(id, loc)
    this.changes.set(position, undefined)
    this.#index.remove(position)
  }

  /** Adds rows behind the last, save those whose content another row has and that bring no dedup id (ruling 5.1). */
  async add(rows: RowDelta['add']): Promise<void> {
    if (rows.length === 0) return
    const encoded = collapsed(rows.map(({ row, loc }) => ({ row, loc, content: encodeContent(row.content) })))
    await this.#index.learn(
      encoded.map(({ content }) => content.hash),
      encoded.map(({ row, content }) => row.dedupId ?? generatedDedupId(content.hash)),
    )
    const positions = positionsAfter(await this.#lastPosition(), encoded.length)
    let added = 0
    for (const { row, loc, content } of encoded) {
      if (row.dedupId === undefined && this.#index.hasContent(content.hash)) continue
      if (row.dedupId !== undefined && this.#index.holderOf(row.dedupId) !== undefined)
        throw held(row.dedupId, loc)
      const dedupId = row.dedupId ?? (await this.#freeDedupId(generatedDedupId(content.hash)))
      this.#put(positions[added++] ?? '', row, content, dedupId, undefined)
    }
    await this.#checkCount(added)
  }

  #put(
    position: RowPosition,
    row: SentRow,
    content: EncodedContent,
    dedupId: string,
    meta: RowBlobs['meta'],
  ): void {
    const oid = this.#blob(encodeRow(content, dedupId))
    this.changes.set(position, { oid, meta: row.meta ? this.#blob(encodeRowMeta(row.meta)) : meta })
    this.#index.put(position, { dedupId, contentHash: content.hash })
    rowKeys.note(oid, content.hash, dedupId)
    const known = new Set(this.columns)
    const fresh = keysOf(row.content).filter((column) => !known.has(column))
    if (row.hasDedupColumn && !known.has(DEDUP_COLUMN)) fresh.push(DEDUP_COLUMN)
    if (fresh.length > 0) this.columns = [...this.columns, ...fresh]
    this.#checkColumns()
  }

  #checkColumns(): void {
    if (this.columns.length > this.#limits.maxColumns) throw limitExceeded('columns', this.#limits.maxColumns)
  }

  #blob(bytes: Buffer): string {
    if (bytes.length > this.#limits.maxRowBytes) throw limitExceeded('bytes a row', this.#limits.maxRowBytes)
    return this.#target.write('blob', bytes)
  }

  async #find(id: string, loc: Loc): Promise<RowEntry> {
    this.#named ??= new NamedRows(this.#target, await allRows(this.#target, this.#base.tree))
    const entry = this.#named.find(id)
    if (entry) return entry
    throw invalid(
      loc,
      `${id} is no row of the revision that the delta changes. Retrieve it to see its rows.`,
      'unknown_testcase',
    )
  }

  async #lastPosition(): Promise<RowPosition | undefined> {
    for await (const batch of rowsOf(this.#target, this.#base.tree, { descending: true }))
      return batch[0]?.position
    return undefined
  }

  async #freeDedupId(wanted: string): Promise<string> {
    let dedupId = wanted
    for (let number = 2; this.#index.holderOf(dedupId) !== undefined; number++) {
      dedupId = `${wanted}-${number}`
      await this.#index.learn([], [dedupId])
    }
    return dedupId
  }

  async #checkCount(added: number): Promise<void> {
    const removed = [...this.changes.values()].filter((change) => change === undefined).length
    const count = (await countRows(this.#target, this.#base.tree, rowCounts)) + added - removed
    if (count > this.#limits.maxRows) throw limitExceeded('rows', this.#limits.maxRows)
  }
}

interface EncodedRow {
  readonly row: SentRow
  readonly loc: Loc
  readonly content: EncodedContent
}

/** Without rows that bring no dedup id and equal another one of the list that does, which takes the earlier place (ruling 5.1). */
function collapsed(rows: readonly EncodedRow[]): readonly EncodedRow[] {
  const given = new Map<string, EncodedRow>()
  for (const one of rows.toReversed()) if (one.row.dedupId !== undefined) given.set(one.content.hash, one)
  if (given.size === 0) return rows
  const kept = new Set(
    rows.map((one) => (one.row.dedupId === undefined ? (given.get(one.content.hash) ?? one) : one)),
  )
  return [...kept]
}

function held(dedupId: string, loc: Loc) {
  return invalid(
    [...loc, 'data', DEDUP_COLUMN],
    `another row has the dedup id "${dedupId}". Replace that row, or choose another dedup id.`,
    'dedup_id_taken',
  )
}
