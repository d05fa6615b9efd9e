import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { PayloadTarget } from '../../../versioning/family/family.ts'
import type { Sides } from '../../../versioning/merge/merging.ts'
import type { RowBlobs, RowEntry } from '../rows/row-entry.ts'
import type { RowPosition } from '../rows/row-position.ts'
import { isTooDeep, positionsBetween } from '../rows/row-position.ts'
import { rowsOfTree } from '../rows/row-tree.ts'
import type { StoredTestset } from '../testset-payload.ts'
import type { TouchedSides } from './touched-rows.ts'

/** A row on its way into the target's tree: to where `side` has it. */
export interface MovedIn {
  readonly row: RowBlobs
  readonly side: 'source' | 'base'
  readonly position: RowPosition
}

/** Before the first row of all that stand still. */
const START: RowPosition = ''

/**
 * Finds places in the target's tree for rows that come from elsewhere. Between them stand the rows that neither side moved, added or
 * removed: they are where they were on all sides, so a gap between two of them is the same gap everywhere.
 */
export class MergeGaps {
  readonly #reader: PayloadTarget
  readonly #testsets: Sides<StoredTestset>
  readonly #touched: TouchedSides
  readonly #changes: Map<RowPosition, RowBlobs | undefined>

  /** `changes` are those of the target's tree, to which the rows are added. */
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

  /** Whether a position of the target's is in another gap than one of the source's. */
  async isElsewhere(ofTarget: RowPosition, ofSource: RowPosition): Promise<boolean> {
    const [one] = await this.#gapsOf('target', [ofTarget])
    const [other] = await this.#gapsOf('source', [ofSource])
    return one !== other
  }

  /**
   * Puts rows into their gaps: where they were, as git would, unless the target has one of these places for another row; then behind those
   * that the target has there. False: there is no more room in a gap, and nothing was put.
   */
  async lay(rows: readonly MovedIn[], slice: TimeSlice): Promise<boolean> {
    const laid: (readonly [RowPosition, RowBlobs])[] = []
    for (const [gap, inGap] of await this.#byGap(rows)) {
      const { taken, last, next } = await this.#targetIn(gap)
      const own = inGap.map(({ position }) => position)
      const isFree = own.every((position) => !taken.has(position)) && new Set(own).size === own.length
      const positions = isFree ? own : positionsBetween(last, next, own.length)
      for (const [index, { row }] of inGap.entries()) {
        const position = positions[index] ?? ''
        if (isTooDeep(position)) return false
        laid.push([position, row])
      }
      await slice.pause()
    }
    for (const [position, row] of laid) this.#changes.set(position, row)
    return true
  }

  /** The target's rows with all changes, and with these in their gaps. */
  async inOrder(target: readonly RowEntry[], rows: readonly MovedIn[]): Promise<readonly RowBlobs[]> {
    const byGap = await this.#byGap(rows)
    const order: RowBlobs[] = []
    let gap: RowPosition = START
    const put = (): void => {
      for (const { row } of byGap.get(gap) ?? []) order.push(row)
    }
    for (const entry of target) {
      const { position } = entry
      if (this.#isStable(position)) {
        put()
        gap = position
      }
      const changed = this.#changes.get(position)
      if (changed) order.push(changed)
      else if (!this.#changes.has(position)) order.push(entry)
    }
    put()
    return order
  }

  async #byGap(rows: readonly MovedIn[]): Promise<ReadonlyMap<RowPosition, readonly MovedIn[]>> {
    const byGap = new Map<RowPosition, MovedIn[]>()
    for (const side of ['source', 'base'] as const) {
      const ofSide = rows
        .filter((row) => row.side === side)
        .sort((a, b) => (a.position < b.position ? -1 : 1))
      const gaps = await this.#gapsOf(
        side,
        ofSide.map(({ position }) => position),
      )
      for (const [index, row] of ofSide.entries()) {
        const gap = gaps[index] ?? START
        byGap.set(gap, [...(byGap.get(gap) ?? []), row])
      }
    }
    return byGap
  }

  /** For each of these positions of a side, which ascend, the last row before it that stands still. */
  async #gapsOf(
    side: keyof Sides<unknown>,
    positions: readonly RowPosition[],
  ): Promise<readonly RowPosition[]> {
    const gaps: RowPosition[] = new Array<RowPosition>(positions.length).fill(START)
    const { tree } = this.#testsets[side]
    for (let at = positions.length - 1; at >= 0;) {
      const from = at
      let gap = START
      at--
      search: for await (const batch of rowsOfTree(this.#reader, tree, {
        after: positions[from],
        descending: true,
      })) {
        for (const { position } of batch) {
          if (position === positions[at]) at--
          if (!this.#isStable(position)) continue
          gap = position
          break search
        }
      }
      gaps.fill(gap, at + 1, from + 1)
    }
    return gaps
  }

  /** The positions in a gap that the target's rows keep, its last position of all, and the row behind the gap. */
  async #targetIn(gap: RowPosition): Promise<{
    readonly taken: ReadonlySet<RowPosition>
    readonly last: RowPosition | undefined
    readonly next: RowPosition | undefined
  }> {
    const taken = new Set<RowPosition>()
    let last: RowPosition | undefined = gap === START ? undefined : gap
    const { tree } = this.#testsets.target
    for await (const batch of rowsOfTree(this.#reader, tree, { after: last })) {
      for (const { position } of batch) {
        if (this.#isStable(position)) return { taken, last, next: position }
        last = position
        if (!this.#changes.has(position) || this.#changes.get(position)) taken.add(position)
      }
    }
    return { taken, last, next: undefined }
  }

  #isStable(position: RowPosition): boolean {
    return !this.#touched.target.isReplaced(position) && !this.#touched.source.isReplaced(position)
  }
}
