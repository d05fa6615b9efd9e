import type { TreeEntry } from '../../../git/objects/tree.ts'
import { type JsonObject, entriesOf, fromEntries } from '../../../json/json.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ApartFrom, SetApart } from '../../../versioning/family/document-family.ts'
import { FolderTree } from '../../../versioning/family/folder-tree.ts'
import type { ObjectReader, ObjectSink } from '../../../versioning/family/tree-files.ts'
import { FORMAT_KEY } from '../../documents/stored-format.ts'
import type { PlacedText } from '../../../versioning/texts/placed-text.ts'
import { findTexts } from './find-texts.ts'
import { matchTexts } from '../../../versioning/texts/match-texts.ts'
import { MOST_TEXTS, TEXT_FORMAT, readTexts } from './read-texts.ts'
import { withMarks } from './text-marks.ts'
import { pathsFor, TEXT_FOLDERS } from './text-names.ts'
import { type RefusalCode, Refusal } from '../../../errors.ts'
import { decodeJsonFile } from '../../documents/decode-json-file.ts'

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
  const slice = new TimeSlice()
  const tree = new FolderTree(target, before)
  const earlier = await readEarlier(file, tree, maxBytes, slice)
  const taken = await readEarlier(file, new FolderTree(target, other), maxBytes, slice)
  for (const path of earlier?.files ?? []) await tree.remove(path)
  const names = await namesOf(data, [earlier, taken], tree, slice)
  let size = 0
  for (const [{ text }, { path, entry }] of names) {
    const bytes = Buffer.from(`${text}\n`)
    await tree.put(path, entry ?? { mode: '100644', oid: target.write('blob', bytes) })
    size += bytes.length
  }
  const marked = await slice.run(
    withMarks(
      data,
      Array.from(names, ([text, { path }]) => [text, path]),
    ),
  )
  return {
    data: marked === data ? data : fromEntries([[FORMAT_KEY, TEXT_FORMAT], ...entriesOf(marked)]),
    entries: tree.entries(target).filter(({ name }) => TEXT_FOLDERS.includes(name)),
    files: new Map(Array.from(names, ([{ pointer }, { path }]) => [pointer, path])),
    size,
  }
}

/** A text's file, with its entry where the parent's file says the same. */
interface ChosenFile {
  readonly path: string
  readonly entry?: TreeEntry | undefined
}

/** The file of each text that has one. Of an earlier revision whose texts are in no files, they are what they would be. */
async function namesOf(
  data: JsonObject,
  [earlier, other]: readonly (EarlierData | undefined)[],
  tree: FolderTree,
  slice: TimeSlice,
): Promise<ReadonlyMap<PlacedText, ChosenFile>> {
  const taken = other?.texts ?? []
  if (!earlier) return chooseFiles(await slice.run(findTexts(data)), undefined, taken, tree, slice)
  let texts = earlier.texts
  if (earlier.files.size === 0) {
    const would = await chooseFiles(await slice.run(findTexts(earlier.data)), undefined, [], tree, slice)
    texts = Array.from(would, ([text, { path }]) => ({ ...text, path, entry: undefined }))
  }
  const kept = new Set([...texts, ...taken].map(({ pointer }) => pointer))
  return chooseFiles(await slice.run(findTexts(data, kept)), texts, taken, tree, slice)
}

/**
 * As many texts as may have files: those that go on from one that has, then those that are `taken` from another revision with their files,
 * then the first ones. `earlier` is undefined in a first revision.
 */
async function chooseFiles(
  found: readonly PlacedText[],
  earlier: readonly EarlierText[] | undefined,
  others: readonly EarlierText[],
  tree: FolderTree,
  slice: TimeSlice,
): Promise<ReadonlyMap<PlacedText, ChosenFile>> {
  const chosen = new Map<PlacedText, ChosenFile>()
  for (const [text, { path, entry, text: was }] of await slice.run(matchTexts(found, earlier ?? []))) {
    if (text.text === was) chosen.set(text, { path, entry })
    else if (!ODD.test(text.text)) chosen.set(text, { path })
  }
  const taken = new Set(Array.from(chosen.values(), ({ path }) => path))
  const left = found.filter((text) => !chosen.has(text) && !ODD.test(text.text))
  for (const [text, { path, entry, text: was }] of await slice.run(matchTexts(left, others))) {
    if (chosen.size >= MOST_TEXTS) break
    if (taken.has(path) || !(await tree.isFree(path))) continue
    taken.add(path)
    chosen.set(text, { path, entry: text.text === was ? entry : undefined })
  }
  for (const text of found) {
    if (chosen.size >= MOST_TEXTS) break
    if (chosen.has(text) || ODD.test(text.text)) continue
    const path = await freePath(text, earlier === undefined, taken, tree)
    if (path === undefined) continue
    taken.add(path)
    chosen.set(text, { path })
  }
  return chosen
}

async function freePath(
  text: PlacedText,
  isFirst: boolean,
  taken: ReadonlySet<string>,
  tree: FolderTree,
): Promise<string | undefined> {
  for (const path of pathsFor(text, isFirst)) if (!taken.has(path) && (await tree.isFree(path))) return path
  return undefined
}

/** A text of the parent, and the file it lies in; without an entry, the one it would lie in if the parent had texts in files. */
interface EarlierText extends PlacedText {
  readonly path: string
  readonly entry: TreeEntry | undefined
}

/** What the parent's data is, and what of it lies in files. */
interface EarlierData {
  readonly data: JsonObject
  readonly texts: readonly EarlierText[]
  /** All files that its markers name: those of the texts, and what git put elsewhere. */
  readonly files: ReadonlySet<string>
}

const UNREADABLE: readonly RefusalCode[] = ['damaged_repository', 'unsupported_format']

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
    const stored = await decodeJsonFile(file, bytes, "a workflow's data")
    let room = maxBytes - bytes.length
    const { data, paths } = await readTexts(file, stored, async (path, times = 1) => {
      const text = room < 0 ? undefined : await tree.read(path)
      room -= (text?.length ?? 0) * times
      return room < 0 ? Buffer.alloc(0) : text
    })
    if (room < 0) return { data: {}, texts: [], files: new Set(paths.values()) }
    const files = new Set(paths.values())
    const left = new Set(files)
    const texts: EarlierText[] = []
    for (const text of files.size > 0 ? await slice.run(findTexts(data, new Set(paths.keys()))) : []) {
      const path = paths.get(text.pointer)
      // Of two markers that name one file the first has it.
      if (path !== undefined && left.delete(path)) texts.push({ ...text, path, entry: await tree.at(path) })
    }
    return { data, texts, files }
  } catch (error) {
    // What plain git broke, or a later server wrote, is mended by the next data; its files are then nobody's.
    if (error instanceof Refusal && UNREADABLE.includes(error.code)) return undefined
    throw error
  }
}
