import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FileHandle, FileStat, Fs, LogHandle, ReadHandle } from '../../src/git/fs.ts'
import type { DiskNode, NameChange, NamePart } from './disk-nodes.ts'
import { DiskFile, DiskFolder, setName } from './disk-nodes.ts'
import type { Random } from './random.ts'

/** One thing that is about to be done to the disk. */
export interface Step {
  /** 1 for the first. */
  readonly number: number
  readonly call: StepCall
  readonly path: string
}

export type StepCall =
  | 'create'
  | 'write'
  | 'sync'
  | 'synced'
  | 'makeDir'
  | 'rename'
  | 'link'
  | 'remove'
  | 'syncDir'
  | 'dirSynced'
  | 'read'

/** What keeps a step from being done. `isShort`: of a write a part has been done. */
export interface Trouble {
  readonly code: string
  readonly isShort?: boolean
}

/** Is asked before every step, and before every read, which counts as none: whether something goes wrong. */
export type BeforeStep = (step: Step) => Trouble | undefined | void

/** What a disk is made of: the folders of a new one, or what a crash left. */
export interface DiskState {
  readonly root: DiskFolder
  readonly changes: readonly NameChange[]
  /** Of the latest change or write. */
  readonly order: number
}

/**
 * A disk that keeps apart what everybody sees and what would survive a power cut: the bytes of a file are on it once the file is
 * synced, a name (of a new file, a link, a rename, a removal) once its folder is. What is not synced may be lost or kept, each
 * part by itself (see `crash.ts`). A sync takes a few turns of the event loop, and vouches for what was there when it began.
 */
export class SimulatedDisk {
  readonly fs: Fs
  readonly #root: DiskFolder
  readonly #random: Random
  #changes: NameChange[]
  #order = 0
  #steps = 0
  #before: BeforeStep = () => undefined

  constructor(random: Random, state = emptyDisk()) {
    this.#random = random
    this.#root = state.root
    this.#changes = [...state.changes]
    this.#order = state.order
    this.fs = this.#makeFs()
  }

  /** How many steps were taken. */
  get steps(): number {
    return this.#steps
  }

  /** Has `before` asked before every step from now on. */
  watch(before: BeforeStep): void {
    this.#before = before
  }

  /** As it is now; to be copied, not changed. */
  get state(): DiskState {
    return { root: this.#root, changes: this.#changes, order: this.#order }
  }

  /** What the kernel does every few seconds: everything is on the disk. */
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
    settle(this.#root)
    this.#changes = []
  }

  #makeFs(): Fs {
    return {
      isSeenByOthers: false,
      stat: (path) => statOf(this.#find(path)),
      readDir: (path) => {
        const node = this.#read(path)
        return node?.kind === 'folder' ? [...node.entries.keys()] : undefined
      },
      readFile: (path) => {
        const node = this.#read(path)
        return node?.kind === 'file' ? Buffer.from(node.bytes) : undefined
      },
      open: (path) => {
        const node = this.#read(path)
        return node?.kind === 'file' ? readHandle(node) : undefined
      },
      createSynced: (path, bytes) => this.#createSynced(path, bytes),
      create: (path, bytes) => {
        const file = this.#create(path)
        try {
          this.#write(path, file, bytes, 0)
        } catch (error) {
          this.#removeAnyway(path)
          throw error
        }
      },
      createLog: (path) => this.#logHandle(path, this.#create(path)),
      createEmpty: async (paths) => {
        for (const path of paths) {
          await nextTurn()
          this.#create(path)
        }
      },
      createFile: (path) => this.#fileHandle(path, this.#create(path)),
      sync: (path) => this.#syncAny(path),
      syncAll: async (paths) => {
        for (const path of paths) await this.#syncAny(path)
      },
      append: (path, bytes) => {
        const file = this.#file(path) ?? this.#create(path)
        this.#write(path, file, bytes, file.bytes.length)
      },
      makeDir: (path) => this.#makeDir(path),
      rename: (from, to) => this.#rename(from, to),
      link: (from, to) => {
        const file = this.#file(from)
        if (!file) throw errno('ENOENT', 'link', from)
        const place = this.#place(to, 'link')
        if (place.folder.entries.has(place.name)) throw errno('EEXIST', 'link', to)
        this.#step('link', to)
        this.#change([{ ...place, node: file }])
      },
      remove: (path) => this.#remove(path),
      removeAll: async (paths) => {
        for (const path of paths) {
          await nextTurn()
          this.#remove(path)
        }
      },
      removeFolder: (path) => {
        const node = this.#find(path)
        if (node?.kind !== 'folder') return true
        if (node.entries.size > 0) return false
        this.#step('remove', path)
        this.#change([{ ...this.#place(path, 'rmdir'), node: undefined }])
        return true
      },
      removeTree: (path) => this.#removeTree(path),
      syncDir: (path) => this.#syncDir(path),
    }
  }

  async #createSynced(path: string, bytes: Uint8Array | readonly Uint8Array[]): Promise<void> {
    const file = this.#create(path)
    try {
      this.#write(path, file, bytes instanceof Uint8Array ? bytes : Buffer.concat(bytes), 0)
      await this.#sync(path, file)
    } catch (error) {
      this.#removeAnyway(path)
      throw error
    }
  }

