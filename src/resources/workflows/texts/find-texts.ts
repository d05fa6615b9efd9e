import { pointerToken } from '../../../json/json-pointer.ts'
import type { Json, JsonObject } from '../../../json/json.ts'
import { getKey, isJsonArray, isJsonObject, membersOf } from '../../../json/json.ts'
import type { InSlices } from '../../../scheduling/cooperative.ts'
import { Pace } from '../../../scheduling/cooperative.ts'
import type { PlacedText, PayloadPlace } from '../../../versioning/texts/placed-text.ts'

/** Longer strings have a file, in code points … */
const LONGEST_INLINE = 120

/** … but values of these keys never: they say where or what something is, and nobody edits them as text. */
const NEVER = new Set<string | number>(['url', 'uri', 'role', 'name', 'id', 'type'])

/**
 * The strings below `data.parameters` that belong in files, in the order of `data`: what messages say, every other one that is long or has
 * several lines, and what is at one of the pointers `kept`.
 */
export function* findTexts(
  data: JsonObject,
  kept: ReadonlySet<string> = new Set(),
): InSlices<readonly PlacedText[]> {
  const search = new TextSearch(kept)
  const parameters = getKey(data, 'parameters')
  if (isJsonObject(parameters))
    yield* search.within(parameters, { keys: ['parameters'], pointer: '/parameters' })
  return search.found
}

class TextSearch {
  readonly found: PlacedText[] = []
  readonly #kept: ReadonlySet<string>
  readonly #pace = new Pace()

  constructor(kept: ReadonlySet<string>) {
    this.#kept = kept
  }

  /** Looks through an array or an object, which itself is no message. */
  *within(value: Json, at: PayloadPlace): InSlices<void> {
    const areMessages = at.keys.at(-1) === 'messages' && isJsonArray(value)
    for (const [key, member] of membersAt(value)) {
      if (this.#pace.isDue) yield
      if (areMessages && isJsonObject(member) && getKey(member, 'role') !== undefined)
        yield* this.#message(member, placeOf(at, key), at.pointer)
      else yield* this.#member(key, member, at)
    }
  }

  *#member(key: string | number, member: Json, at: PayloadPlace): InSlices<void> {
    if (typeof member === 'string') this.#string(key, member, at)
    else if (isJsonArray(member) || isJsonObject(member)) yield* this.within(member, placeOf(at, key))
  }

  #string(key: string | number, text: string, at: PayloadPlace): void {
    if (isNeverText(key) || !(isLongText(text) || this.#kept.size > 0)) return
    const place = placeOf(at, key)
    if (isLongText(text) || this.#kept.has(place.pointer)) this.found.push({ ...place, text })
  }

  *#message(message: JsonObject, at: PayloadPlace, array: string): InSlices<void> {
    const role = getKey(message, 'role')
    const said = { array, role: typeof role === 'string' ? role : undefined }
    for (const [key, member] of membersOf(message)) {
      if (key !== 'content') yield* this.#member(key, member, at)
      else if (typeof member === 'string')
        this.found.push({ ...placeOf(at, key), message: said, text: member })
      else if (isJsonArray(member)) yield* this.#parts(member, placeOf(at, key), said)
      else yield* this.#member(key, member, at)
    }
  }

  *#parts(
    parts: readonly Json[],
    at: PayloadPlace,
    message: NonNullable<PayloadPlace['message']>,
  ): InSlices<void> {
    for (const [index, part] of parts.entries()) {
      if (this.#pace.isDue) yield
      const text = isJsonObject(part) && getKey(part, 'type') === 'text' ? getKey(part, 'text') : undefined
      if (typeof text === 'string') this.found.push({ ...placeOf(placeOf(at, index), 'text'), message, text })
      else yield* this.#member(index, part, at)
    }
  }
}

function membersAt(value: Json): Iterable<readonly [string | number, Json]> {
  if (isJsonArray(value)) return value.entries()
  return isJsonObject(value) ? membersOf(value) : []
}

function placeOf(at: PayloadPlace, key: string | number): PayloadPlace {
  return { keys: [...at.keys, key], pointer: `${at.pointer}/${pointerToken(String(key))}` }
}

/** Whether a string is a text wherever it stands but for the keys below: of several lines, or long. */
export function isLongText(text: string): boolean {
  if (text.includes('\n')) return true
  if (text.length <= LONGEST_INLINE) return false
  // A code point is one or two units.
  return text.length > 2 * LONGEST_INLINE || [...text].length > LONGEST_INLINE
}

/** Whether what has this key is never taken for a text. */
export function isNeverText(key: string | number): boolean {
  return NEVER.has(key)
}
