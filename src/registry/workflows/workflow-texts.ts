import { TimeSlice } from '../../base/scheduling.ts'
import { createHash } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import type { TreeEntry } from '../../git/objects.ts'
import {
  pointerToken,
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  membersAt,
  withoutKey,
} from '../../base/json.ts'
import type { ApartFrom, FileReader, KnownDocument, SetApart } from '../payload/document-family.ts'
import { FolderTree, type ObjectReader, type ObjectSink, withFiles } from '../payload/tree-files.ts'
import { isDeviceName } from '../slugs/slug.ts'
import { matchTexts } from '../texts/match-texts.ts'
import type { PlacedText } from '../texts/placed-text.ts'
import {
  damaged,
  decodeJsonFile,
  decodeText,
  FORMAT_KEY,
  formatOf,
  unknownFormat,
} from '../documents/stored-json.ts'

/** The file with a workflow's data, except a source and texts in files of their own (interface 15.5). */
export const WORKFLOW_DATA_FILE = 'data.json'

/** The folders for texts, in the root of a commit's tree. */
export const TEXT_FOLDERS: readonly string[] = ['prompt', 'parameters']

/** The version of the format of texts in files (interface 7.16). */
const TEXT_FORMAT = 2

/** The maximum number of text files in a revision. */
const MAX_TEXTS = 256

/** A string with more code points than this has a file … */
const MAX_INLINE = 120

/** … but never a value of these keys: nobody edits a place or a type as text. */
export const NEVER_TEXTS: ReadonlySet<string | number> = new Set(['url', 'uri', 'role', 'name', 'id', 'type'])

const NONE: ReadonlySet<string> = new Set()

/**
 * The strings below `data.parameters` that have files, in the order of `data`: the texts of messages, every other string that is long or has
 * several lines, and those at the pointers in `kept`.
 */
export function findTexts(data: JsonObject, kept: Pick<Set<string>, 'has'> = NONE): readonly PlacedText[] {
  const found: PlacedText[] = []
  const parameters = getKey(data, 'parameters')
  const keys: (string | number)[] = ['parameters']
  if (isJsonObject(parameters)) look(parameters, '/parameters')
  return found

  /** `message` is passed for a message, and for the parts of its content. */
  function look(within: Json, pointer: string, message?: PlacedText['message']): void {
    const areMessages = isJsonArray(within) && keys.at(-1) === 'messages'
    for (const [key, member] of membersAt(within)) {
      if (typeof member !== 'string' && typeof member !== 'object') continue
      const at = pointerTo(pointer, key)
      keys.push(key)
      if (typeof member === 'string') {
        const said = key === 'content' ? message : undefined
        if (said || (!NEVER_TEXTS.has(key) && (isLongText(member) || kept.has(at))))
          found.push({ keys: [...keys], pointer: at, message: said, text: member })
      } else if (isJsonArray(member)) look(member, at, key === 'content' ? message : undefined)
      else if (isJsonObject(member)) {
        const role = areMessages ? getKey(member, 'role') : undefined
        const text = message && isJsonArray(within) ? textOfPart(member) : undefined
        if (role !== undefined)
          look(member, at, { array: pointer, role: typeof role === 'string' ? role : undefined })
        else if (text === undefined) look(member, at)
        else found.push({ keys: [...keys, 'text'], pointer: pointerTo(at, 'text'), message, text })
      }
      keys.pop()
    }
  }
}

function textOfPart(part: JsonObject): string | undefined {
  const text = getKey(part, 'type') === 'text' ? getKey(part, 'text') : undefined
  return typeof text === 'string' ? text : undefined
}

/** Whether a string has a file under any other key: it has several lines, or is long. */
export function isLongText(text: string): boolean {
  // A code point is one or two UTF-16 units.
  const isLong = text.length > MAX_INLINE && (text.length > 2 * MAX_INLINE || [...text].length > MAX_INLINE)
  return isLong || text.includes('\n')
}

function pointerTo(pointer: string, key: string | number): string {
  return `${pointer}/${typeof key === 'number' ? key : pointerToken(key)}`
}

/** Replaces a text: an object with only this key, whose value is the path of the text's file. */
const FILE = '@svc.file'
/** Wraps an object that has one of these two keys itself: an object with only this key. */
const QUOTE = '@svc.quote'

/**
 * The value at a pointer with a marker in place of each text that has a file. An object that looks like a marker is wrapped. The same value if
 * nothing changes. The data itself, at '', is never wrapped.
 */