  async #syncAny(path: string): Promise<void> {
    const node = this.#find(path)
    if (node?.kind === 'folder') return this.#syncDir(path)
    if (node) await this.#sync(path, node)
  }

  #create(path: string): DiskFile {
    const place = this.#place(path, 'open')
    if (place.folder.entries.has(place.name)) throw errno('EEXIST', 'open', path)
    this.#step('create', path)
    const file = new DiskFile(Date.now())
    this.#change([{ ...place, node: file }])
    return file
  }

  #write(path: string, file: DiskFile, bytes: Uint8Array, at: number): void {
    try {
      this.#step('write', path)
    } catch (error) {
      const half = Buffer.from(bytes.subarray(0, Math.floor(bytes.length / 2)))
      if (error instanceof StepFailed && error.isShort) file.write({ order: ++this.#order, at, bytes: half })
      throw error
    }
    if (bytes.length > 0) file.write({ order: ++this.#order, at, bytes: Buffer.from(bytes) })
  }

  async #sync(path: string, file: DiskFile): Promise<void> {
    const upTo = this.#order
    try {
      this.#step('sync', path)
      await this.#wait()
      this.#step('synced', path)
    } catch (error) {
      this.#forget(file, upTo)
      throw error
    }
    file.settle(upTo)
  }

  /** As Linux does when a sync fails: a later one says nothing of the bytes that this one was about, written or lost. */
  #forget(file: DiskFile, upTo: number): void {
    file.unsynced = file.unsynced.filter(({ order }) => order > upTo || this.#random.chance(0.5))
    file.settle(upTo)
  }

  async #syncDir(path: string): Promise<void> {
    const folder = this.#find(path)
    if (!folder) throw errno('ENOENT', 'open', path)
    const upTo = this.#order
    this.#step('syncDir', path)
    await this.#wait()
    this.#step('dirSynced', path)
    this.#changes = this.#changes.flatMap((change) => {
      if (change.order > upTo || !change.parts.some((part) => part.folder === folder)) return [change]
      // A file that is renamed from one folder into another is never in neither.
      const isOldNameGone = change.parts.some((part) => part.folder === folder && !part.node)
      const settled = change.parts.filter((part) => isOldNameGone || part.folder === folder)
      for (const part of settled) setName(part.folder.durable, part)
      const parts = change.parts.filter((part) => !settled.includes(part))
      return parts.length > 0 ? [{ ...change, parts }] : []
    })
  }

  async #wait(): Promise<void> {
    for (let turns = 1 + this.#random.below(3); turns > 0; turns--) await nextTurn()
  }

  #makeDir(path: string): void {
    let folder = this.#root
    let at = ''
    for (const name of namesIn(path)) {
      at += `/${name}`
      let child = folder.entries.get(name)
      if (child?.kind === 'file') throw errno(at === path ? 'EEXIST' : 'ENOTDIR', 'mkdir', path)
      if (!child) {
        this.#step('makeDir', at)
        child = new DiskFolder(Date.now())
        this.#change([{ folder, name, node: child }])
      }
      folder = child
    }
  }

  #rename(from: string, to: string): void {
    const source = this.#place(from, 'rename')
    const node = source.folder.entries.get(source.name)
    if (!node) throw errno('ENOENT', 'rename', from)
    const target = this.#place(to, 'rename')
    const replaced = target.folder.entries.get(target.name)
    if (replaced?.kind === 'folder' && node.kind === 'file') throw errno('EISDIR', 'rename', to)
    if (replaced?.kind === 'file' && node.kind === 'folder') throw errno('ENOTDIR', 'rename', to)
    if (replaced?.kind === 'folder' && replaced.entries.size > 0) throw errno('ENOTEMPTY', 'rename', to)
    this.#step('rename', to)
    // rename(2): two names of one file stay as they are
    if (replaced === node) return
    this.#change([
      { ...target, node },
      { ...source, node: undefined },
    ])
  }

  #remove(path: string): void {
    const node = this.#find(path)
    if (!node) return
    if (node.kind === 'folder') throw errno('EISDIR', 'unlink', path)
    this.#step('remove', path)
    this.#change([{ ...this.#place(path, 'unlink'), node: undefined }])
  }

  /** What a call that failed tidies up, which fails too if the disk does. */
  #removeAnyway(path: string): void {
    try {
      this.#remove(path)
    } catch {
      // The caller is told of the first error.
    }
  }

  #removeTree(path: string): void {
    const node = this.#find(path)
    if (!node) return
    if (node.kind === 'folder') {
      for (const name of [...node.entries.keys()]) this.#removeTree(`${path}/${name}`)
    }
    this.#step('remove', path)
    this.#change([{ ...this.#place(path, 'rm'), node: undefined }])
  }

  #change(parts: readonly NamePart[]): void {
    for (const part of parts) {
      const before = part.folder.entries.get(part.name)
      if (before?.kind === 'file') before.links--
      if (part.node?.kind === 'file') part.node.links++
      setName(part.folder.entries, part)
      part.folder.modified = Date.now()
    }
    this.#changes.push({ order: ++this.#order, parts })
  }

  #read(path: string): DiskNode | undefined {
    const node = this.#find(path)
    if (node) this.#ask({ number: this.#steps, call: 'read', path })
    return node
  }

  #step(call: StepCall, path: string): void {
    this.#ask({ number: ++this.#steps, call, path })
  }

  #ask(step: Step): void {
    const trouble = this.#before(step)
    if (trouble) throw new StepFailed(trouble, step)
  }

  #file(path: string): DiskFile | undefined {
    const node = this.#find(path)
    if (node?.kind === 'folder') throw errno('EISDIR', 'open', path)
    return node
  }

  #find(path: string): DiskNode | undefined {
    return this.#below(namesIn(path))
  }

  #below(names: readonly string[]): DiskNode | undefined {
    let node: DiskNode | undefined = this.#root
    for (const name of names) {
      if (node?.kind !== 'folder') return undefined
      node = node.entries.get(name)
    }
    return node
  }

  #place(path: string, call: string): { readonly folder: DiskFolder; readonly name: string } {
    const names = namesIn(path)
    const name = names.pop()
    const folder = this.#below(names)
    if (name === undefined || !folder) throw errno('ENOENT', call, path)
    if (folder.kind === 'file') throw errno('ENOTDIR', call, path)
    return { folder, name }
  }

  #logHandle(path: string, file: DiskFile): LogHandle {
    let end = 0
    return {
      append: (bytes) => {
        this.#write(path, file, bytes, end)
        end += bytes.length
      },
      rewind: () => {
        end = 0
      },
      sync: () => this.#sync(path, file),
      close: () => undefined,
    }
  }

  #fileHandle(path: string, file: DiskFile): FileHandle {
    let end = 0
    return {
      append: (bytes) => {
        this.#write(path, file, bytes, end)
        end += bytes.length
      },
      overwrite: (bytes, position) => this.#write(path, file, bytes, position),
      read: (target, position) => readInto(file, target, position),
      sync: () => this.#sync(path, file),
      close: () => undefined,
    }
  }
}

