import type { FieldProblem } from '../../../errors.ts'
import { invalid } from '../../../errors.ts'
import { keysOf } from '../../../base/json.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { MetRows, PayloadTarget } from '../../payload/family.ts'
import { type AbsentName, noSuchKey } from '../../documents/deltas.ts'
import { problemsRefusal } from '../../documents/problems.ts'
import { RowIndex, rowKeys } from '../dedup/row-index.ts'
import type { InputRow } from '../import/input-row.ts'
import { DEDUP_COLUMN } from '../import/input-row.ts'
import type { TestsetLimits } from '../import/row-collector.ts'
import { limitExceeded } from '../import/row-collector.ts'
import { inBatches } from '../present-testset.ts'
import type { RowBlobs, RowEntry } from '../rows/row-entry.ts'
import type { RowPosition } from '../rows/row-position.ts'
import { isTooDeep, positionsAfter, positionsBetween } from '../rows/row-position.ts'
import { countRows, rowCounts, rowsOfTree } from '../rows/row-tree.ts'
import type { EncodedContent } from '../rows/stored-row.ts'
import {
  contentOf,
  decodeRow,
  dedupIdOf,
  encodeContent,
  encodeRow,
  encodeRowMeta,
  generatedDedupId,
  inColumnOrder,
} from '../rows/stored-row.ts'
import { allRows, rowBytes, rowBytesOf, withoutMeta } from '../rows/stored-rows.ts'
import type { EditedTestset, StoredTestset } from '../testset-payload.ts'
import { rowPath } from '../testset-tree.ts'
import { changeColumnNames, ColumnCheck, rowChange } from './change-columns.ts'
import { RowsById } from './named-rows.ts'
import type { RowById, RowDelta } from './row-delta.ts'

/**
 * Applies a delta to `base`: first columns, on the rows of the base only, then replaced, removed and added
 * rows (interface 8.12), and at last moves rows and orders columns (interface 8.30). Adding rows costs only the rows added. Refuses unknown rows and columns unless
 * `isExisting`, and dedup ids that another row holds.
 */
export async function applyRowDelta(
  target: PayloadTarget,
  base: StoredTestset,
  { columns, replace, remove, add, addLoc, move }: RowDelta,
  limits: TestsetLimits,
  isExisting: boolean,
): Promise<EditedTestset> {
  const edit = new RowEdit(target, base, limits, isExisting)
  await edit.changeColumns(columns, replace.length + add.length > 0)
  await edit.replace(replace)
  await edit.remove(remove)
  await edit.add(add, addLoc)
  await edit.move(move)
  edit.orderColumns(columns)
  const { changes, columns: names, moved, met } = edit
  return { kind: 'edited', base, changes, columns: names, moved, met }
}

type Loc = readonly (string | number)[]

/** Accumulates the changes of one delta. */
class RowEdit {
  readonly changes = new Map<RowPosition, RowBlobs | undefined>()
  /** How many rows of the base stand elsewhere. */
  moved = 0
  readonly #slice = new TimeSlice()
  readonly #target: PayloadTarget
  readonly #base: StoredTestset
  readonly #limits: TestsetLimits
  readonly #isExisting: boolean
  readonly #index: RowIndex
  #columns: Set<string>
  #named: RowsById | undefined
  /** The replaced rows, with the hashes of their new contents. */
  readonly #replacedAt = new Map<RowPosition, string>()
  #collapsed = 0
  #replaced = 0

  constructor(target: PayloadTarget, base: StoredTestset, limits: TestsetLimits, isExisting: boolean) {
    this.#target = target
    this.#base = base
    this.#limits = limits
    this.#isExisting = isExisting
    this.#index = new RowIndex(target, base.tree)
    this.#columns = new Set(base.columns)
  }

