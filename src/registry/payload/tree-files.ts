import { Refusal } from '../../errors.ts'
import { type GitObject, type Oid, type TreeEntry, encodeTree, parseTree } from '../../git/objects.ts'
import { type Json, membersAt, stringifyJson } from '../../base/json.ts'
import type { DocumentLimits } from './document-limits.ts'

/** A source of objects: a repository, or a transaction on one. */
export interface ObjectReader {
  read(oid: Oid): Promise<GitObject | undefined>
  /** The folder of the repository, if it is one. */
  readonly gitdir?: string | undefined
}

/** The entries of a tree. Refuses a missing object, or one that is no tree. */
export async function readTree(source: ObjectReader, oid: Oid): Promise<readonly TreeEntry[]> {
  return parseTree(await readBytes(source, oid, 'tree'))
}

/** The bytes of an object of the given kind. Refuses a missing object, or one of another kind. */
export async function readBytes(source: ObjectReader, oid: Oid, kind: GitObject['kind']): Promise<Buffer> {
  const object = await source.read(oid)
  if (object?.kind === kind) return object.bytes
  const found = object ? `is a ${object.kind}` : 'is missing from the repository'
  throw new Refusal('damaged_repository', `The ${kind} ${oid} ${found}. Restore the repository from a clone.`)
}

/** A target for new objects: a transaction. */
export interface ObjectSink {
  write(kind: GitObject['kind'], bytes: Buffer): Oid
}

/** Writes a blob and answers the tree entry that names it. */
export function writeFile(sink: ObjectSink, name: string, bytes: Buffer): TreeEntry {
  return { mode: '100644', name, oid: sink.write('blob', bytes) }
}

/** Writes a tree of these entries. */
export function writeTree(sink: ObjectSink, entries: readonly TreeEntry[]): Oid {
  return sink.write('tree', encodeTree(entries))
}

/** The entries, with those of `changes` added or in place of entries with the same name. */
export function replaceEntries(entries: readonly TreeEntry[], changes: readonly TreeEntry[]): TreeEntry[] {
  const changed = new Set(changes.map((entry) => entry.name))
  return [...entries.filter((entry) => !changed.has(entry.name)), ...changes]
}

/**
 * The bytes of a JSON file for people (interface 15.5): two-space indentation, keys in their order, a newline. If that would be longer than
 * `maxBytes`, it is written on one line, which may be longer, too.
 */
export function jsonFileBytes(value: object, { maxBytes }: Pick<DocumentLimits, 'maxBytes'>): Buffer {
  return Buffer.from(`${jsonWithin(value, maxBytes - 1, 2) ?? stringifyJson(value)}\n`)
}

/** Writes such a file and answers the tree entry that names it. */
export function writeJsonFile(
  sink: ObjectSink,
  name: string,
  value: object,
  limits: DocumentLimits,
): TreeEntry {
  return writeFile(sink, name, jsonFileBytes(value, limits))
}

/**
 * The JSON text of a value; undefined if it is longer than `maxBytes`. It does not make a text that is far longer: indentation can make a deep
 * value a hundred times as long.
 */
export function jsonWithin(value: unknown, maxBytes: number, indent?: 2): string | undefined {
  // A value without a JSON text is counted like null.
  if (roomBeside(value as Json, maxBytes, 0, indent ?? 0) < 0) return undefined
  const text = stringifyJson(value, indent)
  return Buffer.byteLength(text) <= maxBytes ? text : undefined
}

/** At most this many bytes are left beside the text of a value; negative if it is too long. It stops as soon as that is known. */
function roomBeside(value: Json, room: number, margin: number, indent: number): number {
  if (typeof value === 'string') return room - value.length
  if (typeof value !== 'object') return room - 1
  const inner = margin + indent
  let left = room - 1
  for (const [key, member] of membersAt(value)) {
    const taken = typeof key === 'string' ? inner + key.length : inner
    left = roomBeside(member, left - taken, inner, indent)
    if (left < 0) break
  }
  return left
}

const FOLDER = '40000'

/** The form of an entry's name in the paths below. A name that is not UTF-8 becomes a NUL, which no name contains, and its bytes as Latin-1. */
export function pathPart({ name, rawName }: TreeEntry): string {
  return rawName ? `\0${rawName.toString('latin1')}` : name
}

