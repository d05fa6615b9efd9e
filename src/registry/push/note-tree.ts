import type { Oid, TreeEntry } from '../../git/objects.ts'
import type { ObjectReader, ObjectSink } from '../payload/tree-files.ts'
import { readTree, writeTree } from '../payload/tree-files.ts'

/** Makes a note's blob from its present blob; undefined if there is no note. */
export type ChangeNote = (before: Oid | undefined) => Oid | Promise<Oid>

/**
 * A tree of git notes with the notes on `targets` changed. A note's path is the whole id, or the id split into folders of two digits; an
 * existing note keeps its path. With `isSpread`, new notes go into folders, so that adding one rewrites only a small tree.
 */
export async function changeNotes(
  target: ObjectReader & ObjectSink,
  tree: Oid | undefined,
  targets: Iterable<Oid>,
  change: ChangeNote,
  isSpread = false,
): Promise<Oid> {
  const entries = new Map<string, TreeEntry>()
  for (const entry of tree === undefined ? [] : await readTree(target, tree)) entries.set(keyOf(entry), entry)
  const folders = new Map<string, Oid[]>()
  for (const rest of targets) {
    const name = rest.slice(0, FOLDER)
    const note = entries.get(rest)
    if (!note && (isSpread || entries.has(`${name}/`))) {
      const below = folders.get(name)
      if (below) below.push(rest.slice(FOLDER))
      else folders.set(name, [rest.slice(FOLDER)])
    } else {
      const oid = await change(note?.oid)
      entries.set(rest, { mode: '100644', name: rest, oid })
    }
  }
  for (const [name, below] of folders) {
    const oid = await changeNotes(target, entries.get(`${name}/`)?.oid, below, change)
    entries.set(`${name}/`, { mode: FOLDER_MODE, name, oid })
  }
  return writeTree(target, [...entries.values()])
}

/** Finds the blobs of notes in a tree; reads each folder once. */
export class NoteReader {
  readonly #source: ObjectReader
  readonly #tree: Oid
  readonly #folders = new Map<Oid, Promise<ReadonlyMap<string, Oid>>>()

  constructor(source: ObjectReader, tree: Oid) {
    this.#source = source
    this.#tree = tree
  }

  /** The blob of the note on an object; undefined if it has none. */
  async find(target: Oid): Promise<Oid | undefined> {
    let tree: Oid | undefined = this.#tree
    for (let at = 0; tree !== undefined && at < target.length; at += FOLDER) {
      const names: ReadonlyMap<string, Oid> = await this.#read(tree)
      const note = names.get(target.slice(at))
      if (note !== undefined) return note
      tree = names.get(`${target.slice(at, at + FOLDER)}/`)
    }
    return undefined
  }

  #read(tree: Oid): Promise<ReadonlyMap<string, Oid>> {
    const known = this.#folders.get(tree)
    if (known) return known
    const read = readTree(this.#source, tree).then(
      (entries) => new Map(entries.map((entry) => [keyOf(entry), entry.oid])),
    )
    this.#folders.set(tree, read)
    return read
  }
}

/** Digits of an id in a folder's name. */
const FOLDER = 2
const FOLDER_MODE = '40000'

/** An entry's name, with a slash for a folder. A tree may contain both under one name. */
function keyOf({ mode, name }: TreeEntry): string {
  return mode === FOLDER_MODE ? `${name}/` : name
}
