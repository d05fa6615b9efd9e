import type { MergeContext, MergedPayload, MergeSide, PayloadTarget } from '../../payload/family.ts'
import { type Merging, type Sides, eachSide, type Conflict } from '../../merge/merging.ts'
import { type TestsetLimits, limitExceeded } from '../import/row-collector.ts'
import type { RowBlobs, RowEntry } from '../rows/row-entry.ts'
import { type RowPosition, positionsAfter } from '../rows/row-position.ts'
import { countRows, rowCounts } from '../rows/row-tree.ts'
import { allRows } from '../rows/stored-rows.ts'
import { type EditedTestset, type StoredTestset, asStored } from '../testset-payload.ts'
import { isTestsetFile } from '../testset-tree.ts'
import { ColumnChanges } from './column-changes.ts'
import { type MovedIn, MergeGaps } from './merge-gaps.ts'
import { touchedRows } from './touched-rows.ts'
import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects.ts'
import { type Json, type JsonObject, fromEntries, getKey, isJsonObject, keysOf } from '../../../base/json.ts'
import { atOnce } from '../../../base/scheduling.ts'
import { readBytes } from '../../payload/tree-files.ts'
import { mergeValues } from '../../merge/merge-values.ts'
import { rowKeys } from '../dedup/row-index.ts'
import type { RowMeta } from '../import/input-row.ts'
import { contentOf, decodeRowMeta, encodeContent, encodeRow, encodeRowMeta } from '../rows/stored-row.ts'

const NO_ROWS: StoredTestset = { kind: 'stored', tree: undefined, columns: [] }

/**
 * Merges two testsets: rows by dedup id and column by column, their order by their neighbours. No row is lost: rows that either side added
 * stay, the target's first. If one side removed a row and the other changed it, that is a conflict. A change of columns does not count as a
 * change of rows. Costs only what differs.
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

/** A remaining row, and its entry on each side. */
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
      // Rows that only the target touched may have cells in columns that the source removed.
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

  /** Updates rows that stay where the target has them; returns those that move. */
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

  /** The side whose positions win for rows that both sides moved to different places. */
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

  /** Renumbers all rows, because a gap has no room left. */
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

/** Merges rows that both sides have, or that one has and the other changed, column by column. */
class RowMerge {
  /** All keys of the merged rows. */
  readonly keys = new Set<string>()
  readonly #target: PayloadTarget
  readonly #merging: Merging
  readonly #limits: TestsetLimits
  readonly #columns: ColumnChanges
  readonly #dataOf: (row: RowEntry) => JsonObject

  constructor(
    target: PayloadTarget,
    merging: Merging,
    limits: TestsetLimits,
    columns: ColumnChanges,
    dataOf: (row: RowEntry) => JsonObject,
  ) {
    this.#target = target
    this.#merging = merging
    this.#limits = limits
    this.#columns = columns
    this.#dataOf = dataOf
  }

