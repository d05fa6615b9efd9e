import type { DiskFile, DiskNode, NameChange, NamePart } from './disk-nodes.ts'
import { DiskFolder, setName } from './disk-nodes.ts'

/** What a disk is made of: the folders of a new one, or what a crash left. */
export interface DiskState {
  readonly root: DiskFolder
  readonly changes: readonly NameChange[]
  /** Of the latest change or write. */
  readonly order: number
}

/** A name that is there or may be made. */
export interface Place {
  readonly folder: DiskFolder
  readonly name: string
}

/** The folders of a simulated disk: what every path leads to, and which changes of names no sync has vouched for. */
export class DiskNames {
  readonly root: DiskFolder
  #changes: NameChange[]
  #order: number

  constructor({ root, changes, order }: DiskState = emptyDisk()) {
    this.root = root
    this.#changes = [...changes]
    this.#order = order
  }

  get state(): DiskState {
    return { root: this.root, changes: this.#changes, order: this.#order }
  }

  /** The number of the latest change or write. */
  get order(): number {
    return this.#order
  }

  /** The number of one that is made now. */
  nextOrder(): number {
    return ++this.#order
  }

  find(path: string): DiskNode | undefined {
    return this.#below(namesIn(path))
  }

  /** The file of this path; throws EISDIR for a folder. */
  file(path: string): DiskFile | undefined {
    const node = this.find(path)
    if (node?.kind === 'folder') throw errno('EISDIR', 'open', path)
    return node
  }

  /** Where a name is or would be; throws ENOENT and ENOTDIR as the system's `call` does. */
  place(path: string, call: string): Place {
    const names = namesIn(path)
    const name = names.pop()
    const folder = this.#below(names)
    if (name === undefined || !folder) throw errno('ENOENT', call, path)
    if (folder.kind === 'file') throw errno('ENOTDIR', call, path)
    return { folder, name }
  }

  /** Makes names stand for something else, all together. */
  change(parts: readonly NamePart[]): void {
    for (const part of parts) {
      const before = part.folder.entries.get(part.name)
      if (before?.kind === 'file') before.links--
      if (part.node?.kind === 'file') part.node.links++
      setName(part.folder.entries, part)
      part.folder.modified = Date.now()
    }
    this.#changes.push({ order: this.nextOrder(), parts })
  }

  /** What names in a folder stood for up to then is on the disk. */
  settle(folder: DiskNode, upTo: number): void {
    const moves = this.#settledMoves(folder, upTo)
    this.#changes = this.#changes.flatMap((change) => {
      if (isMoveOfFolder(change)) {
        if (!moves.has(change)) return [change]
        for (const part of change.parts) setName(part.folder.durable, part)
        return []
      }
      if (change.order > upTo || !change.parts.some((part) => part.folder === folder)) return [change]
      // A file that is renamed from one folder into another is never in neither.
      const isOldNameGone = change.parts.some((part) => part.folder === folder && !part.node)
      const settled = change.parts.filter((part) => isOldNameGone || part.folder === folder)
      for (const part of settled) setName(part.folder.durable, part)
      const parts = change.parts.filter((part) => !settled.includes(part))
      return parts.length > 0 ? [{ ...change, parts }] : []
    })
  }

  /**
   * Moves of folders that are on the disk once this folder is: a folder has one parent, which fsck sees to, so it is in the new place when
   * it is off the old one, after whatever happened to these names before.
   */
  #settledMoves(folder: DiskNode, upTo: number): ReadonlySet<NameChange> {
    const settled = new Set<NameChange>()
    const names = new Map<DiskFolder, Set<string>>()
    for (const change of this.#changes.toReversed()) {
      if (change.order > upTo || !isMoveOfFolder(change)) continue
      const isOldNameGone = change.parts.some((part) => part.folder === folder && !part.node)
      if (!isOldNameGone && !change.parts.some((part) => names.get(part.folder)?.has(part.name))) continue
      settled.add(change)
      for (const part of change.parts)
        names.set(part.folder, (names.get(part.folder) ?? new Set()).add(part.name))
    }
    return settled
  }

  /** Everything is on the disk. */
  flush(): void {
    const settle = (node: DiskNode): void => {
      if (node.kind === 'file') node.settle(this.#order)
      else {
        node.durable.clear()
        for (const [name, child] of node.entries) {
          node.durable.set(name, child)
          settle(child)
        }
      }
    }
    settle(this.root)
    this.#changes = []
  }

  #below(names: readonly string[]): DiskNode | undefined {
    let node: DiskNode | undefined = this.root
    for (const name of names) {
      if (node?.kind !== 'folder') return undefined
      node = node.entries.get(name)
    }
    return node
  }
}

function isMoveOfFolder({ parts }: NameChange): boolean {
  return parts.length > 1 && parts.some(({ node }) => node?.kind === 'folder')
}

function emptyDisk(): DiskState {
  return { root: new DiskFolder(Date.now()), changes: [], order: 0 }
}

/** The parts of a path. */
export function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

/** An error as node:fs throws it. */
export function errno(code: string, syscall: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path })
}
