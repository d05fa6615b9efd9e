import type { TreeEntry } from '../../git/objects/tree.ts'
import type { ObjectReader, ObjectSink } from './tree-files.ts'
import { readBytes, readTree, writeTree } from './tree-files.ts'

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

/** A folder that was looked into: what it holds, by `pathPart`. */
interface Folder {
  readonly entries: Map<string, TreeEntry>
  readonly folders: Map<string, Folder>
  isChanged: boolean
}

/** A tree whose folders are read when somebody looks into them, and whose files may be changed. */
export class FolderTree {
  readonly #source: ObjectReader
  readonly #root: Folder

  /** `entries` are those of the root. */
  constructor(source: ObjectReader, entries: readonly TreeEntry[]) {
    this.#source = source
    this.#root = folderOf(entries)
  }

  /** The file, folder or link at a path; undefined if there is nothing. */
  async at(path: string): Promise<TreeEntry | undefined> {
    const [folder, name] = await this.#folderOf(path)
    return folder?.entries.get(name)
  }

  /** The bytes of the file at a path; undefined if there is nothing, or a folder or a link. */
  async read(path: string): Promise<Buffer | undefined> {
    const entry = await this.at(path)
    if (entry?.mode !== '100644' && entry?.mode !== '100755') return undefined
    return readBytes(this.#source, entry.oid, 'blob')
  }

  /** Whether a file may be put there: its name is free, also compared without case, and nothing but folders is on the way. */
  async isFree(path: string): Promise<boolean> {
    let folder = this.#root
    const parts = path.split('/')
    for (const [at, part] of parts.entries()) {
      const entry = sameName(folder, part)
      if (!entry) return true
      if (at === parts.length - 1 || pathPart(entry) !== part || !isFolder(entry)) return false
      folder = await this.#open(folder, entry)
    }
    return false
  }

  /** Puts a file there, with the folders that it needs; the path must be free, or of a file. */
  async put(path: string, { mode, oid }: Pick<TreeEntry, 'mode' | 'oid'>): Promise<void> {
    const parts = path.split('/')
    const name = parts.pop() ?? ''
    let folder = this.#root
    for (const part of parts) {
      folder.isChanged = true
      const entry = folder.entries.get(part)
      if (entry) folder = await this.#open(folder, entry)
      else {
        const made = folderOf([])
        folder.entries.set(part, { mode: '40000', ...named(part), oid: '' })
        folder.folders.set(part, made)
        folder = made
      }
    }
    folder.isChanged = true
    folder.entries.set(name, { mode, ...named(name), oid })
  }

  /** Takes away what is at a path, if anything; folders that are empty then go with it. */
  async remove(path: string): Promise<void> {
    const [folder, name] = await this.#folderOf(path)
    if (!folder?.entries.delete(name)) return
    for (let at: Folder = this.#root, parts = path.split('/'); ; parts = parts.slice(1)) {
      at.isChanged = true
      const below = at.folders.get(parts[0] ?? '')
      if (!below || parts.length === 1) return
      at = below
    }
  }

  /** The entries of the root as they are now. Writes the folders that changed. */
  entries(sink: ObjectSink): readonly TreeEntry[] {
    return writeFolders(this.#root, sink)
  }

  async #folderOf(path: string): Promise<[folder: Folder | undefined, name: string]> {
    const parts = path.split('/')
    const name = parts.pop() ?? ''
    let folder = this.#root
    for (const part of parts) {
      const entry = folder.entries.get(part)
      if (!entry || !isFolder(entry)) return [undefined, name]
      folder = await this.#open(folder, entry)
    }
    return [folder, name]
  }

  async #open(folder: Folder, entry: TreeEntry): Promise<Folder> {
    const part = pathPart(entry)
    let below = folder.folders.get(part)
    if (!below) folder.folders.set(part, (below = folderOf(await readTree(this.#source, entry.oid))))
    return below
  }
}

function folderOf(entries: readonly TreeEntry[]): Folder {
  return { entries: new Map(entries.map((it) => [pathPart(it), it])), folders: new Map(), isChanged: false }
}

function writeFolders({ entries, folders, isChanged }: Folder, sink: ObjectSink): readonly TreeEntry[] {
  if (!isChanged) return [...entries.values()]
  return [...entries.values()].flatMap((entry) => {
    const folder = folders.get(pathPart(entry))
    if (!folder?.isChanged) return [entry]
    const below = writeFolders(folder, sink)
    return below.length === 0 ? [] : [{ ...entry, oid: writeTree(sink, below) }]
  })
}

function sameName({ entries }: Folder, name: string): TreeEntry | undefined {
  const exact = entries.get(name)
  if (exact) return exact
  const folded = name.toLowerCase()
  for (const entry of entries.values()) if (entry.name.toLowerCase() === folded) return entry
  return undefined
}

function isFolder({ mode }: TreeEntry): boolean {
  return mode === '40000'
}