  /**
   * Merges the row of a dedup id; undefined if it is removed. It is also a conflict if one side moved the row and the other removed it. A
   * change of columns does not count as a change of the row.
   */
  async merge(id: string, sides: Sides<RowEntry | undefined>): Promise<RowBlobs | undefined> {
    const { base, target, source } = sides
    if (isUntouched(target, source) || isUntouched(base, source)) return this.renamed('target', id, target)
    if (isUntouched(base, target)) return this.renamed('source', id, source)
    if (target && source) return this.#byColumn(id, { base, target, source })
    if (base && this.#isOnlyColumns(target ? 'target' : 'source', base, target ?? source)) return undefined
    const shown = (row: RowEntry | undefined): Json | undefined => row && this.#dataOf(row)
    const conflict: Conflict = {
      place: { row: id },
      ...(!target && { in: 'source' }),
      kind: 'changed_and_removed',
      base: shown(base),
      target: shown(target),
      source: shown(source),
    }
    const chosen = this.#merging.choose(conflict)
    if (!chosen) return this.renamed('target', id, target)
    if (chosen.take) return this.renamed(chosen.take, id, sides[chosen.take])
    if (chosen.remove) return undefined
    const value = chosen.value
    if (isJsonObject(value)) return { oid: this.#row(id, value), meta: (target ?? source)?.meta }
    throw new Refusal(
      'invalid_request',
      `resolutions: the value for the row "${id}" must be an object, the row's data; or send "take" or "remove".`,
    )
  }

  /** A row of one side with its cells under the final column names. */
  renamed(side: keyof Sides<unknown>, id: string, row: RowEntry | undefined): RowBlobs | undefined {
    if (!row) return undefined
    const content = contentOf(this.#dataOf(row))
    const renamed = this.#columns.renamed(side, content)
    if (renamed) return { oid: this.#row(id, renamed), meta: row.meta }
    for (const key of keysOf(content)) this.keys.add(key)
    return row
  }

  #isOnlyColumns(side: 'target' | 'source', base: RowEntry, now: RowEntry | undefined): boolean {
    if (now?.position !== base.position || now.meta !== base.meta) return false
    return this.#columns.isAll(side, contentOf(this.#dataOf(base)), contentOf(this.#dataOf(now)))
  }

  async #byColumn(
    id: string,
    { base, target, source }: { base: RowEntry | undefined; target: RowEntry; source: RowEntry },
  ): Promise<RowBlobs> {
    // A row that is new on both sides keeps what each wrote; a column change wrote nothing.
    const content = (side: keyof Sides<unknown>, row: RowEntry): JsonObject => {
      const own = contentOf(this.#dataOf(row))
      return base ? this.#columns.aligned(side, own) : (this.#columns.renamed(side, own) ?? own)
    }
    const merged = this.#byKey(
      id,
      {
        base: base && content('base', base),
        target: content('target', target),
        source: content('source', source),
      },
      (key) => key,
    )
    const data = this.#columns.unfilled(merged, [this.#dataOf(target), this.#dataOf(source)])
    const meta = this.#byKey(
      id,
      {
        base: await this.#metaOf(base?.meta),
        target: await this.#metaOf(target.meta),
        source: await this.#metaOf(source.meta),
      },
      (key) => `__${key}__`,
    )
    const hasMeta = ['flags', 'tags', 'meta'].some((key) => getKey(meta, key) !== undefined)
    return {
      oid: this.#row(id, data),
      meta: hasMeta ? this.#blob(encodeRowMeta(meta as RowMeta)) : undefined,
    }
  }

  #byKey(
    id: string,
    { base, target, source }: { base: JsonObject | undefined; target: JsonObject; source: JsonObject },
    columnOf: (key: string) => string,
  ): JsonObject {
    const isWhole = (path: readonly unknown[]): boolean => path.length > 0
    const placeOf = (pointer: string) => ({ row: id, column: columnOf(keyIn(pointer)) })
    const work = mergeValues({ base, target, source }, { isWhole }, this.#merging, placeOf)
    // A row is read and written without a pause.
    const value = atOnce(work)
    return isJsonObject(value) ? value : fromEntries([])
  }

  async #metaOf(oid: Oid | undefined): Promise<JsonObject> {
    if (oid === undefined) return {}
    return decodeRowMeta(await readBytes(this.#target, oid, 'blob')) as JsonObject // our own record, with JSON members
  }

  #row(id: string, data: JsonObject): Oid {
    for (const key of keysOf(data)) this.keys.add(key)
    const content = encodeContent(contentOf(data))
    const oid = this.#blob(encodeRow(content, id))
    rowKeys.note(oid, content.hash, id)
    return oid
  }

  #blob(bytes: Buffer): Oid {
    if (bytes.length > this.#limits.maxRowBytes) throw limitExceeded('bytes a row', this.#limits.maxRowBytes)
    return this.#target.write('blob', bytes)
  }
}

/** Whether a row is the same at the same position, or absent on both sides. */
function isUntouched(one: RowEntry | undefined, other: RowEntry | undefined): boolean {
  return one?.oid === other?.oid && one?.meta === other?.meta && one?.position === other?.position
}

function keyIn(pointer: string): string {
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
}
