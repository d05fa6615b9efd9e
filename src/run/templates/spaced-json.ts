import { ExactNumber, type Json, type JsonObject, entriesOf, isJsonArray } from '../../base/json.ts'

/** The layout of JSON text, with the options of Python's `json.dumps`. */
export interface JsonLayout {
  /** The separator between items; defaults to `, `, or `,` with an indentation. */
  readonly itemSeparator?: string | undefined
  /** The separator between a key and its value; defaults to `: `. */
  readonly keySeparator?: string | undefined
  /** Spaces per level, with every item on its own line; one line by default. */
  readonly indent?: number | undefined
  readonly sortKeys?: boolean | undefined
  /** Writes non-ASCII characters as `\uXXXX`. */
  readonly ensureAscii?: boolean | undefined
}

/**
 * The JSON text of a value as templates show it (interface 11.21): keys in their order, a space after each
 * comma and colon, non-ASCII characters unescaped. `spend` receives the length of each piece before the next
 * is built, and may throw.
 */
export function spacedJson(
  value: Json,
  layout: JsonLayout = {},
  spend: (characters: number) => void = free,
): string {
  return new Writing(layout, spend).text(value, 0)
}

function free(): void {}

class Writing {
  readonly #layout: JsonLayout
  readonly #spend: (characters: number) => void
  readonly #itemSeparator: string
  readonly #keySeparator: string

  constructor(layout: JsonLayout, spend: (characters: number) => void) {
    this.#layout = layout
    this.#spend = spend
    this.#itemSeparator = layout.itemSeparator ?? (layout.indent === undefined ? ', ' : ',')
    this.#keySeparator = layout.keySeparator ?? ': '
  }

  text(value: Json, depth: number): string {
    if (typeof value === 'string') return this.#spent(this.#quoted(value))
    if (typeof value !== 'object' || value === null) return this.#spent(String(value))
    if (value instanceof ExactNumber) return this.#spent(value.literal)
    if (isJsonArray(value)) {
      return this.#enclosed(
        '[',
        ']',
        depth,
        value.map((item) => () => this.text(item, depth + 1)),
      )
    }
    const members = this.#membersOf(value)
    return this.#enclosed(
      '{',
      '}',
      depth,
      members.map(
        ([key, member]) =>
          () =>
            this.#spent(this.#quoted(key)) + this.#keySeparator + this.text(member, depth + 1),
      ),
    )
  }

  #enclosed(open: string, close: string, depth: number, items: readonly (() => string)[]): string {
    if (items.length === 0) return open + close
    const margin = this.#marginAt(depth + 1)
    const texts = items.map((item) => {
      this.#spend(this.#itemSeparator.length + this.#keySeparator.length + margin.length)
      return margin + item()
    })
    return open + texts.join(this.#itemSeparator) + this.#marginAt(depth) + close
  }

  #marginAt(depth: number): string {
    const { indent } = this.#layout
    return indent === undefined ? '' : '\n' + ' '.repeat(indent * depth)
  }

  #membersOf(object: JsonObject): [string, Json][] {
    const members = entriesOf(object)
    return this.#layout.sortKeys ? members.sort(([a], [b]) => (a < b ? -1 : 1)) : members
  }

  #quoted(text: string): string {
    const quoted = JSON.stringify(text)
    if (!this.#layout.ensureAscii) return quoted
    return quoted.replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  }

  #spent(text: string): string {
    this.#spend(text.length)
    return text
  }
}
