import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects/object.ts'
import type { Json, JsonObject } from '../../../json/json.ts'
import { fromEntries, getKey, isJsonObject, keysOf } from '../../../json/json.ts'
import { atOnce } from '../../../scheduling/cooperative.ts'
import type { PayloadTarget } from '../../../versioning/family/family.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import { mergeValues } from '../../../versioning/merge/merge-values.ts'
import type { Conflict, Merging, Sides } from '../../../versioning/merge/merging.ts'
import { rowKeys } from '../dedup/row-index.ts'
import type { RowMeta } from '../import/input-row.ts'
import type { TestsetLimits } from '../import/row-collector.ts'
import { limitExceeded } from '../import/row-collector.ts'
import type { RowBlobs, RowEntry } from '../rows/row-entry.ts'
import type { ColumnChanges } from './column-changes.ts'
import { contentOf, decodeRowMeta, encodeContent, encodeRow, encodeRowMeta } from '../rows/stored-row.ts'

/** Merges rows that both sides have, or that one has and the other changed, column by column. */
export class RowMerge {
  /** All keys of the rows that were merged. */
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
   * What becomes of the row of a dedup id; undefined: it is removed. A row that one side moved and the other removed is a conflict, too. What
   * a change of columns did to a row is no change of the row.
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

  /** A row of one side with its cells in the columns that they have in the end. */
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
    // A row that is new on both sides has what each wrote into it, and a change of columns wrote nothing.
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
    // A row is read and written in one go.
    const value = atOnce(work)
    return isJsonObject(value) ? value : fromEntries([])
  }

  async #metaOf(oid: Oid | undefined): Promise<JsonObject> {
    if (oid === undefined) return {}
    return decodeRowMeta(await readBytes(this.#target, oid, 'blob')) as JsonObject // a record of our own with JSON in it
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

/** Whether a row is the same at the same place, or absent on both sides. */
function isUntouched(one: RowEntry | undefined, other: RowEntry | undefined): boolean {
  return one?.oid === other?.oid && one?.meta === other?.meta && one?.position === other?.position
}

function keyIn(pointer: string): string {
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
}
