import { BoundedCache } from '../../bounded-cache.ts'
import type { ReferenceTexts } from '../reference-texts.ts'

/**
 * Tells references that recur from those that come but once, as an evaluation's, which name the testcase of each row: a table of these
 * would cost more than it saves. To be wrong costs room, and loses nothing.
 */
export class RecurringReferences {
  readonly #texts = new BoundedCache<string, string>(REMEMBERED, (text) => text.length)

  /** Whether they came before, as far as is remembered. */
  met({ members }: ReferenceTexts): boolean {
    if (this.#texts.get(members) !== undefined) return true
    this.#texts.set(members, members)
    return false
  }
}

/** So many characters. */
const REMEMBERED = 4 * 1024 * 1024
