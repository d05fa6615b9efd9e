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

/** The file that is a workflow's data, but for a source and texts in files of their own (interface 15.5). */
export const WORKFLOW_DATA_FILE = 'data.json'

/** The folders that texts lie in, in the root of a commit's tree. */
export const TEXT_FOLDERS: readonly string[] = ['prompt', 'parameters']

/** The format in which texts lie in files (interface 7.16). */
const TEXT_FORMAT = 2

/** A revision's texts lie in at most so many files. */
const MAX_TEXTS = 256

/** Longer strings have a file, in code points … */
const MAX_INLINE = 120

/** … but values of these keys never: they say where or what something is, and nobody edits them as text. */
export const NEVER_TEXTS: ReadonlySet<string | number> = new Set(['url', 'uri', 'role', 'name', 'id', 'type'])

const NONE: ReadonlySet<string> = new Set()

/**
 * The strings below `data.parameters` that belong in files, in the order of `data`: what messages say, every other one that is long or has
 * several lines, and what is at one of the pointers `kept`.
 */
export function findTexts(data: JsonObject, kept: Pick<Set<string>, 'has'> = NONE): readonly PlacedText[] {
  const found: PlacedText[] = []
  const parameters = getKey(data, 'parameters')
  const keys: (string | number)[] = ['parameters']
  if (isJsonObject(parameters)) look(parameters, '/parameters')
  return found

  /** `message` is given for a message, and for the parts of what it says. */
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

/** Whether a string is a text wherever it stands but for the keys above: of several lines, or long. */
export function isLongText(text: string): boolean {
  // A code point is one or two units.
  const isLong = text.length > MAX_INLINE && (text.length > 2 * MAX_INLINE || [...text].length > MAX_INLINE)
  return isLong || text.includes('\n')
}

function pointerTo(pointer: string, key: string | number): string {
  return `${pointer}/${typeof key === 'number' ? key : pointerToken(key)}`
}

/** In the place of a text: an object of this one key, which names the text's file. */
const FILE = '@svc.file'
/** Around an object that has one of these keys of its own: an object of this one key. */
const QUOTE = '@svc.quote'

/**
 * The value at a pointer with a marker in the place of each text that has a file, and what could be taken for a marker quoted; itself where
 * nothing is. The data itself, at '', is neither.
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

/** The value with other members; itself where none of them changes. */
function withMembers<T extends Json>(value: T, change: (member: Json, key: string | number) => Json): T {
  const members: [string, Json][] = []
  let isChanged = false
  for (const [key, member] of membersAt(value)) {
    const now = change(member, key)
    isChanged ||= now !== member
    members.push([String(key), now])
  }
  if (!isChanged) return value
  // An array stays one, and so does an object.
  return (isJsonArray(value) ? members.map(([, item]) => item) : fromEntries(members)) as T
}

/**
 * The value at a pointer with `textOf` in the place of each marker, and quoted objects as they are. Refuses what cannot be a marker
 * (`damaged_repository`), naming `file`, which the value is from. The first level is never one.
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

/** The object that a quote stands for, any other as it is. */
function unquoted(object: JsonObject, file: string): JsonObject {
  if (!hasKey(object, QUOTE)) return object
  const quoted = getKey(object, QUOTE)
  if (keysOf(object).length === 1 && isJsonObject(quoted)) return quoted
  throw damaged(`${file}: "${QUOTE}" must be the only key of its object, and hold an object.`)
}

/**
 * The data as it was sent, of data with markers and the texts' files (interface 7.16): those that `read` answers, undefined where there is none.
 * Data without a mark is as it is. Refuses with `damaged_repository` what cannot be read, naming `file`, which the data is from, or the
 * text's file; a format of later servers with `unsupported_format`.
 */
export async function readTexts(file: string, stored: JsonObject, read: FileReader): Promise<JsonObject> {
  const pointers = pointersIn(file, stored)
  if (!pointers) return stored
  const texts = new Map<string, string>()
  for (const [path, at] of pointers) {
    const bytes = await read(path, at)
    if (!bytes) throw damaged(`${file} says that a text is in ${path}, but there is no such file.`)
    const text = decodeText(path, bytes, true)
    // Writing puts a line feed at the end of a file.
    texts.set(path, text.endsWith('\n') ? text.slice(0, -1) : text)
  }
  return unmarked(withoutKey(stored, FORMAT_KEY), '', file, (path) => texts.get(path) ?? '')
}

/**
 * By the path of each file that markers in the data name, the JSON Pointers of those markers; undefined where the data has no markers.
 * Refuses as `readTexts` does.
 */
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

/** Control characters that git shows badly, or takes for a sign that a file is no text. */
const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

/**
 * Writes the texts of a workflow's data into files, onto the root of the parent's tree (interface 7.16). Their names are a function of the data
 * and of that tree: a text keeps its file, wherever it goes. One that came from another revision, whose root is `other`, takes the file that it
 * has there, where that is free.
 */
export async function writeTexts(
  target: ObjectReader & ObjectSink,
  data: JsonObject,
  from: ApartFrom,
): Promise<SetApart> {
  // Each step takes one go; of a mebibyte of short texts all of them together would keep others waiting for too long.
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
    // A file that says the same stays as it is.
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

/** A text of another revision, and the file that it lies in, or would lie in if that revision had texts in files. */
interface EarlierText extends PlacedText {
  readonly path: string
}

/** Where a text is put. */
interface ChosenFile {
  readonly path: string
  /** Whether the earlier data has the same text in this file. */
  readonly isSame?: boolean
  /** The entry of a file elsewhere that says the same. */
  readonly entry?: TreeEntry | undefined
}

type Chosen = Map<PlacedText, ChosenFile>

/**
 * The file of each text that has one, as many as there may be: those that go on from one that has, then those that are taken from another
 * revision with their files, then the first ones. Of an earlier revision whose texts are in no files, they are what they would be.
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

/** The texts of earlier data that lie in files; of two markers that name one file the first has it. */
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
 * Reads the data of a tree and the paths of its texts; undefined where there is none that can be read. What is larger than `maxBytes` is not
 * compared: its texts are as good as gone.
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
    // What plain git broke, or a later server wrote, is mended by the next data; its files are then nobody's.
    if (isUnreadable) return undefined
    throw error
  }
}

