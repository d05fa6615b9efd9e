import { TimeSlice, atOnce } from '../scheduling/cooperative.ts'
import {
  equalJson,
  pointerToken,
  type Json,
  type JsonObject,
  entriesOf,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  membersOf,
} from '../json/json.ts'
import { equalInSlices } from './equal-json.ts'
import { isLight } from '../json/is-light.ts'
import { AlignmentSteps, type Difference, alignMiddles, alignNumbers } from './align-numbers.ts'
import { printJson } from '../json/print-json.ts'
import { stringifyJson } from '../json/stringify-json.ts'

/** An operation of an RFC 6902 patch; `path` is an RFC 6901 pointer. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

/**
 * The RFC 6902 patch (add, remove and replace) that turns `base` into `head` (interface 6.1), exact in all
 * values. Undefined stands for no document. Key order is no difference, as in RFC 6902 itself; nor are two
 * spellings of one number. Arrays whose difference is too large to align are replaced whole, which bounds the
 * work. (rfc6902's createPatch was measured and rejected: each nested array doubles its time, half a minute
 * at 22 levels, and long arrays need cubic memory, which anyone who may commit could exploit.)
 */
export function jsonPatch(base: Json | undefined, head: Json | undefined): JsonPatchOperation[] {
  if (base === undefined || head === undefined) return patchOfOne(base, head)
  const comparison = new Comparison()
  comparison.values(base, head, '')
  return comparison.operations
}

/** The same in slices, for large documents; throws the reason of `stop` once it is aborted. */
export async function patchInSlices(
  base: Json | undefined,
  head: Json | undefined,
  stop?: AbortSignal,
): Promise<JsonPatchOperation[]> {
  if (base === undefined || head === undefined) return patchOfOne(base, head)
  const comparison = new HeavyComparison(new TimeSlice(stop))
  await comparison.heavy(base, head, '')
  return comparison.operations
}

/** An operation of a patch, with the replaced value, if any. */
export interface JsonChange {
  readonly operation: JsonPatchOperation
  readonly before: Json | undefined
}

/**
 * A patch for people to read, computed in about a millisecond. Undefined if a document is too large for that;
 * an array with a long difference is replaced whole.
 */
export function lightChanges(
  base: Json | undefined,
  head: Json | undefined,
): readonly JsonChange[] | undefined {
  if (!isLight(base) || !isLight(head)) return undefined
  const comparison = new LightComparison()
  const isOne = base === undefined || head === undefined
  if (!isOne) comparison.values(base, head, '')
  const operations = isOne ? patchOfOne(base, head) : comparison.operations
  return operations.map((operation) => ({
    operation,
    before: comparison.replacedBy.get(operation),
  }))
}

function patchOfOne(base: Json | undefined, head: Json | undefined): JsonPatchOperation[] {
  if (head !== undefined) return [{ op: 'add', path: '', value: head }]
  return base === undefined ? [] : [{ op: 'remove', path: '' }]
}

class Comparison {
  readonly operations: JsonPatchOperation[] = []
  readonly aligner = new ArrayAligner()

  values(base: Json, head: Json, path: string): void {
    if (isJsonObject(base) && isJsonObject(head)) this.objects(base, head, path)
    else if (isJsonArray(base) && isJsonArray(head)) this.arrays(base, head, path)
    else if (!equalJson(base, head)) this.replaced(base, head, path)
  }

  replaced(_base: Json, head: Json, path: string): void {
    this.operations.push({ op: 'replace', path, value: head })
  }

  objects(base: JsonObject, head: JsonObject, path: string): void {
    for (const [key] of entriesOf(base)) this.gone(head, key, path)
    for (const [key, value] of entriesOf(head)) {
      const member = `${path}/${pointerToken(key)}`
      const old = getKey(base, key)
      if (old === undefined) this.operations.push({ op: 'add', path: member, value })
      else this.values(old, value, member)
    }
  }

  gone(head: JsonObject, key: string, path: string): void {
    if (!hasKey(head, key)) this.operations.push({ op: 'remove', path: `${path}/${pointerToken(key)}` })
  }