function marked<T extends Json>(
  value: T,
  pointer: string,
  files: ReadonlyMap<string, string>,
): T | JsonObject {
  if (typeof value === 'string') {
    const path = files.get(pointer)
    return path === undefined ? value : { [FILE]: path }
  }
  if (typeof value !== 'object') return value
  const inner = withMembers(value, (member, key) => marked(member, pointerTo(pointer, key), files))
  const isLikeMarker = pointer !== '' && isJsonObject(value) && (hasKey(value, FILE) || hasKey(value, QUOTE))
  return isLikeMarker ? { [QUOTE]: inner } : inner
}

/** The value with changed members; the same value if no member changes. */
function withMembers<T extends Json>(value: T, change: (member: Json, key: string | number) => Json): T {
  const members: [string, Json][] = []
  let isChanged = false
  for (const [key, member] of membersAt(value)) {
    const now = change(member, key)
    isChanged ||= now !== member
    members.push([String(key), now])
  }
  if (!isChanged) return value
  // The result has the same type: an array or an object.
  return (isJsonArray(value) ? members.map(([, item]) => item) : fromEntries(members)) as T
}

/**
 * The value at a pointer with `textOf` in place of each marker, and wrapped objects unwrapped. Refuses an invalid marker with
 * `damaged_repository`, naming `file`, from which the value is. The data itself is never a marker.
 */