/** What new files are chosen by. */
interface NewFiles extends Pick<ApartFrom, 'before' | 'other'> {
  readonly target: ObjectReader
  readonly earlier: KnownDocument | undefined
  readonly taken: readonly EarlierText[]
  readonly slice: TimeSlice
}

/** Chooses files for the texts that have none yet, in the order of `found`. */
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

/** Of a folder, or of a file without `.md`. */
const PART = /^[a-z0-9][a-z0-9_-]{0,63}$/
const PATH = /^(?:prompt|parameters)(?:\/[a-z0-9][a-z0-9_-]{0,79})+\.md$/
const MAX_PATH_LENGTH = 200

/** A number is put behind a name that is taken. */
const MAX_NUMBERS_TRIED = 1000

/** Whether a marker may name this path (interface 7.16). */
export function isTextPath(path: string): boolean {
  return path.length <= MAX_PATH_LENGTH && PATH.test(path)
}

/**
 * Paths for a text that has no file yet, the best first. They say what it is, not where it stands: a message of a first revision is named
 * by its role, a later one also by its words, so that branches that each add one choose different files.
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

/** The key where a path may say it, else a hash of the place that the keys lead to. */
function partOf(key: string | undefined, place: readonly (string | number)[]): string {
  if (key !== undefined && PART.test(key) && !isDeviceName(key)) return key
  return hashOf(JSON.stringify(place)).slice(0, 10)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