  /**
   * Compares items removed and added at one place in pairs, so that an edited message is not replaced whole.
   */
  arrays(base: readonly Json[], head: readonly Json[], path: string): void {
    const hunks = this.align(base, head)
    if (hunks === undefined) {
      if (!equalJson(base, head)) this.replaced(base, head, path)
      return
    }
    for (const hunk of hunks) {
      for (const [old, now, place] of pairsOf(hunk, path)) this.values(old, now, place)
      this.others(hunk, path)
    }
  }

  align(base: readonly Json[], head: readonly Json[]): Hunk[] | undefined {
    return this.aligner.align(base, head)
  }

  /** What a hunk removes or adds beyond the pairs. */
  others({ removed, to, added }: Hunk, path: string): void {
    for (let index = added.length; index < removed.length; index++) {
      this.operations.push({ op: 'remove', path: `${path}/${to + added.length}` })
    }
    added.slice(removed.length).forEach((value, index) => {
      this.operations.push({ op: 'add', path: `${path}/${to + removed.length + index}`, value })
    })
  }
}

/**
 * The items removed and added at one place, in pairs, with their paths. Everything before the hunk already
 * equals the second array, so indexes in it are indexes in the patched array.
 */
function* pairsOf({ removed, to, added }: Hunk, path: string): Generator<readonly [Json, Json, string]> {
  for (let index = 0; index < removed.length && index < added.length; index++) {
    yield [removed[index] as Json, added[index] as Json, `${path}/${to + index}`] // both indexes exist
  }
}

/** A comparison in slices: compares large values member by member, small ones at once. */
class HeavyComparison extends Comparison {
  readonly #slice: TimeSlice

  constructor(slice: TimeSlice) {
    super()
    this.#slice = slice
  }

  async heavy(base: Json, head: Json, path: string): Promise<void> {
    if (isLight(base) && isLight(head)) this.values(base, head, path)
    else if (isJsonObject(base) && isJsonObject(head)) await this.#objects(base, head, path)
    else if (isJsonArray(base) && isJsonArray(head)) await this.#arrays(base, head, path)
    // of different kinds, or texts: quick to compare
    else if (!equalJson(base, head)) this.replaced(base, head, path)
  }

  async #objects(base: JsonObject, head: JsonObject, path: string): Promise<void> {
    await this.#slice.each(membersOf(base), ([key]) => this.gone(head, key, path))
    await this.#slice.each(membersOf(head), ([key, value]) => {
      const member = `${path}/${pointerToken(key)}`
      const old = getKey(base, key)
      if (old === undefined) this.operations.push({ op: 'add', path: member, value })
      else if (isLight(old) && isLight(value)) this.values(old, value, member)
      else return this.heavy(old, value, member)
      return undefined
    })
  }

  async #arrays(base: readonly Json[], head: readonly Json[], path: string): Promise<void> {
    const hunks = await this.aligner.alignHeavy(base, head, this.#slice)
    if (hunks === undefined) {
      if (!(await equalInSlices(base, head, this.#slice))) this.replaced(base, head, path)
      return
    }
    for (const hunk of hunks) {
      await this.#slice.each(pairsOf(hunk, path), ([old, now, place]) => {
        if (!isLight(old) || !isLight(now)) return this.heavy(old, now, place)
        this.values(old, now, place)
        return undefined
      })
      this.others(hunk, path)
    }
  }
}

/** A comparison with bounded work that keeps replaced values. */
class LightComparison extends Comparison {
  readonly replacedBy = new Map<JsonPatchOperation, Json>()

  constructor() {
    super()
    this.aligner.steps = 10_000
    this.aligner.text = 1_000_000
  }

  override replaced(base: Json, head: Json, path: string): void {
    const operation = { op: 'replace', path, value: head } as const
    this.operations.push(operation)
    this.replacedBy.set(operation, base)
  }

