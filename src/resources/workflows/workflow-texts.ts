import { TimeSlice } from '../../scheduling/cooperative.ts'
import { createHash } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import type { TreeEntry } from '../../git/objects/object.ts'
import { pointerToken } from '../../json/json-pointer.ts'
import {
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  membersOf,
  withoutKey,
} from '../../json/json.ts'
import type { ApartFrom, FileReader, SetApart } from '../../versioning/family/document-family.ts'
import { FolderTree, type ObjectReader, type ObjectSink } from '../../versioning/family/tree-files.ts'
import { isDeviceName } from '../../versioning/slugs/slug.ts'
import { matchTexts } from '../../versioning/texts/match-texts.ts'
import type { PlacedText, PayloadPlace } from '../../versioning/texts/placed-text.ts'
import {
  damaged,
  decodeJsonFile,
  decodeText,
  FORMAT_KEY,
  formatOf,
  unknownFormat,
} from '../documents/stored-json.ts'

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
export function findTexts(data: JsonObject, kept = NONE): readonly PlacedText[] {
  const found: PlacedText[] = []
  const parameters = getKey(data, 'parameters')
  if (isJsonObject(parameters)) look(parameters, { keys: ['parameters'], pointer: '/parameters' })
  return found

  /** `message` is given for a message, and for the parts of what it says. */
  function look(within: Json, at: PayloadPlace, message?: PayloadPlace['message']): void {
    const areMessages = isJsonArray(within) && at.keys.at(-1) === 'messages'
    for (const [key, member] of membersAt(within)) {
      if (typeof member === 'string') {
        if (message && key === 'content') found.push({ ...placeOf(at, key), message, text: member })
        else if (!NEVER_TEXTS.has(key) && (isLongText(member) || kept.has(pointerTo(at, key))))
          found.push({ ...placeOf(at, key), text: member })
      } else if (isJsonArray(member)) look(member, placeOf(at, key), key === 'content' ? message : undefined)
      else if (isJsonObject(member)) {
        const role = areMessages ? getKey(member, 'role') : undefined
        const text = message && isJsonArray(within) ? textOfPart(member) : undefined
        if (role !== undefined)
          look(member, placeOf(at, key), {
            array: at.pointer,
            role: typeof role === 'string' ? role : undefined,
          })
        else if (text === undefined) look(member, placeOf(at, key))
        else found.push({ ...placeOf(placeOf(at, key), 'text'), message, text })
      }
    }
  }
}

function textOfPart(part: JsonObject): string | undefined {
  const text = getKey(part, 'type') === 'text' ? getKey(part, 'text') : undefined
  return typeof text === 'string' ? text : undefined
}

/** Whether a string is a text wherever it stands but for the keys above: of several lines, or long. */
export function isLongText(text: string): boolean {
  if (text.includes('\n')) return true
  if (text.length <= MAX_INLINE) return false
  // A code point is one or two units.
  return text.length > 2 * MAX_INLINE || [...text].length > MAX_INLINE
}

function membersAt(value: Json): Iterable<readonly [string | number, Json]> {
  if (isJsonArray(value)) return value.entries()
  return isJsonObject(value) ? membersOf(value) : []
}

function placeOf(at: PayloadPlace, key: string | number): PayloadPlace {
  return { keys: [...at.keys, key], pointer: pointerTo(at, key) }
}

function pointerTo({ pointer }: Pick<PayloadPlace, 'pointer'>, key: string | number): string {
  return `${pointer}/${pointerToken(String(key))}`
}

/** In the place of a text: an object of this one key, which names the text's file. */
const FILE = '@svc.file'
/** Around an object that has one of these keys of its own: an object of this one key. */
const QUOTE = '@svc.quote'

/** What is put in the place of a member: the path of its file, or the same of what is in it. */
type Marks = Map<string | number, Marks | string>

/** The data with a marker in the place of each text that has a file, and what could be taken for a marker quoted; itself where nothing is. */
function withMarks(data: JsonObject, files: Iterable<readonly [PlacedText, ChosenFile]>): JsonObject {
  const marks: Marks = new Map()
  for (const [{ keys }, { path }] of files) {
    let at = marks
    for (const key of keys.slice(0, -1)) {
      let below = at.get(key)
      if (!(below instanceof Map)) at.set(key, (below = new Map()))
      at = below
    }
    at.set(keys.at(-1) ?? '', path)
  }
  return withMembers(data, (member, key) => marked(member, marks.get(key)))
}

