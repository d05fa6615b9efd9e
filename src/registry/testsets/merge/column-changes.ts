import {
  equalJson,
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  getKey,
  hasKey,
} from '../../../base/json.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { Sides } from '../../merge/merging.ts'
import { DEDUP_COLUMN } from '../import/input-row.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { TouchedRows, TouchedSides } from './touched-rows.ts'

/** The changes of one side to the base's columns. */
interface ColumnChange {
  readonly added: ReadonlySet<string>
  readonly removed: ReadonlySet<string>
  /** New names by old names; these columns are neither in `added` nor in `removed`. */
  readonly renamed: ReadonlyMap<string, string>
}

type Side = 'target' | 'source'

/**
 * The column changes of both sides of a merge. Column changes are no row edits: rows are compared as if both
 * sides had made each other's renames and additions.
 */
export class ColumnChanges {
  readonly #of: Readonly<Record<Side, ColumnChange>>
  /** New names by old names, for both sides. */
  readonly #names: ReadonlyMap<string, string>
  readonly #added: ReadonlySet<string>

  private constructor(of: Readonly<Record<Side, ColumnChange>>) {
    this.#of = of
    this.#names = new Map([...of.target.renamed, ...of.source.renamed])
    this.#added = new Set([...of.target.added, ...of.source.added])
  }

  /** Finds the changes from the lists of columns; renames are inferred from the contents of the rows. */
  static async find(
    columns: Sides<readonly string[]>,
    touched: TouchedSides,
    slice: TimeSlice,
  ): Promise<ColumnChanges> {
    const named = async (side: Side): Promise<ReadonlyMap<string, string>> =>
      renames(pairsOf(columns.base, columns[side]), touched[side], (row) => touched.dataOf(row), slice)
    const names = { target: await named('target'), source: await named('source') }
    const before = new Set(columns.base)
    const changeOf = (side: Side, other: Side): ColumnChange => {
      const now = new Set(columns[side])
      const others = new Set(columns[other])
      // A rename counts as removal and addition if the sides disagree on it, or gave the name to different
      // columns.
      const renamed = new Map(
        [...names[side]].filter(([old, name]) => {
          const there = names[other].get(old) ?? name
          const olds = [...names[other]].flatMap(([from, to]) => (to === name ? from : []))
          const isTaken = others.has(name) && !before.has(name) && olds.length === 0
          return there === name && olds.every((from) => from === old) && !isTaken
        }),
      )
      const given = new Set(renamed.values())
      const isPlain = (column: string): boolean => column !== DEDUP_COLUMN && !given.has(column)
      return {
        added: new Set(columns[side].filter((column) => !before.has(column) && isPlain(column))),
        removed: new Set(
          columns.base.filter(
            (column) => !now.has(column) && !renamed.has(column) && column !== DEDUP_COLUMN,
          ),
        ),
        renamed,
      }
    }
    return new ColumnChanges({
      target: changeOf('target', 'source'),
      source: changeOf('source', 'target'),
    })
  }