  /** Usually one item has changed, which can be found without the items' texts. */
  override align(base: readonly Json[], head: readonly Json[]): Hunk[] | undefined {
    const shorter = Math.min(base.length, head.length)
    let start = 0
    while (start < shorter && equalJson(base[start] as Json, head[start] as Json)) start++
    let end = 0
    while (end < shorter - start && equalJson(base.at(-1 - end) as Json, head.at(-1 - end) as Json)) end++
    const removed = base.slice(start, base.length - end)
    const added = head.slice(start, head.length - end)
    if (removed.length + added.length === 0) return []
    const isOne = removed.length === 0 || added.length === 0 || removed.length + added.length === 2
    if (isOne) return [{ removed, to: start, added }]
    return super.align(removed, added)?.map((hunk) => ({ ...hunk, to: hunk.to + start }))
  }

  override arrays(base: readonly Json[], head: readonly Json[], path: string): void {
    if (this.aligner.text > 0) super.arrays(base, head, path)
    else if (!equalJson(base, head)) this.replaced(base, head, path)
  }
}

/**
 * A place where two arrays differ: `removed` was replaced by `added`, which begins at index `to` of the
 * second array.
 */
interface Hunk {
  readonly removed: readonly Json[]
  readonly to: number
  readonly added: readonly Json[]
}

/**
 * Aligns pairs of arrays until a budget is spent. Time and memory grow with the square of the number of
 * differing items; the budget of a million steps is a few tenths of a second.
 */
class ArrayAligner {
  /** The remaining budget, in comparisons of two items. */
  steps = 1_000_000
  /** The remaining text of items that may be printed: nested arrays are printed once per level. */
  text = 100_000_000
  /** A separate budget for steps along equal items. */
  readonly #alike = new AlignmentSteps(20_000_000)

  /**
   * The places where the arrays differ, in order; undefined if finding them exceeds the budget. Items are
   * equal if their texts are.
   */
  align(base: readonly Json[], head: readonly Json[]): Hunk[] | undefined {
    const numbers = new Map<string, number>()
    const numbered = (items: readonly Json[]): number[] =>
      items.map((item) => this.#number(stringifyJson(item), numbers))
    const limit = this.#limit()
    const work = alignNumbers(numbered(base), numbered(head), limit, this.#alike)
    return this.#hunks(base, head, limit, atOnce(work))
  }

  /** The same for large arrays, in slices. */
  async alignHeavy(
    base: readonly Json[],
    head: readonly Json[],
    slice: TimeSlice,
  ): Promise<Hunk[] | undefined> {
    const numbers = new Map<string, number>()
    const numbered = async (items: readonly Json[]): Promise<number[]> => {
      const list: number[] = []
      await slice.each(items, (item) => {
        if (this.text < 0) return undefined
        const printed = printJson(item)
        if (typeof printed === 'string') list.push(this.#number(printed, numbers))
        else return printed.then((bytes) => list.push(this.#number(bytes.toString(), numbers)))
        return undefined
      })
      return list
    }
    const [from, to] = [await numbered(base), await numbered(head)]
    if (this.text < 0) return undefined
    const limit = this.#limit()
    return this.#hunks(base, head, limit, await slice.run(alignMiddles(from, to, limit, this.#alike)))
  }

  #limit(): number {
    return Math.floor(Math.sqrt(Math.max(0, this.steps)))
  }

  /** Numbers items so that equal texts have equal numbers, and comparing two items takes one step. */
  #number(text: string, numbers: Map<string, number>): number {
    this.text -= text.length
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  }

  #hunks(
    base: readonly Json[],
    head: readonly Json[],
    limit: number,
    differences: readonly Difference[] | undefined,
  ): Hunk[] | undefined {
    const edits = differences?.reduce((sum, { removed, added }) => sum + removed + added, 0)
    this.steps -= (edits === undefined ? limit : Math.min(limit, edits)) ** 2
    return differences?.map(({ from, removed, to, added }) => ({
      removed: base.slice(from, from + removed),
      to,
      added: head.slice(to, to + added),
    }))
  }
}
