/**
 * Why a text is not JSON that this service can store: `syntax` is not JSON at all (interface 3.3: 400); the
 * others are JSON that would be changed silently (interface 2.9: 422), is nested too deeply, or has too many
 * values.
 */
export type JsonTextProblem = 'syntax' | 'duplicate_key' | 'lone_surrogate' | 'too_deep' | 'too_many_values'

const NEWLINE = 0x0a

/** A refused JSON text: what is wrong, and where, as a sentence. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError'
  readonly kind: JsonTextProblem
  /** Counted from 1. */
  readonly line: number
  /** Counted from 1, in UTF-16 units of its line. */
  readonly column: number
  /** The path from the root to the value that was being read; for a repeated key, to its member. */
  readonly path: readonly (string | number)[]

  /**
   * `sentence` says what is wrong and what to do; the place is put before it. `offset` counts UTF-16 units of
   * `text`.
   */
  constructor(
    kind: JsonTextProblem,
    sentence: string,
    text: string,
    offset: number,
    path: readonly (string | number)[],
  ) {
    // one by one: an array of lines can take a hundred times the memory of the text
    let line = 1
    let start = 0
    const end = Math.min(offset, text.length)
    for (let at = 0; at < end; at++) {
      if (text.charCodeAt(at) !== NEWLINE) continue
      line++
      start = at + 1
    }
    const column = end - start + 1
    const place = path.length === 0 ? '' : ` (in ${path.join('.')})`
    super(`JSON line ${line}, column ${column}${place}: ${sentence}`)
    this.kind = kind
    this.line = line
    this.column = column
    this.path = path
  }
}