function marked(value: Json, marks: Marks | string | undefined): Json {
  if (typeof marks === 'string') return { [FILE]: marks }
  if (typeof value !== 'object') return value
  const inner = withMembers(value, (member, key) => marked(member, marks?.get(key)))
  return isJsonObject(value) && (hasKey(value, FILE) || hasKey(value, QUOTE)) ? { [QUOTE]: inner } : inner
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
 * The data with `textOf` in the place of each marker, and quoted objects as they are. Refuses what cannot be a marker (`damaged_repository`),
 * naming `file`, which the data is from. The first level is never one.
 */
function withoutMarks(
  data: JsonObject,
  file: string,
  textOf: (path: string, pointer: string) => string,
): JsonObject {
  const unmarked = (value: Json, pointer: string): Json => {
    if (isJsonObject(value) && hasKey(value, FILE)) return textOf(pathIn(value, file), pointer)
    return within(isJsonObject(value) ? unquoted(value, file) : value, pointer)
  }
  const within = <T extends Json>(value: T, pointer: string): T =>
    withMembers(value, (member, key) =>
      typeof member === 'object' ? unmarked(member, pointerTo({ pointer }, key)) : member,
    )
  return within(data, '')
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

/** Data as it was sent, and what of it lies in files: by JSON Pointer, their paths. */
interface ReadTexts {
  readonly data: JsonObject
  readonly paths: ReadonlyMap<string, string>
}

/**
 * The data as it was sent, of data with markers and the texts' files (interface 7.16): those that `read` answers, undefined where there is none.
 * Data without a mark is as it is. Refuses with `damaged_repository` what cannot be read, naming `file`, which the data is from, or the
 * text's file; a format of later servers with `unsupported_format`.
 */
export async function readTexts(file: string, stored: JsonObject, read: FileReader): Promise<ReadTexts> {
  const paths = pathsIn(file, stored)
  if (!paths) return { data: stored, paths: new Map() }
  const texts = new Map<string, string>()
  for (const [path, times] of countMentions(file, paths)) {
    const bytes = await read(path, times)
    if (!bytes) throw damaged(`${file} says that a text is in ${path}, but there is no such file.`)
    const text = decodeText(path, bytes, true)
    // Writing puts a line feed at the end of a file.
    texts.set(path, text.endsWith('\n') ? text.slice(0, -1) : text)
  }
  const data = withoutMarks(withoutKey(stored, FORMAT_KEY), file, (path) => texts.get(path) ?? '')
  return { data, paths }
}

/** The files that hold the texts of data with markers, and how many times each stands in it. Refuses as `readTexts` does. */
export function mentionsIn(file: string, stored: JsonObject): ReadonlyMap<string, number> {
  return countMentions(file, pathsIn(file, stored) ?? new Map())
}

/** By the JSON Pointer of each marker, the path that it names; undefined where the data has no markers. */
function pathsIn(file: string, stored: JsonObject): ReadonlyMap<string, string> | undefined {
  const format = formatOf(stored)
  if (format === undefined) return undefined
  if (format !== String(TEXT_FORMAT)) throw unknownFormat(file, format)
  const paths = new Map<string, string>()
  withoutMarks(stored, file, (path, pointer) => {
    paths.set(pointer, path)
    return ''
  })
  return paths
}

function countMentions(file: string, paths: ReadonlyMap<string, string>): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const path of paths.values()) times.set(path, (times.get(path) ?? 0) + 1)
  if (times.size <= MAX_TEXTS) return times
  throw damaged(`${file} names ${times.size} files; the texts of a revision lie in at most ${MAX_TEXTS}.`)
}

/** Control characters that git shows badly, or takes for a sign that a file is no text. */
const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

/**
 * Writes the texts of a workflow's data into files, onto the root of the parent's tree, whose entries are `before` and whose data is in
 * `file` (interface 7.16). Their names are a function of the data and of that tree: a text keeps its file, wherever it goes. One that came from
 * another revision, whose root is `other`, takes the file that it has there, where that is free.
 */
export async function writeTexts(
  target: ObjectReader & ObjectSink,
  data: JsonObject,
  file: string,
  { before, other, maxBytes }: ApartFrom,
): Promise<SetApart> {
  // Each step takes one go; of a mebibyte of short texts all of them together would keep others waiting for too long.
  const slice = new TimeSlice()
  const tree = new FolderTree(target, before)
  const earlier = await readEarlier(file, tree, maxBytes, slice)
  const taken =
    other.length > 0 ? await readEarlier(file, new FolderTree(target, other), maxBytes, slice) : undefined
  for (const path of earlier?.files ?? []) await tree.remove(path)
  const chosen = await chooseFiles(data, earlier, taken?.texts ?? [], tree, slice)
  await slice.pause()
  let size = 0
  for (const [{ text }, { path, entry }] of chosen) {
    const bytes = Buffer.from(`${text}\n`)
    await tree.put(path, entry ?? { mode: '100644', oid: target.write('blob', bytes) })
    size += bytes.length
    await slice.pause()
  }
  const left = withMarks(data, chosen)
  await slice.pause()
  return {
    data: left === data ? data : fromEntries([[FORMAT_KEY, TEXT_FORMAT], ...entriesOf(left)]),
    entries: tree.entries(target).filter(({ name }) => TEXT_FOLDERS.includes(name)),
    files: new Map(Array.from(chosen, ([{ pointer }, { path }]) => [pointer, path])),
    size,
  }
}

