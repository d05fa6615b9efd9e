import type { JsonObject } from '../../../json/json.ts'
import { keysOf } from '../../../json/json.ts'
import type { MergeContext, MergedPayload, MergeSide } from '../../../versioning/family/family.ts'
import type { Merging, Sides } from '../../../versioning/merge/merging.ts'
import { eachSide } from '../../../versioning/merge/merging.ts'
import type { TestsetLimits } from '../import/row-collector.ts'
import { limitExceeded } from '../import/row-collector.ts'
import type { RowBlobs, RowEntry } from '../rows/row-entry.ts'
import type { RowPosition } from '../rows/row-position.ts'
import { positionsAfter } from '../rows/row-position.ts'
import { countRows, rowCounts } from '../rows/row-tree.ts'
import { allRows } from '../rows/stored-rows.ts'
import type { EditedTestset, StoredTestset } from '../testset-payload.ts'
import { asStored } from '../testset-payload.ts'
import { isTestsetFile } from '../testset-tree.ts'
import type { MovedIn } from './merge-gaps.ts'
import { MergeGaps } from './merge-gaps.ts'
import { RowMerge } from './merge-row.ts'
import { touchedRows } from './touched-rows.ts'

const NO_ROWS: StoredTestset = { kind: 'stored', tree: undefined, columns: [] }

/**
 * Merges two testsets: rows by dedup id and column by column, their order by their neighbours. No row is lost: what one side added stays,
 * the target's first where both added at one place, and what one side removed and the other changed is a conflict. Costs what differs.
 */
export async function mergeTestsets(
  sides: Sides<MergeSide>,
  merging: Merging,
  context: MergeContext,
  limits: TestsetLimits,
): Promise<MergedPayload> {
  const testsets = eachSide(sides, ({ payload }) => (payload ? asStored(payload) : NO_ROWS))
  const isPayload = eachSide(sides, () => isTestsetFile)
  if (!sides.target.payload && !sides.source.payload) return { payload: undefined, warnings: [], isPayload }
  const payload = await new TestsetMerge(testsets, merging, context, limits).merged()
  return { payload, warnings: [], isPayload }
}

/** A row that is left, and where each side has it. */
interface LeftRow {
  readonly row: RowBlobs
  readonly at: Sides<RowEntry | undefined>
}

class TestsetMerge {
  readonly #changes = new Map<RowPosition, RowBlobs | undefined>()
  readonly #testsets: Sides<StoredTestset>
  readonly #merging: Merging
  readonly #context: MergeContext
  readonly #limits: TestsetLimits
  #contested: keyof Sides<unknown> | undefined

  constructor(
    testsets: Sides<StoredTestset>,
    merging: Merging,
    context: MergeContext,
    limits: TestsetLimits,
  ) {
    this.#testsets = testsets
    this.#merging = merging
    this.#context = context
    this.#limits = limits
  }

