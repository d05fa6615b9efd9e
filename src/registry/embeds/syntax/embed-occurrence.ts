import { groupBy, type Json } from '../../../base/json.ts'
import type { ResolutionContext } from '../resolution-context.ts'
import { valueAt } from '../select-value.ts'
import type { EmbedLocation, EmbedToken } from './embed-token.ts'

/** A value that an embed inserts, and the context of tokens in it. */
export interface Brought {
  readonly value: Json
  readonly here: ResolutionContext
}

/** The content of a place after a pass; with `standingOf` it may contain more tokens, in that context. */
export interface OccurrenceOutcome {
  readonly value: Json
  readonly standingOf?: (token: EmbedToken) => ResolutionContext
}

/** A place with tokens: an object embed, or a string with tokens of forms B and C. */
export class EmbedOccurrence {
  readonly location: EmbedLocation
  /** In text order. */
  readonly tokens: readonly EmbedToken[]
  readonly #before: Json
  readonly #brought = new Map<EmbedToken, Brought>()
  #failed = false
  #placeholder: string | undefined

  private constructor(location: EmbedLocation, tokens: readonly EmbedToken[], before: Json) {
    this.location = location
    this.tokens = tokens
    this.#before = before
  }

  /** The places of a document's tokens, in document order. */
  static all(document: Json, tokens: readonly EmbedToken[]): EmbedOccurrence[] {
    // the tokens of one string share one location
    return [...groupBy(tokens, ({ location }) => location)].map(
      ([location, here]) => new EmbedOccurrence(location, here, valueAt(document, location)),
    )
  }

  /** Whether to resolve its remaining tokens; false after one failed. */
  get isOpen(): boolean {
    return !this.#failed
  }

  bring(token: EmbedToken, brought: Brought): void {
    this.#brought.set(token, brought)
  }

  /** Leaves unresolved tokens unchanged, or replaces everything by a placeholder (interface 10.12). */
  fail(placeholder: string | undefined): void {
    this.#failed = true
    this.#placeholder = placeholder
  }

  outcome(): OccurrenceOutcome {
    if (this.#placeholder !== undefined) return { value: this.#placeholder }
    if (typeof this.#before === 'string') return this.#joined(this.#before)
    const [brought] = this.#brought.values()
    return brought ? { value: brought.value, standingOf: () => brought.here } : { value: this.#before }
  }

  /** Replaces the tokens at their positions in `before`, so that inserted text that looks like a token is left alone. */
  #joined(before: string): OccurrenceOutcome {
    const pieces: Piece[] = []
    let text = ''
    let from = 0
    for (const token of this.tokens) {
      const brought = this.#brought.get(token)
      if (token.form === 'object' || !brought) continue
      text += before.slice(from, token.offset)
      const begin = text.length
      text += String(brought.value) // forms B and C insert text
      from = token.offset + token.text.length
      pieces.push({ begin, end: text.length, here: brought.here })
    }
    text += before.slice(from)
    return this.#failed ? { value: text } : { value: text, standingOf: (token) => standingAt(pieces, token) }
  }
}

interface Piece {
  readonly begin: number
  readonly end: number
  readonly here: ResolutionContext
}

/** The context of a token found after a pass; at least a part of it comes from an inserted piece. */
function standingAt(pieces: readonly Piece[], token: EmbedToken): ResolutionContext {
  const [begin, end] =
    token.form === 'object' ? [0, Infinity] : [token.offset, token.offset + token.text.length]
  const piece = pieces.find((it) => it.end > begin && it.begin < end) ?? pieces[0]
  if (!piece) throw new Error('a string was looked at again in which nothing has changed')
  return piece.here
}
