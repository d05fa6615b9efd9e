import { Refusal } from '../../errors.ts'
import { type GitObject, type Oid, type TreeEntry, encodeTree, parseTree } from '../../git/objects.ts'
import { type Json, membersAt, stringifyJson } from '../../base/json.ts'
import type { DocumentLimits } from './document-limits.ts'

/** Where objects are read from: a repository, or a transaction on one. */
export interface ObjectReader {
  read(oid: Oid): Promise<GitObject | undefined>
  /** The folder of the repository, where it is one. */
  readonly gitdir?: string | undefined
}

/** The entries of a tree; refuses what is missing or no tree. */
export async function readTree(source: ObjectReader, oid: Oid): Promise<readonly TreeEntry[]> {
  return parseTree(await readBytes(source, oid, 'tree'))
}

/** The bytes of an object of the given kind; refuses what is missing or of another kind. */
export async function readBytes(source: ObjectReader, oid: Oid, kind: GitObject['kind']): Promise<Buffer> {
  const object = await source.read(oid)
  if (object?.kind === kind) return object.bytes
  const found = object ? `is a ${object.kind}` : 'is missing from the repository'
  throw new Refusal('damaged_repository', `The ${kind} ${oid} ${found}. Restore the repository from a clone.`)
}

/** Where new objects go: a transaction. */
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

/** The entries with those of the same names replaced, or added. */
export function replaceEntries(entries: readonly TreeEntry[], changes: readonly TreeEntry[]): TreeEntry[] {
  const changed = new Set(changes.map((entry) => entry.name))
  return [...entries.filter((entry) => !changed.has(entry.name)), ...changes]
}

/**
 * The bytes of a file that holds a value as people read it (interface 15.5): two-space JSON, keys in their order, a newline. A text that would
 * be longer than `maxBytes` is written on one line. (Then it may be longer all the same.)
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
 * The JSON text of a value; undefined where it takes more bytes than this. A text that is far longer is not made: indentation makes a deep
 * value a hundred times as long.
 */
export function jsonWithin(value: unknown, maxBytes: number, indent?: 2): string | undefined {
  // What is undefined, and has no text, is counted like null.
  if (roomBeside(value as Json, maxBytes, 0, indent ?? 0) < 0) return undefined
  const text = stringifyJson(value, indent)
  return Buffer.byteLength(text) <= maxBytes ? text : undefined
}

/** The room that the text of a value leaves at most; negative if it is too long. Looks no further than that takes. */
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

/**
 * What an entry is called in the paths below: its name; of one that is not UTF-8, which `name` only approximates, its bytes as Latin-1 behind a
 * NUL, which no name has.
 */
export function pathPart({ name, rawName }: TreeEntry): string {
  return rawName ? `\0${rawName.toString('latin1')}` : name
}

function named(part: string): Pick<TreeEntry, 'name' | 'rawName'> {
  if (!part.startsWith('\0')) return { name: part }
  const rawName = Buffer.from(part.slice(1), 'latin1')
  return { name: rawName.toString('utf8'), rawName }
}

/** The last slash of a path takes it apart: the folder, '' for the root, and the name in it. */
function parted(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)]
}

/** Looks up what is in a tree; a folder is read when a path leads into it. */
export class FolderTree {
  readonly #source: ObjectReader
  /** By path: the entries of folders that were read, by `pathPart`. */
  readonly #folders = new Map<string, ReadonlyMap<string, TreeEntry>>()

  constructor(source: ObjectReader, entries: readonly TreeEntry[]) {
    this.#source = source
    this.#folders.set('', byPart(entries))
  }

  /** The file, folder or link at a path; undefined if there is nothing. */
  async at(path: string): Promise<TreeEntry | undefined> {
    const [folder, name] = parted(path)
    return (await this.#folder(folder))?.get(name)
  }

  /** The bytes of the file at a path; undefined if there is nothing, or a folder or a link. */
  async read(path: string): Promise<Buffer | undefined> {
    const entry = await this.at(path)
    if (entry?.mode !== '100644' && entry?.mode !== '100755') return undefined
    return readBytes(this.#source, entry.oid, 'blob')
  }

  /**
   * Whether a file may be put there once the files `gone` are taken away: its name is free, also compared without case, and nothing but folders is
   * on the way.
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

/** By path: what is put there; undefined takes away what is there. */
export type FileChanges = ReadonlyMap<string, Pick<TreeEntry, 'mode' | 'oid'> | undefined>

/**
 * The entries of a tree with these changes made. Writes the folders on the way of a change, but not the tree itself; a folder that becomes empty
 * is left out. A path where something is put must be free, or its own.
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
    // Where a file is in the way there is nothing to take away.
    if (folder && folder.mode !== FOLDER) continue
    const left = await withFiles(objects, folder ? await readTree(objects, folder.oid) : [], inside)
    if (left.length === 0) now.delete(part)
    else now.set(part, { ...(folder ?? named(part)), mode: FOLDER, oid: writeTree(objects, left) })
  }
  return [...now.values()]
}