  /** The columns after the changes so far. */
  get columns(): readonly string[] {
    return [...this.#columns]
  }

  /** How many sent rows were collapsed or replaced. */
  get met(): MetRows {
    return { collapsed: this.#collapsed, replaced: this.#replaced }
  }

  /**
   * Removes, renames and adds columns in every row of the base. Indexes the changed rows only if
   * `areCompared`.
   */
  async changeColumns(change: RowDelta['columns'], areCompared: boolean): Promise<void> {
    if (change.add.length + change.remove.length + change.rename.size === 0) return
    const check = new ColumnCheck(change, this.#base.columns)
    this.#setColumns(changeColumnNames(this.#base.columns, change))
    const slice = this.#slice
    const changed = rowChange(change, (name) => check.fill(name))
    for await (const batch of rowBytesOf(this.#target, this.#base.tree, {}, slice)) {
      for (const { row, data: bytes } of batch) {
        const data = decodeRow(bytes, () => rowPath(row.position))
        const before = contentOf(data)
        for (const name of keysOf(before)) check.see(name)
        const content = encodeContent(changed(inColumnOrder(before, this.#base.columns)))
        const dedupId = dedupIdOf(data) ?? generatedDedupId(content.hash)
        if (areCompared) this.#index.put(row.position, { dedupId, contentHash: content.hash })
        const encoded = encodeRow(content, dedupId)
        if (!encoded.equals(bytes))
          this.changes.set(row.position, { oid: this.#blob(encoded), meta: row.meta })
        if (slice.isOver) await slice.rest()
      }
    }
    if (!this.#isExisting) check.assertAllMatter()
  }

  /**
   * Replaces the contents of rows. Each keeps its position, and keeps its dedup id unless the new content has
   * one.
   */
  async replace(named: readonly RowById[]): Promise<void> {
    if (named.length === 0) return
    const slice = this.#slice
    const entries = await this.#findAll(named)
    const replacements: Replacement[] = []
    for await (const batch of rowBytes(this.#target, inBatches(withoutMeta(entries)), slice)) {
      for (const { row: entry, data: bytes } of batch) {
        const index = replacements.length
        const one = named[index]
        if (!one) throw new Error('a row was read that was not asked for')
        const content = encodeContent(one.row.content)
        const before = dedupIdOf(decodeRow(bytes, () => rowPath(entry.position)))
        const dedupId = one.row.dedupId ?? before ?? generatedDedupId(content.hash)
        const { position } = entries[index] ?? entry
        const earlier = this.#replacedAt.get(position)
        if (earlier === content.hash) this.#collapsed++
        else if (earlier !== undefined) this.#replaced++
        this.#replacedAt.set(position, content.hash)
        replacements.push({ one, entry: entries[index] ?? entry, content, dedupId })
        if (slice.isOver) await slice.rest()
      }
    }
    // One call for all: each call scans all rows of the base.
    await this.#index.learn(
      [],
      replacements.map(({ dedupId }) => dedupId),
    )
    await slice.each(replacements, ({ entry, one: { row, loc }, content, dedupId }) => {
      const holder = this.#index.holderOf(dedupId)
      if (holder !== undefined && holder !== entry.position) throw held(dedupId, loc)
      this.#put(entry.position, row, content, dedupId, entry.meta)
      const now = this.changes.get(entry.position)
      if (now?.oid === entry.oid && now.meta === entry.meta) this.changes.delete(entry.position)
    })
  }

  /** Removes rows. Refuses a row that the same delta replaced, since its new content would be lost. */
  async remove(named: RowDelta['remove']): Promise<void> {
    const there = new Set<RowPosition>()
    const absent: AbsentName[] = []
    const problems: FieldProblem[] = []
    for (const { id, loc } of named) {
      const entry = await this.#find(id)
      if (!entry) absent.push({ name: id, loc, known: this.#named?.someIds() ?? [] })
      else if (there.has(entry.position)) problems.push({ loc, msg: TWICE, type: 'value_error' })
      else if (this.#replacedAt.has(entry.position)) problems.push({ loc, msg: LOST, type: 'value_error' })
      if (entry) there.add(entry.position)
      if (this.#slice.isOver) await this.#slice.rest()
    }
    if (!this.#isExisting) {
      if (absent.length > 0) throw noSuchKey('row of the revision that the delta changes', absent)
      if (problems.length > 0) throw problemsRefusal('invalid_request', problems)
    }
    await this.#slice.each(there, (position) => {
      this.changes.set(position, undefined)
      this.#index.remove(position)
    })
  }

  /** Appends rows, except those without a dedup id whose content another row has (interface 8.3). */
  async add(rows: RowDelta['add'], loc: Loc): Promise<void> {
    if (rows.length === 0) return
    const slice = this.#slice
    const all: EncodedRow[] = []
    await slice.each(rows, (row, index) => all.push({ row, index, content: encodeContent(row.content) }))
    const encoded = collapsed(all)
    const [hashes, dedupIds]: [string[], string[]] = [[], []]
    await slice.each(encoded, ({ row, content }) => {
      hashes.push(content.hash)
      dedupIds.push(row.dedupId ?? generatedDedupId(content.hash))
    })
    this.#collapsed += rows.length - encoded.length
    await this.#index.learn(hashes, dedupIds)
    const positions = positionsAfter(await this.#lastPosition(), encoded.length)
    let added = 0
    await slice.each(encoded, ({ row, index, content }) => {
      if (row.dedupId === undefined && this.#index.hasContent(content.hash)) {
        this.#collapsed++
        return undefined
      }
      if (row.dedupId !== undefined && this.#index.holderOf(row.dedupId) !== undefined)
        throw held(row.dedupId, [...loc, index])
      const position = positions[added++] ?? ''
      const wanted = row.dedupId ?? generatedDedupId(content.hash)
      if (row.dedupId !== undefined || this.#index.holderOf(wanted) === undefined)
        return this.#put(position, row, content, wanted, undefined)
      return this.#freeDedupId(wanted).then((dedupId) =>
        this.#put(position, row, content, dedupId, undefined),
      )
    })
    await this.#checkCount(added)
  }

  /** Places rows right after others, in the order of the list (interface 8.30). */
  async move(moves: RowDelta['move']): Promise<void> {
    if (moves.length === 0) return
    await this.#index.learn(
      [],
      moves.flatMap(({ dedupId, after }) => (after === null ? dedupId : [dedupId, after])),
    )
    const rows = new Map<RowPosition, RowBlobs>()
    const base = await allRows(this.#target, this.#base.tree, this.#slice)
    await this.#slice.each(base, (row) => rows.set(row.position, row))
    for (const [position, row] of this.changes) {
      if (row) rows.set(position, row)
      else rows.delete(position)
    }
    const moved = new Map(moves.map((it) => [this.#holderOf(it.dedupId, it.loc), it] as const))
    const stays = [...rows.keys()].filter((position) => !moved.has(position)).sort()
    const following = new Map<RowPosition | undefined, RowPosition[]>()
    const placed = new Map<RowPosition, RowPosition[]>()
    for (const [position, { after, loc }] of moved) {
      const anchor = after === null ? undefined : this.#holderOf(after, [...loc, 'after'])
      const beside = anchor === undefined ? undefined : placed.get(anchor)
      if (anchor !== undefined && !beside && moved.has(anchor)) throw notPlaced([...loc, 'after'])
      const list = beside ?? following.get(anchor) ?? []
      list.splice(beside && anchor !== undefined ? list.indexOf(anchor) + 1 : 0, 0, position)
      if (!beside) following.set(anchor, list)
      placed.set(position, list)
    }
    this.#place(rows, stays, following, base.at(-1)?.position ?? '')
  }

  /** Sets the changes that put rows after those that stay; `following` has the rows to put after each, or after the beginning. */
  #place(
    rows: ReadonlyMap<RowPosition, RowBlobs>,
    stays: readonly RowPosition[],
    following: ReadonlyMap<RowPosition | undefined, readonly RowPosition[]>,
    lastOfBase: RowPosition,
  ): void {
    const next = new Map<RowPosition, RowPosition>()
    const order: RowPosition[] = []
    for (const [at, position] of [undefined, ...stays].entries()) {
      if (position !== undefined) order.push(position)
      const group = following.get(position) ?? []
      for (const [step, free] of positionsBetween(position, stays[at], group.length).entries())
        next.set(group[step] ?? '', free)
      for (const one of group) order.push(one)
    }
    // After very many moves to one place, all rows get new positions.
    if ([...next.values()].some(isTooDeep))
      for (const [at, position] of positionsAfter(undefined, order.length).entries())
        next.set(order[at] ?? '', position)
    for (const position of next.keys()) {
      if (position > lastOfBase) this.changes.delete(position)
      else this.changes.set(position, undefined)
    }
    this.moved = [...following.values()].flat().filter((position) => position <= lastOfBase).length
    for (const [position, to] of next) {
      const row = rows.get(position)
      if (row) this.changes.set(to, { oid: row.oid, meta: row.meta })
    }
  }

  #holderOf(dedupId: string, loc: Loc): RowPosition {
    const position = this.#index.holderOf(dedupId)
    if (position !== undefined) return position
    throw invalid(loc, `no row has the dedup id "${dedupId}" after this delta.`, 'unknown_testcase')
  }

  /** Puts the columns of `order` first. */
  orderColumns({ order, loc }: RowDelta['columns']): void {
    const absent = order.flatMap((name, index) =>
      this.#columns.has(name) ? [] : { name, loc: [...loc, 'order', index], known: this.columns },
    )
    if (absent.length > 0) throw noSuchKey('column of the testset', absent)
    this.#columns = new Set([...order, ...this.#columns])
  }

  #put(
    position: RowPosition,
    row: InputRow,
    content: EncodedContent,
    dedupId: string,
    meta: RowBlobs['meta'],
  ): void {
    const oid = this.#blob(encodeRow(content, dedupId))
    this.changes.set(position, { oid, meta: row.meta ? this.#blob(encodeRowMeta(row.meta)) : meta })
    this.#index.put(position, { dedupId, contentHash: content.hash })
    rowKeys.note(oid, content.hash, dedupId)
    for (const column of keysOf(row.content)) this.#columns.add(column)
    if (row.hasDedupColumn) this.#columns.add(DEDUP_COLUMN)
    this.#checkColumns()
  }

  #setColumns(columns: readonly string[]): void {
    this.#columns = new Set(columns)
    this.#checkColumns()
  }

  #checkColumns(): void {
    if (this.#columns.size > this.#limits.maxColumns) throw limitExceeded('columns', this.#limits.maxColumns)
  }

  #blob(bytes: Buffer): string {
    if (bytes.length > this.#limits.maxRowBytes) throw limitExceeded('bytes a row', this.#limits.maxRowBytes)
    return this.#target.write('blob', bytes)
  }

  /** Finds the rows of the base with these ids; refuses an unknown id. */
  async #findAll(wanted: readonly { readonly id: string; readonly loc: Loc }[]): Promise<RowEntry[]> {
    const found: RowEntry[] = []
    if (wanted.length === 0) return found
    for (const { id, loc } of wanted) {
      const entry = await this.#find(id)
      if (!entry) {
        throw invalid(
          loc,
          `${id} is no row of the revision that the delta changes. Retrieve it to see its rows.`,
          'unknown_testcase',
        )
      }
      found.push(entry)
      if (this.#slice.isOver) await this.#slice.rest()
    }
    return found
  }

  /** Finds the row of the base with this testcase id. */
  async #find(id: string): Promise<RowEntry | undefined> {
    this.#named ??= new RowsById(this.#target, await allRows(this.#target, this.#base.tree, this.#slice))
    return this.#named.find(id)
  }

  async #lastPosition(): Promise<RowPosition | undefined> {
    for await (const batch of rowsOfTree(this.#target, this.#base.tree, { descending: true }))
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
    let count = (await countRows(this.#target, this.#base.tree, rowCounts, this.#slice)) + added
    await this.#slice.each(this.changes.values(), (change) => {
      if (change === undefined) count--
    })
    if (count > this.#limits.maxRows) throw limitExceeded('rows', this.#limits.maxRows)
  }
}

const TWICE = 'names a row that stands in remove before; name it once'
const LOST =
  'names a row that rows.replace gives new data, which would be lost; send the row in rows.remove or in rows.replace'

function notPlaced(loc: Loc) {
  const msg = 'names a row that the same list moves later: move that row first'
  return invalid(loc, msg, 'invalid_request')
}

interface Replacement {
  readonly one: RowById
  readonly entry: RowEntry
  readonly content: EncodedContent
  readonly dedupId: string
}

interface EncodedRow {
  readonly row: InputRow
  /** Its index in the list that was sent. */
  readonly index: number
  readonly content: EncodedContent
}

/**
 * Drops rows without a dedup id that equal a row of the list with one; the latter takes the earlier place
 * (interface 8.3).
 */
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