/** What the parent's data is, and what of it lies in files. */
interface EarlierData {
  readonly data: JsonObject
  readonly texts: readonly EarlierText[]
  /** All files that its markers name: those of the texts, and what git put elsewhere. */
  readonly files: ReadonlySet<string>
}

/** A text of the parent, and the file it lies in; without an entry, the one it would lie in if the parent had texts in files. */
interface EarlierText extends PlacedText, ChosenFile {}

/** A text's file, with its entry where the parent's file says the same. */
interface ChosenFile {
  readonly path: string
  readonly entry?: TreeEntry | undefined
}

/**
 * Reads the parent's data from its file and those beside it; undefined where there is none that can be read. What is larger than `maxBytes` is
 * not compared: its texts are as good as gone.
 */
async function readEarlier(
  file: string,
  tree: FolderTree,
  maxBytes: number,
  slice: TimeSlice,
): Promise<EarlierData | undefined> {
  const bytes = await tree.read(file)
  if (!bytes || bytes.length > maxBytes) return undefined
  try {
    let room = maxBytes - bytes.length
    const stored = decodeJsonFile(file, bytes, "a workflow's data")
    const { data, paths } = await readTexts(file, stored, async (path, times = 1) => {
      const text = room < 0 ? undefined : await tree.read(path)
      room -= (text?.length ?? 0) * times
      return room < 0 ? Buffer.alloc(0) : text
    })
    await slice.pause()
    const files = new Set(paths.values())
    if (room < 0) return { data: {}, texts: [], files }
    const texts: EarlierText[] = []
    const left = new Set(files)
    for (const text of files.size > 0 ? findTexts(data, new Set(paths.keys())) : []) {
      const path = paths.get(text.pointer)
      // Of two markers that name one file the first has it.
      if (path !== undefined && left.delete(path)) texts.push({ ...text, path, entry: await tree.at(path) })
    }
    await slice.pause()
    return { data, texts, files }
  } catch (error) {
    const isUnreadable =
      error instanceof Refusal && (error.code === 'damaged_repository' || error.code === 'unsupported_format')
    // What plain git broke, or a later server wrote, is mended by the next data; its files are then nobody's.
    if (isUnreadable) return undefined
    throw error
  }
}

type Chosen = Map<PlacedText, ChosenFile>

/**
 * The file of each text that has one, as many as there may be: those that go on from one that has, then those that are `taken` from another
 * revision with their files, then the first ones. Of an earlier revision whose texts are in no files, they are what they would be.
 */
async function chooseFiles(
  data: JsonObject,
  earlier: EarlierData | undefined,
  taken: readonly EarlierText[],
  tree: FolderTree,
  slice: TimeSlice,
): Promise<Chosen> {
  let texts = earlier?.texts ?? []
  if (earlier?.files.size === 0) {
    const would = await chooseFiles(earlier.data, undefined, [], tree, slice)
    texts = Array.from(would, ([text, { path }]) => ({ ...text, path }))
  }
  const found = findTexts(data, earlier && new Set([...texts, ...taken].map(({ pointer }) => pointer)))
  await slice.pause()
  const matched = matchTexts(found, texts)
  await slice.pause()
  const chosen: Chosen = new Map()
  for (const [text, { path, entry, text: was }] of matched) {
    if (text.text === was) chosen.set(text, { path, entry })
    else if (!ODD.test(text.text)) chosen.set(text, { path })
  }
  const left = found.filter((text) => !chosen.has(text) && !ODD.test(text.text))
  if (left.length > 0) await chooseNewFiles(left, chosen, { taken, tree, isFirst: !earlier })
  return chosen
}

async function chooseNewFiles(
  texts: readonly PlacedText[],
  chosen: Chosen,
  from: { readonly taken: readonly EarlierText[]; readonly tree: FolderTree; readonly isFirst: boolean },
): Promise<void> {
  const { taken, tree, isFirst } = from
  const paths = new Set(Array.from(chosen.values(), ({ path }) => path))
  for (const [text, { path, entry, text: was }] of matchTexts(texts, taken)) {
    if (chosen.size >= MAX_TEXTS) break
    if (paths.has(path) || !(await tree.isFree(path))) continue
    paths.add(path)
    chosen.set(text, { path, entry: text.text === was ? entry : undefined })
  }
  for (const text of texts) {
    if (chosen.size >= MAX_TEXTS) break
    if (chosen.has(text)) continue
    for (const path of pathsFor(text, isFirst)) {
      if (paths.has(path) || !(await tree.isFree(path))) continue
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
