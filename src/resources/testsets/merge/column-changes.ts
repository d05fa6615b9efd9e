import { equalJson } from '../../../json/diff/equal-json.ts'
import type { Json, JsonObject } from '../../../json/json.ts'
import { entriesOf, fromEntries, getKey, hasKey } from '../../../json/json.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { Sides } from '../../../versioning/merge/merging.ts'
import { DEDUP_COLUMN } from '../import/input-row.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { TouchedRows, TouchedSides } from './touched-rows.ts'

/** What one side did to the columns that the base had. */
interface ColumnChange {
  readonly added: ReadonlySet<string>
  readonly removed: ReadonlySet<string>
  /** New names by old ones; these are among neither. */
  readonly renamed: ReadonlyMap<string, string>
}

type Side = 'target' | 'source'

/**
 * What both sides did to the columns of a table. What that wrote into the rows is no edit of them: rows are compared as they would be if
 * both sides had renamed and added the columns that one of them did.
 */
export class ColumnChanges {
  readonly #of: Readonly<Record<Side, ColumnChange>>
  /** New names by old ones, of both sides. */
  readonly #names: ReadonlyMap<string, string>
  readonly #added: ReadonlySet<string>

  private constructor(of: Readonly<Record<Side, ColumnChange>>) {
    this.#of = of
    this.#names = new Map([...of.target.renamed, ...of.source.renamed])
    this.#added = new Set([...of.target.added, ...of.source.added])
  }

  /** Finds them by the lists of columns, and which were renamed by what the rows hold. */
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
      // Names that the two sides do not agree on, or that both gave to different columns, are columns removed and added.
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

  /** A row's content in the names that it has in the end. Undefined: it is in them already. */
  renamed(side: keyof Sides<unknown>, content: JsonObject): JsonObject | undefined {
    const isDone = (old: string): boolean => side !== 'base' && this.#of[side].renamed.has(old)
    const names = new Map([...this.#names].filter(([old]) => !isDone(old) && hasKey(content, old)))
    // No cell is written over, whatever git put into a row beside its columns.
    for (const [old, name] of names) if (hasKey(content, name) && !names.has(name)) names.delete(old)
    if (names.size === 0) return undefined
    return fromEntries(entriesOf(content).map(([key, value]) => [names.get(key) ?? key, value]))
  }

  /** The same, with the columns that one side added, empty where the row has them not. */
  aligned(side: keyof Sides<unknown>, content: JsonObject): JsonObject {
    const renamed = this.renamed(side, content) ?? content
    const missing = [...this.#added].filter((column) => !hasKey(renamed, column))
    if (missing.length === 0) return renamed
    return fromEntries([...entriesOf(renamed), ...missing.map((column): [string, Json] => [column, ''])])
  }

  /** A merged row without the empty cells that `aligned` put in and no side has. */
  unfilled(merged: JsonObject, sides: readonly JsonObject[]): JsonObject {
    const isMadeUp = (column: string): boolean =>
      getKey(merged, column) === '' && !sides.some((content) => hasKey(content, column))
    const madeUp = new Set([...this.#added].filter(isMadeUp))
    return madeUp.size === 0 ? merged : fromEntries(entriesOf(merged).filter(([key]) => !madeUp.has(key)))
  }

  /** Whether a side did no more to a row than its change of columns does. */
  isAll(side: Side, before: JsonObject, now: JsonObject): boolean {
    const gone = new Set([...this.#of[side].removed].map((column) => this.#names.get(column) ?? column))
    const left = entriesOf(this.aligned('base', before)).filter(([key]) => !gone.has(key))
    return equalJson(fromEntries(left), this.aligned(side, now))
  }

  /**
   * The columns of the merged table: the target's, by their names in the end, without those that the source removed, and behind them those
   * that the source added. A removed column that a row still has stays.
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

  /** Whether a side removed or renamed columns, which rows that only the other one touched may have. */
  hasTaken(side: Side): boolean {
    return this.#of[side].removed.size + this.#of[side].renamed.size > 0
  }
}

/** Of more pairs of names than these, none is taken for a rename. */
const MOST_PAIRS = 256

type Pair = readonly [old: string, name: string]

/**
 * Which columns may have been renamed: one that is gone and one that came behind the same neighbour; and where those that stayed stand in
 * another order, the ones that have changed places.
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

/** The columns that the others do not have, by the one before them that they have. */
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

/** The pairs of which most rows say so: that hold something in the old column, and the same in the new one since. */
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
      // Where the other column had the same already, nothing can be told.
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
  // Of columns that changed places each has gone to another's; else it is something else that happened.
  const haveSwapped = pairs.some(([old]) => given.has(old))
  return haveSwapped && [...given].some((name) => !renamed.has(name)) ? new Map() : renamed
}

function isAlike(one: Json, other: Json | undefined): boolean {
  return other !== undefined && equalJson(one, other)
}
