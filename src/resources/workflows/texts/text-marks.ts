import { pointerToken } from '../../../json/json-pointer.ts'
import type { Json, JsonObject } from '../../../json/json.ts'
import {
  fromEntries,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  membersOf,
} from '../../../json/json.ts'
import type { InSlices } from '../../../scheduling/cooperative.ts'
import { Pace } from '../../../scheduling/cooperative.ts'
import { damaged } from '../../documents/damaged.ts'
import type { PayloadPlace } from '../../../versioning/texts/placed-text.ts'
import { isTextPath } from './text-names.ts'

/** In the place of a text: an object of this one key, which names the text's file. */
const FILE = '@svc.file'
/** Around an object that has one of these keys of its own: an object of this one key. */
const QUOTE = '@svc.quote'

/** A marker: where the text of its file is in the data. */
export interface Marker {
  readonly pointer: string
  readonly path: string
}

/**
 * The markers in marked data, in its order. Refuses what cannot be one (`damaged_repository`), naming `file`, which the data is from.
 * The first level is never one.
 */
export function* findMarkers(data: JsonObject, file: string): InSlices<readonly Marker[]> {
  const found: Marker[] = []
  const pace = new Pace()
  yield* among(membersOf(data), '')
  return found

  function* among(members: Iterable<readonly [string | number, Json]>, above: string): InSlices<void> {
    for (const [key, member] of members) {
      if (pace.isDue) yield
      if (typeof member !== 'object') continue
      const pointer = `${above}/${pointerToken(String(key))}`
      if (isJsonArray(member)) yield* among(member.entries(), pointer)
      else if (!isJsonObject(member)) continue
      else if (hasKey(member, FILE)) found.push({ pointer, path: pathIn(member, file) })
      else yield* among(membersOf(unquoted(member, file)), pointer)
    }
  }
}

/** The data with `textOf` its path in the place of each marker, and quoted objects as they are. Refuses as `findMarkers` does. */
export function withTexts(
  data: JsonObject,
  file: string,
  textOf: (path: string) => string,
): InSlices<JsonObject> {
  const pace = new Pace()
  return mapMembers(data, pace, unmark)

  function* unmark(value: Json): InSlices<Json> {
    if (isJsonArray(value)) return yield* mapItems(value, pace, unmark)
    if (!isJsonObject(value)) return value
    if (hasKey(value, FILE)) return textOf(pathIn(value, file))
    return yield* mapMembers(unquoted(value, file), pace, unmark)
  }
}

/** The data with a marker in the place of each text that has a file, and what could be taken for a marker quoted; itself where nothing is. */
export function withMarks(
  data: JsonObject,
  files: Iterable<readonly [PayloadPlace, string]>,
): InSlices<JsonObject> {
  const pace = new Pace()
  const root = new Replacements()
  for (const [{ keys }, path] of files) root.add(keys, path)
  return mapMembers(data, pace, (member, key) => mark(member, root.at(key)))

  function* mark(value: Json, at: Replacements | undefined): InSlices<Json> {
    if (at?.path !== undefined) return { [FILE]: at.path }
    if (isJsonArray(value)) return yield* mapItems(value, pace, (item, index) => mark(item, at?.at(index)))
    if (!isJsonObject(value)) return value
    const marked = yield* mapMembers(value, pace, (member, key) => mark(member, at?.at(key)))
    return hasKey(value, FILE) || hasKey(value, QUOTE) ? { [QUOTE]: marked } : marked
  }
}

/** What is put in the place of a value, or of some that are in it. */
class Replacements {
  path: string | undefined
  readonly #below = new Map<string | number, Replacements>()

  add(keys: readonly (string | number)[], path: string): void {
    let at: Replacements = this
    for (const key of keys) {
      let next = at.#below.get(key)
      if (!next) at.#below.set(key, (next = new Replacements()))
      at = next
    }
    at.path = path
  }

  at(key: string | number): Replacements | undefined {
    return this.#below.get(key)
  }
}

function pathIn(marker: JsonObject, file: string): string {
  const path = getKey(marker, FILE)
  if (keysOf(marker).length > 1 || typeof path !== 'string')
    throw damaged(`${file}: "${FILE}" must be the only key of its object, and hold the path of a file.`)
  if (isTextPath(path)) return path
  throw damaged(
    `${file}: "${FILE}" names ${JSON.stringify(path.slice(0, 200))}, but a text lies below prompt/ or parameters/, in folders and a ` +
      'file of lower case letters, digits, _ and -, and its name ends in .md.',
  )
}

/** The object that a quote stands for, any other as it is. */
function unquoted(object: JsonObject, file: string): JsonObject {
  if (!hasKey(object, QUOTE)) return object
  const quoted = getKey(object, QUOTE)
  if (keysOf(object).length === 1 && isJsonObject(quoted)) return quoted
  throw damaged(`${file}: "${QUOTE}" must be the only key of its object, and hold an object.`)
}

function* mapItems(
  items: readonly Json[],
  pace: Pace,
  map: (item: Json, index: number) => InSlices<Json>,
): InSlices<readonly Json[]> {
  let mapped: Json[] | undefined
  for (const [index, item] of items.entries()) {
    if (pace.isDue) yield
    const now = yield* map(item, index)
    if (now !== item) (mapped ??= [...items])[index] = now
  }
  return mapped ?? items
}

function* mapMembers(
  object: JsonObject,
  pace: Pace,
  map: (member: Json, key: string) => InSlices<Json>,
): InSlices<JsonObject> {
  let isChanged = false
  const members: [string, Json][] = []
  for (const [key, member] of membersOf(object)) {
    if (pace.isDue) yield
    const now = yield* map(member, key)
    if (now !== member) isChanged = true
    members.push([key, now])
  }
  return isChanged ? fromEntries(members) : object
}
