import type { TimeSlice } from '../../scheduling/cooperative.ts'
import { atOnce } from '../../scheduling/cooperative.ts'
import { AlignmentSteps, type Difference, alignMiddles, alignNumbers } from './align-numbers.ts'
import type { Json } from '../json.ts'
import { printJson } from '../print-json.ts'
import { stringifyJson } from '../stringify-json.ts'

/** One place where two arrays differ: `removed` gave way to `added`, which begin at index `to` of the second array. */
export interface Hunk {
  readonly removed: readonly Json[]
  readonly to: number
  readonly added: readonly Json[]
}

/**
 * Finds what two arrays have in common, for any number of pairs of arrays, until a budget is spent. Time and memory grow
 * with the square of the number of differing items; the budget of a million steps is some tenths of a second.
 */
export class ArrayAligner {
  /** What is left of the budget, in steps of comparing two items. */
  steps = 1_000_000
  /** How much text of items may still be made: arrays in arrays are looked at once a level. */
  text = 100_000_000
  /** Of what is spent beside: steps along items that are alike. */
  readonly #alike = new AlignmentSteps(20_000_000)

  /**
   * The places where the arrays differ, in order; undefined if finding them takes more than is left. Items are the same
   * when their texts are.
   */
  align(base: readonly Json[], head: readonly Json[]): Hunk[] | undefined {
    const numbers = new Map<string, number>()
    const numbered = (items: readonly Json[]): number[] =>
      items.map((item) => this.#number(stringifyJson(item), numbers))
    const limit = this.#limit()
    const work = alignNumbers(numbered(base), numbered(head), limit, this.#alike)
    return this.#hunks(base, head, limit, atOnce(work))
  }

  /** The same of heavy arrays, in slices. */
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

  /** A number for each item, the same for the same text, so that comparing two items takes one step. */
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
