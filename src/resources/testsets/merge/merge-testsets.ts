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
import { ColumnChanges } from './column-changes.ts'
import type { MovedIn } from './merge-gaps.ts'
import { MergeGaps } from './merge-gaps.ts'
import { RowMerge } from './merge-row.ts'
import { touchedRows } from './touched-rows.ts'

const NO_ROWS: StoredTestset = { kind: 'stored', tree: undefined, columns: [] }

/**
 * Merges two testsets: rows by dedup id and column by column, their order by their neighbours. No row is lost: what one side added stays,
 * the target's first where both added at one place, and what one side removed and the other changed is a conflict; what a change of columns
 * did to a row is no change of it. Costs what differs.
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
    const listed = eachSide(this.#testsets, ({ columns }) => columns)
    const changes = await ColumnChanges.find(listed, touched, slice)
    const rows = new RowMerge(reader, this.#merging, this.#limits, changes, (row) => touched.dataOf(row))
    const left: LeftRow[] = []
    let [added, removed] = [0, 0]
    const merge = async (id: string): Promise<void> => {
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
      if (row && !at.target) added++
    }
    const ofSource = touched.source
    await slice.each(ofSource.before.keys(), merge)
    await slice.each(ofSource.after.keys(), (id) => (ofSource.before.has(id) ? undefined : merge(id)))
    if (changes.hasTaken('source')) {
      // Rows that only the target touched may have cells in columns that the source took away.
      await slice.each(touched.target.after, ([id, entry]) => {
        if (ofSource.before.has(id) || ofSource.after.has(id)) return
        const row = rows.renamed('target', id, entry)
        if (row && row.oid !== entry.oid) this.#changes.set(entry.position, row)
      })
    }
    const movedIn = await this.#keepPlaces(left, gaps)
    const isLaid = await gaps.lay(movedIn, slice)
    await this.#checkCount(added - removed)
    const columns = changes.merged(listed, rows.keys)
    if (columns.length > this.#limits.maxColumns) throw limitExceeded('columns', this.#limits.maxColumns)
    return isLaid
      ? { kind: 'edited', base: target, changes: this.#changes, columns }
      : this.#numberedAnew(gaps, movedIn, columns)
  }

  /** Changes rows where the target has them; answers those that go elsewhere. */
  async #keepPlaces(left: readonly LeftRow[], gaps: MergeGaps): Promise<MovedIn[]> {
    const { slice } = this.#context
    const isMoved = (base: RowEntry | undefined, side: RowEntry | undefined): boolean =>
      base !== undefined && side !== undefined && side.position !== base.position
    const movedApart = await gaps.movedApart(
      left.flatMap(({ at: { base, target, source } }) =>
        target && source && isMoved(base, target) && isMoved(base, source) ? [{ target, source }] : [],
      ),
    )
    const movedIn: MovedIn[] = []
    await slice.each(left, ({ row, at }) => {
      const { base, target, source } = at
      const takeFrom = (side: 'source' | 'base', entry: RowEntry): void => {
        if (target) this.#changes.set(target.position, undefined)
        movedIn.push({ row, side, position: entry.position })
      }
      if (!target) {
        const entry = source ?? base
        if (entry) takeFrom(source ? 'source' : 'base', entry)
        return
      }
      if (source && isMoved(base, source)) {
        if (!isMoved(base, target)) {
          takeFrom('source', source)
          return
        }
        if (movedApart.has(target)) {
          const side = this.#contestedSide()
          const entry = side === 'target' ? undefined : at[side]
          if (entry && side !== 'target') {
            takeFrom(side, entry)
            return
          }
        }
      }
      if (row.oid !== target.oid || row.meta !== target.meta) this.#changes.set(target.position, row)
    })
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

  /** All rows with positions of their own, where there is no more room between two. */
  async #numberedAnew(
    gaps: MergeGaps,
    movedIn: readonly MovedIn[],
    columns: readonly string[],
  ): Promise<EditedTestset> {
    const { target: reader, slice } = this.#context
    const all = await allRows(reader, this.#testsets.target.tree, slice)
    const rows = await gaps.inOrder(all, movedIn, slice)
    const positions = positionsAfter(undefined, rows.length)
    await slice.pause()
    const changes = new Map<RowPosition, RowBlobs>()
    await slice.each(rows, (row, index) => changes.set(positions[index] ?? '', row))
    return { kind: 'edited', base: { ...this.#testsets.target, tree: undefined }, changes, columns }
  }
}