  /** A row's content under the final column names; undefined if it has them already. */
  renamed(side: keyof Sides<unknown>, content: JsonObject): JsonObject | undefined {
    const isDone = (old: string): boolean => side !== 'base' && this.#of[side].renamed.has(old)
    const names = new Map([...this.#names].filter(([old]) => !isDone(old) && hasKey(content, old)))
    // Never overwrite a cell, even if a pushed row has keys beyond its columns.
    for (const [old, name] of names) if (hasKey(content, name) && !names.has(name)) names.delete(old)
    if (names.size === 0) return undefined
    return fromEntries(entriesOf(content).map(([key, value]) => [names.get(key) ?? key, value]))
  }

  /** The same, with empty cells for the columns that one side added. */
  aligned(side: keyof Sides<unknown>, content: JsonObject): JsonObject {
    const renamed = this.renamed(side, content) ?? content
    const missing = [...this.#added].filter((column) => !hasKey(renamed, column))
    if (missing.length === 0) return renamed
    return fromEntries([...entriesOf(renamed), ...missing.map((column): [string, Json] => [column, ''])])
  }

  /** Removes the empty cells that `aligned` added and no side has from a merged row. */
  unfilled(merged: JsonObject, sides: readonly JsonObject[]): JsonObject {
    const isMadeUp = (column: string): boolean =>
      getKey(merged, column) === '' && !sides.some((content) => hasKey(content, column))
    const madeUp = new Set([...this.#added].filter(isMadeUp))
    return madeUp.size === 0 ? merged : fromEntries(entriesOf(merged).filter(([key]) => !madeUp.has(key)))
  }

  /** Whether a side's only change to a row is its column change. */
  isAll(side: Side, before: JsonObject, now: JsonObject): boolean {
    const gone = new Set([...this.#of[side].removed].map((column) => this.#names.get(column) ?? column))
    const left = entriesOf(this.aligned('base', before)).filter(([key]) => !gone.has(key))
    return equalJson(fromEntries(left), this.aligned(side, now))
  }

  /**
   * The columns of the merged table: the target's under their final names, without those the source removed,
   * then those the source added. A removed column that a row still uses stays.
   */
  merged({ base, target, source }: Sides<readonly string[]>, inUse: ReadonlySet<string>): readonly string[] {
    const { target: ofTarget, source: ofSource } = this.#of
    const before = new Set(base)
    const olds = new Map([...ofTarget.renamed].map(([old, name]) => [name, old]))
    const kept = target.flatMap((column) => {
      const old = olds.get(column) ?? column
      const name = ofTarget.renamed.has(column) ? column : (ofSource.renamed.get(column) ?? column)
      const isRemoved = before.has(old) && ofSource.removed.has(old)
      return isRemoved && !inUse.has(name) ? [] : [name]
    })
    const given = new Set(ofSource.renamed.values())
    const added = source.filter((column) => !before.has(column) && !given.has(column))
    const stillUsed = source.filter((column) => inUse.has(column))
    return [...new Set([...kept, ...added, ...stillUsed])]
  }

  /** Whether a side removed or renamed columns; rows that only the other side touched may still have them. */
  hasTaken(side: Side): boolean {
    return this.#of[side].removed.size + this.#of[side].renamed.size > 0
  }
}

/** Beyond this many candidate pairs, no rename is inferred. */
const MOST_PAIRS = 256

type Pair = readonly [old: string, name: string]

/**
 * Candidate renames: a removed and an added column behind the same neighbour. If remaining columns changed
 * their order, only the columns that swapped places are candidates.
 */
function pairsOf(before: readonly string[], after: readonly string[]): readonly Pair[] {
  const [was, is] = [new Set(before), new Set(after)]
  const stayed = before.filter((column) => is.has(column))
  const pairs: Pair[] = after
    .filter((column) => was.has(column))
    .flatMap((column, at): Pair[] => (stayed[at] === column ? [] : [[stayed[at] ?? '', column]]))
  if (pairs.length > 0) return pairs.length > MOST_PAIRS ? [] : pairs
  const gone = byNeighbour(before, is)
  for (const [neighbour, names] of byNeighbour(after, was))
    for (const name of names)
      for (const old of gone.get(neighbour) ?? []) {
        if (pairs.length === MOST_PAIRS) return []
        pairs.push([old, name])
      }
  return pairs
}

/** The columns that the others lack, grouped by the preceding column that they have. */
function byNeighbour(
  columns: readonly string[],
  others: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  let own: string[] = []
  found.set('', own)
  for (const column of columns) {
    if (!others.has(column)) own.push(column)
    else found.set(`=${column}`, (own = []))
  }
  return found
}

/** The pairs that a majority of rows confirms: the new column holds what the old one held. */
async function renames(
  pairs: readonly Pair[],
  { before, after }: TouchedRows,
  dataOf: (row: RowEntry) => JsonObject,
  slice: TimeSlice,
): Promise<ReadonlyMap<string, string>> {
  const votes = pairs.map((pair) => ({ pair, yes: 0, all: 0 }))
  if (votes.length === 0) return new Map()
  await slice.each(before, ([id, row]) => {
    const now = after.get(id)
    if (!now) return
    const [was, is] = [dataOf(row), dataOf(now)]
    for (const vote of votes) {
      const [old, name] = vote.pair
      const value = getKey(was, old)
      // A row proves nothing if the other column already had the same value.
      if (value === undefined || value === '' || isAlike(value, getKey(was, name))) continue
      vote.all++
      if (isAlike(value, getKey(is, name))) vote.yes++
    }
  })
  const renamed = new Map<string, string>()
  const given = new Set<string>()
  for (const { pair, yes, all } of votes.sort((a, b) => b.yes - a.yes)) {
    const [old, name] = pair
    if (2 * yes <= all || renamed.has(old) || given.has(name)) continue
    renamed.set(old, name)
    given.add(name)
  }
  // Columns that swapped must have moved into each other's places; otherwise it was another change.
  const haveSwapped = pairs.some(([old]) => given.has(old))
  return haveSwapped && [...given].some((name) => !renamed.has(name)) ? new Map() : renamed
}

function isAlike(one: Json, other: Json | undefined): boolean {
  return other !== undefined && equalJson(one, other)
}