function unmarked<T extends Json>(
  value: T,
  pointer: string,
  file: string,
  textOf: (path: string, pointer: string) => string,
): T {
  return withMembers(value, (member, key) => {
    if (typeof member !== 'object') return member
    const at = pointerTo(pointer, key)
    if (!isJsonObject(member)) return unmarked(member, at, file, textOf)
    return hasKey(member, FILE)
      ? textOf(pathIn(member, file), at)
      : unmarked(unquoted(member, file), at, file, textOf)
  })
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

/** The content of a wrapped object; any other object unchanged. */
function unquoted(object: JsonObject, file: string): JsonObject {
  if (!hasKey(object, QUOTE)) return object
  const quoted = getKey(object, QUOTE)
  if (keysOf(object).length === 1 && isJsonObject(quoted)) return quoted
  throw damaged(`${file}: "${QUOTE}" must be the only key of its object, and hold an object.`)
}

/**
 * The data as it was sent, from stored data with markers and the files of its texts (interface 7.16); `read` answers the bytes of a file, or
 * undefined if there is none. Data without the format key is returned unchanged. Refuses unreadable data with `damaged_repository`, naming `file`
 * or the text's file, and a later format with `unsupported_format`.
 */
export async function readTexts(file: string, stored: JsonObject, read: FileReader): Promise<JsonObject> {
  const pointers = pointersIn(file, stored)
  if (!pointers) return stored
  const texts = new Map<string, string>()
  for (const [path, at] of pointers) {
    const bytes = await read(path, at)
    if (!bytes) throw damaged(`${file} says that a text is in ${path}, but there is no such file.`)
    const text = decodeText(path, bytes, true)
    // A line feed was added at the end of the file when it was written.
    texts.set(path, text.endsWith('\n') ? text.slice(0, -1) : text)
  }
  return unmarked(withoutKey(stored, FORMAT_KEY), '', file, (path) => texts.get(path) ?? '')
}

/** The JSON Pointers of the markers for each file; undefined for data without markers. Refuses as `readTexts` does. */
export function pointersIn(
  file: string,
  stored: JsonObject,
): ReadonlyMap<string, readonly string[]> | undefined {
  const format = formatOf(stored)
  if (format === undefined) return undefined
  if (format !== String(TEXT_FORMAT)) throw unknownFormat(file, format)
  const pointers = new Map<string, string[]>()
  unmarked(stored, '', file, (path, pointer) => {
    const known = pointers.get(path)
    if (known) known.push(pointer)
    else pointers.set(path, [pointer])
    return ''
  })
  if (pointers.size <= MAX_TEXTS) return pointers
  throw damaged(`${file} names ${pointers.size} files; the texts of a revision lie in at most ${MAX_TEXTS}.`)
}

/** Control characters that git shows badly, or because of which it treats a file as binary. */
const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

/**
 * Writes the texts of a workflow's data into files, onto the root of the parent's tree (interface 7.16). The file names depend only on the data
 * and that tree: a text keeps its file even if it moves. A text from another revision, whose root is `other`, gets the file that it has there, if
 * that is free.
 */
export async function writeTexts(
  target: ObjectReader & ObjectSink,
  data: JsonObject,
  from: ApartFrom,
): Promise<SetApart> {
  // Each step runs without a pause. All steps together would delay other requests for too long, if the data is a mebibyte of short texts.
  const slice = new TimeSlice()
  const { parent, before, maxBytes } = from
  const isThere = parent && (parent.entries === before || holdsSame(parent.entries, before))
  const earlier = (isThere && parent.known) || (await readEarlier(target, before, maxBytes))
  const chosen = await chooseFiles(data, earlier, target, from, slice)
  const changes = new Map<string, Pick<TreeEntry, 'mode' | 'oid'> | undefined>()
  for (const path of earlier?.files.values() ?? []) changes.set(path, undefined)
  const files = new Map<string, string>()
  let size = 0
  for (const [{ pointer, text }, { path, isSame, entry }] of chosen) {
    const bytes = Buffer.from(`${text}\n`)
    size += bytes.length
    files.set(pointer, path)
    // The file of an unchanged text stays as it is.
    if (!isSame || !changes.delete(path))
      changes.set(path, entry ?? { mode: '100644', oid: target.write('blob', bytes) })
    await slice.pause()
  }
  const left = marked(data, '', files)
  await slice.pause()
  const folders = before.filter(({ name }) => TEXT_FOLDERS.includes(name))
  return {
    data: left === data ? data : fromEntries([[FORMAT_KEY, TEXT_FORMAT], ...entriesOf(left)]),
    entries: await withFiles(target, folders, changes),
    files,
    size,
  }
}

/** Whether two roots have the same files of a workflow's data and texts. */
function holdsSame(entries: readonly TreeEntry[], others: readonly TreeEntry[]): boolean {
  return [WORKFLOW_DATA_FILE, ...TEXT_FOLDERS].every((name) => {
    const [one, other] = [entries, others].map((root) => root.find((entry) => entry.name === name))
    return one?.oid === other?.oid && one?.mode === other?.mode
  })
}

/** A text of another revision with its file, or with the file that it would have. */
interface EarlierText extends PlacedText {
  readonly path: string
}

/** Where a text is put. */
interface ChosenFile {
  readonly path: string
  /** Whether the text is unchanged in this file. */
  readonly isSame?: boolean
  /** The entry of an equal file in another revision. */
  readonly entry?: TreeEntry | undefined
}

type Chosen = Map<PlacedText, ChosenFile>

/**
 * Chooses the file of each text, up to the maximum number: first for texts that continue one with a file, then for those from another revision,
 * then for new ones. If the earlier revision has no text files, the names that its files would have are used.
 */
async function chooseFiles(
  data: JsonObject,
  earlier: KnownDocument | undefined,
  target: ObjectReader,
  from: ApartFrom,
  slice: TimeSlice,
): Promise<Chosen> {
  const texts =
    earlier?.files.size === 0 ? await wouldBeTexts(earlier, target, from, slice) : textsIn(earlier)
  const { other, maxBytes } = from
  const taken = other ? textsIn(other.known ?? (await readEarlier(target, other.entries, maxBytes))) : []
  await slice.pause()
  const kept = earlier && new Set([...texts, ...taken].map(({ pointer }) => pointer))
  const found = findTexts(data, kept)
  await slice.pause()
  const chosen: Chosen = new Map()
  for (const [text, { path, text: was }] of await slice.run(matchTexts(found, texts))) {
    const isSame = text.text === was
    if (isSame || !ODD.test(text.text)) chosen.set(text, { path, isSame })
  }
  if (chosen.size < found.length)
    await chooseNewFiles(found, chosen, { ...from, target, earlier, taken, slice })
  return chosen
}

/** The texts of earlier data that have files. If two markers name one file, the first has it. */
function textsIn(earlier: KnownDocument | undefined): EarlierText[] {
  const texts: EarlierText[] = []
  if (!earlier || earlier.files.size === 0) return texts
  const left = new Set(earlier.files.values())
  for (const text of findTexts(earlier.data, earlier.files)) {
    const path = earlier.files.get(text.pointer)
    if (path !== undefined && left.delete(path)) texts.push({ ...text, path })
  }
  return texts
}

async function wouldBeTexts(
  { data }: KnownDocument,
  target: ObjectReader,
  from: ApartFrom,
  slice: TimeSlice,
): Promise<EarlierText[]> {
  const would = await chooseFiles(data, undefined, target, { ...from, other: undefined }, slice)
  return Array.from(would, ([text, { path }]) => ({ ...text, path }))
}

/**
 * Reads the data of a tree and the paths of its texts; undefined if there is none, or it is unreadable. Data larger than `maxBytes` is not
 * compared: the result is empty.
 */
async function readEarlier(
  source: ObjectReader,
  entries: readonly TreeEntry[],
  maxBytes: number,
): Promise<KnownDocument | undefined> {
  const tree = new FolderTree(source, entries)
  const bytes = await tree.read(WORKFLOW_DATA_FILE)
  if (!bytes || bytes.length > maxBytes) return undefined
  try {
    let room = maxBytes - bytes.length
    const files = new Map<string, string>()
    const stored = decodeJsonFile(WORKFLOW_DATA_FILE, bytes, "a workflow's data")
    const data = await readTexts(WORKFLOW_DATA_FILE, stored, async (path, pointers = []) => {
      for (const pointer of pointers) files.set(pointer, path)
      const text = room < 0 ? undefined : await tree.read(path)
      room -= (text?.length ?? 0) * pointers.length
      return room < 0 ? Buffer.alloc(0) : text
    })
    return { data: room < 0 ? {} : data, files }
  } catch (error) {
    const isUnreadable =
      error instanceof Refusal && (error.code === 'damaged_repository' || error.code === 'unsupported_format')
    // The next commit replaces data that plain git broke or a later server wrote. Its files then belong to no text.
    if (isUnreadable) return undefined
    throw error
  }
}

/** The facts on which the choice of new files depends. */
interface NewFiles extends Pick<ApartFrom, 'before' | 'other'> {
  readonly target: ObjectReader
  readonly earlier: KnownDocument | undefined
  readonly taken: readonly EarlierText[]
  readonly slice: TimeSlice
}

/** Chooses files for the texts without one, in the order of `found`. */
async function chooseNewFiles(
  found: readonly PlacedText[],
  chosen: Chosen,
  { before, other, target, earlier, taken, slice }: NewFiles,
): Promise<void> {
  const tree = new FolderTree(target, before)
  const gone = new Set(earlier?.files.values())
  const texts = found.filter((text) => !chosen.has(text) && !ODD.test(text.text))
  const paths = new Set(Array.from(chosen.values(), ({ path }) => path))
  const otherTree = new FolderTree(target, other?.entries ?? [])
  for (const [text, { path, text: was }] of await slice.run(matchTexts(texts, taken))) {
    if (chosen.size >= MAX_TEXTS) break
    if (paths.has(path) || !(await tree.isFree(path, gone))) continue
    paths.add(path)
    chosen.set(text, { path, entry: text.text === was ? await otherTree.at(path) : undefined })
  }
  for (const text of texts) {
    if (chosen.size >= MAX_TEXTS) break
    if (chosen.has(text)) continue
    for (const path of pathsFor(text, !earlier)) {
      if (paths.has(path) || !(await tree.isFree(path, gone))) continue
      paths.add(path)
      chosen.set(text, { path })
      break
    }
  }
}

/** The name of a folder, or of a file without `.md`. */
const PART = /^[a-z0-9][a-z0-9_-]{0,63}$/
const PATH = /^(?:prompt|parameters)(?:\/[a-z0-9][a-z0-9_-]{0,79})+\.md$/
const MAX_PATH_LENGTH = 200

/** A number is added to a name that is used already. */
const MAX_NUMBERS_TRIED = 1000

/** Whether a marker may name this path (interface 7.16). */
export function isTextPath(path: string): boolean {
  return path.length <= MAX_PATH_LENGTH && PATH.test(path)
}

/**
 * Possible paths for a text without a file, the best first. They describe the text, not its place: a message of a first revision is named by its
 * role, a later one also by a hash of its words, so that two branches that each add a message use different files.
 */
function* pathsFor(text: PlacedText, isFirst: boolean): Generator<string, void, undefined> {
  for (const path of candidates(text, isFirst)) if (isTextPath(path)) yield path
}

function* candidates(
  { keys, pointer, message, text }: PlacedText,
  isFirst: boolean,
): Generator<string, void, undefined> {
  const parts = keys.slice(1).map((key, at) => partOf(String(key), keys.slice(0, at + 2)))
  const isOfPrompt = message !== undefined && keys[1] === 'prompt'
  if (message && (isOfPrompt || !isFirst)) {
    const role = partOf(message.role, keys)
    const folder = isOfPrompt ? 'prompt' : folderOf(parts.slice(0, message.array.split('/').length - 2))
    yield* numbered(`${folder}/${role}${isFirst ? '' : `-${hashOf(text).slice(0, 6)}`}`)
  } else {
    yield `${folderOf(parts)}.md`
    yield `${folderOf([...parts.slice(0, -1), hashOf(pointer).slice(0, 10)])}.md`
  }
  yield `parameters/${hashOf(pointer).slice(0, 10)}.md`
}

function folderOf(parts: readonly string[]): string {
  return ['parameters', ...parts].join('/')
}

function* numbered(base: string): Generator<string, void, undefined> {
  yield `${base}.md`
  for (let number = 2; number <= MAX_NUMBERS_TRIED; number++) yield `${base}-${number}.md`
}

/** The key if it is valid in a path, else a hash of its place. */
function partOf(key: string | undefined, place: readonly (string | number)[]): string {
  if (key !== undefined && PART.test(key) && !isDeviceName(key)) return key
  return hashOf(JSON.stringify(place)).slice(0, 10)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
