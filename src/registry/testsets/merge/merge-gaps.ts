import type { TimeSlice } from '../../../base/scheduling.ts'
import type { PayloadTarget } from '../../payload/family.ts'
import { pushTo } from '../../merge/merge-order.ts'
import type { Sides } from '../../merge/merging.ts'
import type { RowBlobs, RowEntry } from '../rows/row-entry.ts'
import type { RowPosition } from '../rows/row-position.ts'
import { isTooDeep, positionsBetween } from '../rows/row-position.ts'
import { rowsOfTree } from '../rows/row-tree.ts'
import type { StoredTestset } from '../testset-payload.ts'
import type { TouchedSides } from './touched-rows.ts'

/** A row to insert into the target's tree, at its position on `side`. */
export interface MovedIn {
  readonly row: RowBlobs
  readonly side: 'source' | 'base'
  readonly position: RowPosition
}

/** Scanning this many rows costs no more than a lookup from the root of the tree. */
const FEW_ROWS = 256

/** The position before the first stable row. */
const START: RowPosition = ''

/**
 * Finds positions in the target's tree for rows from elsewhere. Stable rows are those that neither side
 * moved, added or removed. They have the same positions on all sides, so the gap between two of them is the
 * same everywhere.
 */
export class MergeGaps {
  readonly #reader: PayloadTarget
  readonly #testsets: Sides<StoredTestset>
  readonly #touched: TouchedSides
  readonly #changes: Map<RowPosition, RowBlobs | undefined>

  /** `changes` are those to the target's tree; the rows are added to them. */
  constructor(
    reader: PayloadTarget,
    testsets: Sides<StoredTestset>,
    touched: TouchedSides,
    changes: Map<RowPosition, RowBlobs | undefined>,
  ) {
    this.#reader = reader
    this.#testsets = testsets
    this.#touched = touched
    this.#changes = changes
  }

  /** The target's entries of rows that both sides moved, into different gaps. */
  async movedApart(
    rows: readonly { readonly target: RowEntry; readonly source: RowEntry }[],
  ): Promise<ReadonlySet<RowEntry>> {
    const gapOf = async (side: 'target' | 'source'): Promise<ReadonlyMap<RowPosition, RowPosition>> => {
      const positions = rows.map((row) => row[side].position).sort()
      const gaps = await this.#gapsOf(side, positions)
      return new Map(positions.map((position, index) => [position, gaps[index] ?? START]))
    }
    const [ofTarget, ofSource] = [await gapOf('target'), await gapOf('source')]
    const isApart = ({ target, source }: (typeof rows)[number]): boolean =>
      ofTarget.get(target.position) !== ofSource.get(source.position)
    return new Set(rows.filter(isApart).map(({ target }) => target))
  }

