import type { Oid, TreeEntry } from '../../git/objects.ts'
import type { ObjectReader, ObjectSink } from '../payload/tree-files.ts'
import { readTree, writeTree } from '../payload/tree-files.ts'

/** The blob of a note, made of the blob that the note was; undefined where there was none. */
export type ChangeNote = (before: Oid | undefined) => Oid | Promise<Oid>

/**
 * The tree of git notes with those on `targets` changed. A note lies under the whole id, or, where notes are spread over folders of two
 * digits, under what is left of it there; a note is kept where it is. With `isSpread` new ones go into folders, so that one more rewrites
 * a small tree however many there are.
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

/** Finds the blobs of notes in a tree of them; a folder is read once. */
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

/** Digits of an id that name a folder. */
const FOLDER = 2
const FOLDER_MODE = '40000'

/** A name, with the slash of a folder: git may have both of one name only by damage, but a note and a folder are never one. */
function keyOf({ mode, name }: TreeEntry): string {
  return mode === FOLDER_MODE ? `${name}/` : name
}