  async merged(): Promise<EditedTestset> {
    const { target: reader, slice } = this.#context
    const { base, target, source } = this.#testsets
    const touched = await touchedRows(reader, base, { target, source }, slice)
    const gaps = new MergeGaps(reader, this.#testsets, touched, this.#changes)
    const rows = new RowMerge(reader, this.#merging, this.#limits, (row) => touched.dataOf(row))
    const ids = new Set([...touched.source.before.keys(), ...touched.source.after.keys()])
    const left: LeftRow[] = []
    let removed = 0
    for (const id of ids) {
      const was = touched.target.before.get(id) ?? touched.source.before.get(id)
      const now = (side: 'target' | 'source'): RowEntry | undefined =>
        touched[side].after.get(id) ?? (touched[side].before.has(id) ? undefined : was)
      const at = { base: was, target: now('target'), source: now('source') }
      const row = await rows.merge(id, at)
      if (row) left.push({ row, at })
      else if (at.target) {
        this.#changes.set(at.target.position, undefined)
        removed++
      }
      await slice.pause()
    }
    const movedIn = await this.#keepPlaces(left, gaps)
    const isLaid = await gaps.lay(movedIn, slice)
    const added = left.filter(({ at }) => !at.target).length
    await this.#checkCount(added - removed)
    const columns = this.#columns(left, (row) => touched.dataOf(row))
    if (columns.length > this.#limits.maxColumns) throw limitExceeded('columns', this.#limits.maxColumns)
    return isLaid
      ? { kind: 'edited', base: target, changes: this.#changes, columns }
      : this.#numberedAnew(gaps, movedIn, columns)
  }

  /** Changes rows where the target has them; answers those that go elsewhere. */
  async #keepPlaces(left: readonly LeftRow[], gaps: MergeGaps): Promise<MovedIn[]> {
    const movedIn: MovedIn[] = []
    for (const { row, at } of left) {
      const { base, target, source } = at
      const isMovedBy = (side: RowEntry | undefined): boolean =>
        base !== undefined && side !== undefined && side.position !== base.position
      const takeFrom = (side: 'source' | 'base', entry: RowEntry): void => {
        if (target) this.#changes.set(target.position, undefined)
        movedIn.push({ row, side, position: entry.position })
      }
      if (!target) {
        const entry = source ?? base
        if (entry) takeFrom(source ? 'source' : 'base', entry)
        continue
      }
      if (isMovedBy(source) && source) {
        if (!isMovedBy(target)) {
          takeFrom('source', source)
          continue
        }
        if (await gaps.isElsewhere(target.position, source.position)) {
          const side = this.#contestedSide()
          const entry = side === 'target' ? undefined : at[side]
          if (entry && side !== 'target') {
            takeFrom(side, entry)
            continue
          }
        }
      }
      if (row.oid !== target.oid || row.meta !== target.meta) this.#changes.set(target.position, row)
    }
    return movedIn
  }

  /** Whose places count of rows that both sides moved to different ones. */
  #contestedSide(): keyof Sides<unknown> {
    if (this.#contested === undefined) {
      const chosen = this.#merging.choose({ place: { order: 'rows' }, kind: 'order' })
      this.#contested = chosen?.take ?? 'target'
    }
    return this.#contested
  }

  async #checkCount(more: number): Promise<void> {
    const { target: reader, slice } = this.#context
    const count = (await countRows(reader, this.#testsets.target.tree, rowCounts, slice)) + more
    if (count > this.#limits.maxRows) throw limitExceeded('rows', this.#limits.maxRows)
  }

  /** The target's columns without those that the source removed and no row has any more, and with those that it added. */
  #columns(left: readonly LeftRow[], dataOf: (row: RowEntry) => JsonObject): readonly string[] {
    const { base, target, source } = this.#testsets
    const inUse = new Set<string>()
    for (const { at } of left)
      for (const row of [at.target, at.source]) if (row) for (const key of keysOf(dataOf(row))) inUse.add(key)
    const [before, after] = [new Set(base.columns), new Set(source.columns)]
    const kept = target.columns.filter(
      (column) => !before.has(column) || after.has(column) || inUse.has(column),
    )
    return [...new Set([...kept, ...source.columns.filter((column) => !before.has(column))])]
  }

  /** All rows with positions of their own, where there is no more room between two. */
  async #numberedAnew(
    gaps: MergeGaps,
    movedIn: readonly MovedIn[],
    columns: readonly string[],
  ): Promise<EditedTestset> {
    const { target: reader, slice } = this.#context
    const rows = await gaps.inOrder(await allRows(reader, this.#testsets.target.tree, slice), movedIn)
    const positions = positionsAfter(undefined, rows.length)
    return {
      kind: 'edited',
      base: { ...this.#testsets.target, tree: undefined },
      changes: new Map(rows.map((row, index) => [positions[index] ?? '', row])),
      columns,
    }
  }
}
