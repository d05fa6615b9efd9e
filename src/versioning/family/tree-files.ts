import { Refusal } from '../../errors.ts'
import { type GitObject, type Oid, type TreeEntry, encodeTree, parseTree } from '../../git/objects/object.ts'
import { ExactNumber } from '../../json/json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
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
  if (roomBeside(value, maxBytes, 0, indent ?? 0) < 0) return undefined
  const text = stringifyJson(value, indent)
  return Buffer.byteLength(text) <= maxBytes ? text : undefined
}

/** The room that the text of a value leaves at most; negative if it is too long. Looks no further than that takes. */
function roomBeside(value: unknown, room: number, margin: number, indent: number): number {
  if (typeof value === 'string') return room - value.length
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return room - 1
  const isMap = value instanceof Map || Array.isArray(value)
  let left = room - 2
  for (const [key, member] of isMap ? value.entries() : Object.entries(value)) {
    if (member === undefined) continue
    const taken = margin + indent + (typeof key === 'string' ? key.length : 0)
    left = roomBeside(member, left - taken, margin + indent, indent)
    if (left < 0) break
  }
  return left
}

const FOLDER = '40000'

/**
 * What an entry is called in the paths of a `FolderTree`: its name; of one that is not UTF-8, which `name` only approximates, its bytes as
 * Latin-1 behind a NUL, which no name has.
 */
export function pathPart({ name, rawName }: TreeEntry): string {
  return rawName ? `\0${rawName.toString('latin1')}` : name
}

function named(part: string): Pick<TreeEntry, 'name' | 'rawName'> {
  if (!part.startsWith('\0')) return { name: part }
  const rawName = Buffer.from(part.slice(1), 'latin1')
  return { name: rawName.toString('utf8'), rawName }
}

/** The first part of a path, and the path from there. */
function parted(path: string): [name: string, rest: string | undefined] {
  const slash = path.indexOf('/')
  return slash < 0 ? [path, undefined] : [path.slice(0, slash), path.slice(slash + 1)]
}

/** A folder whose files may be changed; the folders below are read when a path leads into them. */
export class FolderTree {
  readonly #source: ObjectReader
  /** By `pathPart`. */
  readonly #entries = new Map<string, TreeEntry>()
  readonly #folders = new Map<string, FolderTree>()
  #isChanged = false

  constructor(source: ObjectReader, entries: readonly TreeEntry[]) {
    this.#source = source
    for (const entry of entries) this.#entries.set(pathPart(entry), entry)
  }

  /** The file, folder or link at a path; undefined if there is nothing. */
  async at(path: string): Promise<TreeEntry | undefined> {
    const [name, rest] = parted(path)
    const entry = this.#entries.get(name)
    if (rest === undefined) return entry
    return entry?.mode === FOLDER ? (await this.#below(name, entry)).at(rest) : undefined
  }

  /** The bytes of the file at a path; undefined if there is nothing, or a folder or a link. */
  async read(path: string): Promise<Buffer | undefined> {
    const entry = await this.at(path)
    if (entry?.mode !== '100644' && entry?.mode !== '100755') return undefined
    return readBytes(this.#source, entry.oid, 'blob')
  }

  /** Whether a file may be put there: its name is free, also compared without case, and nothing but folders is on the way. */
  async isFree(path: string): Promise<boolean> {
    const [name, rest] = parted(path)
    const entry = this.#sameName(name)
    if (!entry) return true
    if (rest === undefined || pathPart(entry) !== name || entry.mode !== FOLDER) return false
    return (await this.#below(name, entry)).isFree(rest)
  }

  #sameName(name: string): TreeEntry | undefined {
    const exact = this.#entries.get(name)
    if (exact) return exact
    const folded = name.toLowerCase()
    for (const entry of this.#entries.values()) if (entry.name.toLowerCase() === folded) return entry
    return undefined
  }

  /** Puts a file there, with the folders that it needs; the path must be free, or of a file. */
  async put(path: string, { mode, oid }: Pick<TreeEntry, 'mode' | 'oid'>): Promise<void> {
    this.#isChanged = true
    const [name, rest] = parted(path)
    if (rest === undefined) {
      this.#entries.set(name, { mode, ...named(name), oid })
      return
    }
    const entry: TreeEntry = this.#entries.get(name) ?? { mode: FOLDER, ...named(name), oid: '' }
    this.#entries.set(name, entry)
    await (await this.#below(name, entry)).put(rest, { mode, oid })
  }

  /** Takes away what is at a path, if anything; folders that are empty then go with it. */
  async remove(path: string): Promise<boolean> {
    const [name, rest] = parted(path)
    const entry = this.#entries.get(name)
    if (!entry || (rest !== undefined && entry.mode !== FOLDER)) return false
    const isGone = rest === undefined || (await (await this.#below(name, entry)).remove(rest))
    if (rest === undefined) {
      this.#entries.delete(name)
      this.#folders.delete(name)
    }
    this.#isChanged ||= isGone
    return isGone
  }

  /** The entries as they are now. Writes the folders below that changed. */
  entries(sink: ObjectSink): readonly TreeEntry[] {
    const all = [...this.#entries.values()]
    if (!this.#isChanged) return all
    return all.flatMap((entry) => {
      const folder = this.#folders.get(pathPart(entry))
      if (!folder || !folder.#isChanged) return [entry]
      const below = folder.entries(sink)
      return below.length === 0 ? [] : [{ ...entry, oid: writeTree(sink, below) }]
    })
  }

  async #below(name: string, { oid }: TreeEntry): Promise<FolderTree> {
    let folder = this.#folders.get(name)
    if (!folder) {
      folder = new FolderTree(this.#source, oid === '' ? [] : await readTree(this.#source, oid))
      this.#folders.set(name, folder)
    }
    return folder
  }
}