/** What a step that is kept from being done throws: an error like node's. */
class StepFailed extends Error implements NodeJS.ErrnoException {
  readonly code: string
  readonly syscall: string
  readonly path: string
  readonly isShort: boolean

  constructor({ code, isShort = false }: Trouble, { call, path }: Step) {
    super(`${code}: ${call} '${path}'`)
    this.code = code
    this.syscall = call
    this.path = path
    this.isShort = isShort
  }
}

function emptyDisk(): DiskState {
  return { root: new DiskFolder(Date.now()), changes: [], order: 0 }
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

function statOf(node: DiskNode | undefined): FileStat | undefined {
  if (!node) return undefined
  const { kind, modified, inode } = node
  return kind === 'file'
    ? { kind, size: node.bytes.length, modified, inode, links: node.links }
    : { kind, size: node.entries.size, modified, inode, links: 1 }
}

function readHandle(file: DiskFile): ReadHandle {
  return {
    size: file.bytes.length,
    read: (target, position) => readInto(file, target, position),
    close: () => undefined,
  }
}

function readInto({ bytes }: DiskFile, target: Uint8Array, position: number): number {
  return bytes.copy(target, 0, Math.min(position, bytes.length))
}

/** An error as node:fs throws it. */
function errno(code: string, syscall: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path })
}
