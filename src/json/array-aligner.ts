import { diffArrays } from 'diff'
import type { Json } from './json.ts'
import { stringifyJson } from './stringify-json.ts'

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

  /**
   * The places where the arrays differ, in order (some may be empty on both sides); undefined if finding them takes
   * more steps than are left. Items are the same when their texts are.
   */
  align(base: readonly Json[], head: readonly Json[]): Hunk[] | undefined {
    const numbers = new Map<string, number>()
    const limit = Math.floor(Math.sqrt(this.steps))
    const changes = diffArrays(numbered(base, numbers), numbered(head, numbers), { maxEditLength: limit })
    if (changes === undefined) {
      this.steps -= limit ** 2
      return undefined
    }
    const hunks: Hunk[] = []
    let [from, to] = [0, 0]
    // where the last common run ended; the hunk being gathered begins there
    let [fromStart, toStart] = [0, 0]
    const close = (): void => {
      hunks.push({ removed: base.slice(fromStart, from), to: toStart, added: head.slice(toStart, to) })
    }
    let edits = 0
    for (const change of changes) {
      const common = !change.added && !change.removed
      if (common) close()
      else edits += change.count
      if (!change.added) from += change.count
      if (!change.removed) to += change.count
      if (common) [fromStart, toStart] = [from, to]
    }
    close()
    this.steps -= edits ** 2
    return hunks
  }
}

/** A number for each item, the same for the same text, so that comparing two items takes one step. */
function numbered(items: readonly Json[], numbers: Map<string, number>): number[] {
  return items.map((item) => {
    const text = stringifyJson(item)
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  })
}