function named(part: string): Pick<TreeEntry, 'name' | 'rawName'> {
  if (!part.startsWith('\0')) return { name: part }
  const rawName = Buffer.from(part.slice(1), 'latin1')
  return { name: rawName.toString('utf8'), rawName }
}

/** Splits a path at its last slash: the folder ('' for the root), and the name in it. */
function parted(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)]
}

/** Looks up entries of a tree by path; a folder is read when a path leads into it. */
export class FolderTree {
  readonly #source: ObjectReader
  /** The entries of the folders that were read, by path and then by `pathPart`. */
  readonly #folders = new Map<string, ReadonlyMap<string, TreeEntry>>()

  constructor(source: ObjectReader, entries: readonly TreeEntry[]) {
    this.#source = source
    this.#folders.set('', byPart(entries))
  }

  /** The file, folder or link at a path; undefined if there is none. */
  async at(path: string): Promise<TreeEntry | undefined> {
    const [folder, name] = parted(path)
    return (await this.#folder(folder))?.get(name)
  }

  /** The bytes of the file at a path; undefined if there is none, or it is a folder or a link. */
  async read(path: string): Promise<Buffer | undefined> {
    const entry = await this.at(path)
    if (entry?.mode !== '100644' && entry?.mode !== '100755') return undefined
    return readBytes(this.#source, entry.oid, 'blob')
  }

  /**
   * Whether a file may be made at this path after the files `gone` are removed: its name is free, also without regard to case, and only folders
   * are on the way.
   */
  async isFree(path: string, gone: Pick<ReadonlySet<string>, 'has'>): Promise<boolean> {
    const [folder, name] = parted(path)
    const entries = await this.#folder(folder)
    if (!entries) return this.isFree(folder, gone)
    const folded = name.toLowerCase()
    for (const [part, entry] of entries)
      if (entry.name.toLowerCase() === folded && !gone.has(`${folder}/${part}`)) return false
    return true
  }

  async #folder(path: string): Promise<ReadonlyMap<string, TreeEntry> | undefined> {
    const known = this.#folders.get(path)
    const entry = known ? undefined : await this.at(path)
    if (entry?.mode !== FOLDER) return known
    const folder = byPart(await readTree(this.#source, entry.oid))
    this.#folders.set(path, folder)
    return folder
  }
}

function byPart(entries: readonly TreeEntry[]): Map<string, TreeEntry> {
  return new Map(entries.map((entry) => [pathPart(entry), entry]))
}

/** The new file of each path; undefined removes a file. */
export type FileChanges = ReadonlyMap<string, Pick<TreeEntry, 'mode' | 'oid'> | undefined>

/**
 * The entries of a tree after these changes. Writes changed folders, but not the tree itself; an empty folder is left out. The path of a new file
 * must be free, or the file's own.
 */
export async function withFiles(
  objects: ObjectReader & ObjectSink,
  entries: readonly TreeEntry[],
  changes: FileChanges,
): Promise<readonly TreeEntry[]> {
  if (changes.size === 0) return entries
  const now = byPart(entries)
  const below = new Map<string, Map<string, Pick<TreeEntry, 'mode' | 'oid'> | undefined>>()
  for (const [path, file] of changes) {
    const slash = path.indexOf('/')
    const part = slash < 0 ? path : path.slice(0, slash)
    if (slash >= 0) below.set(part, (below.get(part) ?? new Map()).set(path.slice(slash + 1), file))
    else if (file) now.set(part, { ...(now.get(part) ?? named(part)), mode: file.mode, oid: file.oid })
    else now.delete(part)
  }
  for (const [part, inside] of below) {
    const folder = now.get(part)
    // If a file has the name of the folder, there is nothing to remove below it.
    if (folder && folder.mode !== FOLDER) continue
    const left = await withFiles(objects, folder ? await readTree(objects, folder.oid) : [], inside)
    if (left.length === 0) now.delete(part)
    else now.set(part, { ...(folder ?? named(part)), mode: FOLDER, oid: writeTree(objects, left) })
  }
  return [...now.values()]
}
