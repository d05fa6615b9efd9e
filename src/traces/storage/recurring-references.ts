import { recentlyUsed } from '../../cache/recently-used.ts'
import type { ReferenceTexts } from '../recording/reference-texts.ts'

/**
 * Tells references that recur from those that come but once, as an evaluation's, which name the testcase of each row: a table of these
 * would cost more than it saves. To be wrong costs room, and loses nothing.
 */
export class RecurringReferences {
  readonly #lately = recentlyUsed<string, ReferenceTexts>(
    REMEMBERED,
    ({ members, list }) => members.length + list.length,
  )

  /** Those that came before and say the same, the same object each time; undefined, as far as is remembered, at the first. */
  before(texts: ReferenceTexts): ReferenceTexts | undefined {
    const known = this.#lately.get(texts.members)
    if (!known) this.#lately.set(texts.members, texts)
    return known
  }
}

/** So many characters. */
const REMEMBERED = 2 * 1024 * 1024