  /**
   * Inserts rows into their gaps. They keep their positions unless the target uses one of these for another
   * row; then they go behind the target's rows in the gap. Returns false and changes nothing if a gap has no
   * room.
   */
  async lay(rows: readonly MovedIn[], slice: TimeSlice): Promise<boolean> {
    const laid: (readonly [RowPosition, RowBlobs])[] = []
    const byGap = await this.#byGap(rows, slice)
    const targetRows = new RowsBehind(this.#reader, this.#testsets.target.tree)
    for (const gap of [...byGap.keys()].sort()) {
      const inGap = byGap.get(gap) ?? []
      const { taken, last, next } = await this.#targetIn(gap, targetRows)
      let isFree = true
      await slice.each(inGap, ({ position }) => {
        if (taken.has(position)) isFree = false
        taken.add(position)
      })
      const between = isFree ? [] : positionsBetween(last, next, inGap.length)
      let isTooNarrow = false
      await slice.each(inGap, ({ row, position }, index) => {
        const place = isFree ? position : (between[index] ?? '')
        if (isTooDeep(place)) isTooNarrow = true
        laid.push([place, row])
      })
      if (isTooNarrow) return false
    }
    await slice.each(laid, ([position, row]) => this.#changes.set(position, row))
    return true
  }

  /** The target's rows with all changes and with these rows in their gaps. */
  async inOrder(
    target: readonly RowEntry[],
    rows: readonly MovedIn[],
    slice: TimeSlice,
  ): Promise<readonly RowBlobs[]> {
    const byGap = await this.#byGap(rows, slice)
    const order: RowBlobs[] = []
    let gap: RowPosition = START
    const put = (): void => {
      for (const { row } of byGap.get(gap) ?? []) order.push(row)
    }
    await slice.each(target, (entry) => {
      const { position } = entry
      if (this.#isStable(position)) {
        put()
        gap = position
      }
      const changed = this.#changes.get(position)
      if (changed) order.push(changed)
      else if (!this.#changes.has(position)) order.push(entry)
    })
    put()
    return order
  }

  async #byGap(
    rows: readonly MovedIn[],
    slice: TimeSlice,
  ): Promise<ReadonlyMap<RowPosition, readonly MovedIn[]>> {
    const byGap = new Map<RowPosition, MovedIn[]>()
    for (const side of ['source', 'base'] as const) {
      const ofSide = rows
        .filter((row) => row.side === side)
        .sort((a, b) => (a.position < b.position ? -1 : 1))
      const gaps = await this.#gapsOf(
        side,
        ofSide.map(({ position }) => position),
      )
      await slice.each(ofSide, (row, index) => pushTo(byGap, gaps[index] ?? START, row))
    }
    return byGap
  }

  /** For each of a side's positions (ascending), the position of the last stable row before it. */
  async #gapsOf(
    side: keyof Sides<unknown>,
    positions: readonly RowPosition[],
  ): Promise<readonly RowPosition[]> {
    const gaps: RowPosition[] = new Array<RowPosition>(positions.length).fill(START)
    const { tree } = this.#testsets[side]
    for (let at = positions.length - 1; at >= 0;) {
      // The positions in (at, from] wait for the next stable row.
      let from = at
      const after = positions[at--]
      let passed = 0
      search: for await (const batch of rowsOfTree(this.#reader, tree, { after, descending: true })) {
        for (const { position } of batch) {
          if (this.#isStable(position)) {
            gaps.fill(position, at + 1, from + 1)
            from = at
            passed = 0
          }
          while (at >= 0 && (positions[at] ?? START) >= position) at--
        }
        passed += batch.length
        // The next positions are far away, so look them up by position.
        if (from === at && passed >= FEW_ROWS) break search
      }
    }
    return gaps
  }

  /**
   * The positions that the target's rows occupy in a gap, the last position in it, and the stable row behind
   * it.
   */
  async #targetIn(
    gap: RowPosition,
    rows: RowsBehind,
  ): Promise<{
    readonly taken: Set<RowPosition>
    readonly last: RowPosition | undefined
    readonly next: RowPosition | undefined
  }> {
    const taken = new Set<RowPosition>()
    let last: RowPosition | undefined = gap === START ? undefined : gap
    for await (const { position } of rows.behind(gap)) {
      if (this.#isStable(position)) return { taken, last, next: position }
      last = position
      if (!this.#changes.has(position) || this.#changes.get(position)) taken.add(position)
    }
    return { taken, last, next: undefined }
  }

  #isStable(position: RowPosition): boolean {
    return !this.#touched.target.isReplaced(position) && !this.#touched.source.isReplaced(position)
  }
}

/** The rows of a tree behind ascending positions. Reads each folder once. */
class RowsBehind {
  readonly #reader: PayloadTarget
  readonly #tree: StoredTestset['tree']
  #rows: AsyncGenerator<readonly RowEntry[]> | undefined
  #batch: readonly RowEntry[] = []
  #at = 0

  constructor(reader: PayloadTarget, tree: StoredTestset['tree']) {
    this.#reader = reader
    this.#tree = tree
  }

  async *behind(position: RowPosition): AsyncGenerator<RowEntry> {
    for (let passed = 0; this.#rows && (this.#batch.at(-1)?.position ?? START) < position;) {
      passed += this.#batch.length
      if (passed >= FEW_ROWS || !(await this.#readOn(this.#rows))) this.#rows = undefined
    }
    if (!this.#rows) {
      this.#rows = rowsOfTree(this.#reader, this.#tree, { after: position === START ? undefined : position })
      this.#batch = []
      this.#at = 0
    }
    for (;;) {
      for (; this.#at < this.#batch.length; this.#at++) {
        const row = this.#batch[this.#at]
        if (row && row.position > position) yield row
      }
      if (!(await this.#readOn(this.#rows))) return
    }
  }

  async #readOn(rows: AsyncGenerator<readonly RowEntry[]>): Promise<boolean> {
    const { done, value } = await rows.next()
    if (done) return false
    this.#batch = value
    this.#at = 0
    return true
  }
}
