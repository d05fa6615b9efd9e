import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ChildProcess } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { isQuarantine } from '../../../src/git/receive/quarantine.ts'
import { namesIn } from './disk-names.ts'
import type { DiskNode } from './disk-nodes.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

/**
 * Lets the git program work on the store of a simulated disk. Before git runs, the store is written to a real folder of the same
 * path; when git has ended, what it did there is done to the disk, step by step, as `strace` shows git 2.39 doing it: new packs
 * under temporary names, synced where git is told to (`core.fsync`), renamed, the pack before its index; `packed-refs` and the
 * commit graph by a lock and a rename; packs that go, pack before index; loose refs that go, each under its lock. git syncs no
 * folder, so none is.
 *
 * Simulated are power cuts between any two of these steps, before and behind them. Not simulated are a disk that fails git, a git
 * that is killed by itself, and what the server does while git is at work: its own steps are before git's or behind them, and
 * whatever it waits for on the disk waits until git has ended, so that a seed is one history. (`npm run proof -- kill` has real processes
 * at work at once, and kills them.)
 */
export class GitOnDisk {
  /** The disk's, which the git program seems to see. */
  readonly fs: Fs
  readonly #disk: SimulatedDisk
  readonly #store: string
  /** What both have: each file's bytes on the disk, and its inode in the real folder. */
  readonly #known = new Map<string, KnownFile>()
  readonly #running = new Map<ChildProcess, Promise<void>>()
  #isAtWork = false

  constructor(disk: SimulatedDisk, store: string) {
    this.#disk = disk
    this.#store = store
    this.fs = { ...disk.fs, isSeenByOthers: true }
    subscribe(STARTS, this.#onStart)
    disk.holdUp(() => this.#untilIdle())
  }

  /** Whether the step that the disk takes now is git's. */
  get isAtWork(): boolean {
    return this.#isAtWork
  }

  /** Nobody is looked after any more, and the real folder is removed. */
  close(): void {
    unsubscribe(STARTS, this.#onStart)
    rmSync(this.#store, { recursive: true, force: true })
  }

  readonly #onStart = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess } // what node says of every new process
    this.#writeOut()
    const ended = new Promise<void>((resolve) => {
      // The first to listen: whoever started it finds the disk as git left it.
      child.once('close', () => {
        this.#bringBack()
        this.#running.delete(child)
        resolve()
      })
    })
    this.#running.set(child, ended)
  }

  async #untilIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Makes the real folder what the disk is, without touching what is equal. */
  #writeOut(): void {
    const { files, folders } = below(nodeAt(this.#disk.state.root, this.#store), this.#store)
    for (const folder of folders) mkdirSync(folder, { recursive: true })
    for (const path of this.#known.keys()) {
      if (files.has(path)) continue
      rmSync(path, { force: true })
      this.#known.delete(path)
    }
    for (const [path, bytes] of files) {
      if (this.#known.get(path)?.bytes === bytes) continue
      // In one go, as a git that runs may read it.
      writeFileSync(`${this.#store}/.new`, bytes)
      renameSync(`${this.#store}/.new`, path)
      this.#known.set(path, { bytes, inode: lstatSync(path).ino })
    }
  }

  /** Also what others that still run have done up to now: of two that run at once nobody knows which made a file. */
  #bringBack(): void {
    const isAnySyncing = [...this.#running.keys()].some(({ spawnargs }) =>
      spawnargs.includes('core.fsync=all'),
    )
    // Into its quarantine git writes what a push brings, and syncs nothing; everywhere else only what upkeep has it do.
    const isSynced = (path: string): boolean => isAnySyncing && !path.split('/').some(isQuarantine)
    const found = realFilesBelow(this.#store)
    const fresh = found.filter((path) => {
      const known = this.#known.get(path)
      return known ? lstatSync(path).ino !== known.inode : !TEMPORARY.test(path)
    })
    const gone = [...this.#known.keys()].filter((path) => !found.includes(path)).sort(packBeforeIndex)
    this.#isAtWork = true
    try {
      this.#publishPacks(fresh.filter((path) => isOfPack(path)).sort(packBeforeIndex), isSynced)
      for (const path of fresh.filter((path) => !isOfPack(path))) this.#replace(path, isSynced)
      for (const path of gone) this.#remove(path)
    } finally {
      this.#isAtWork = false
    }
  }

  #publishPacks(paths: readonly string[], isSynced: (path: string) => boolean): void {
    const { fs } = this.#disk
    for (const path of paths) {
      fs.create(temporaryOf(path), readFileSync(path))
      if (isSynced(path)) this.#disk.syncAtOnce(temporaryOf(path))
    }
    for (const path of paths) {
      fs.rename(temporaryOf(path), path)
      this.#note(path)
    }
  }

  /** `packed-refs` is written beside its lock, every other file of git's in its lock. */
  #replace(path: string, isSynced: (path: string) => boolean): void {
    const { fs } = this.#disk
    const isPackedRefs = path.endsWith('/packed-refs')
    const written = isPackedRefs ? `${path}.new` : `${path}.lock`
    fs.makeDir(dirname(path))
    this.#locked(path, isPackedRefs, () => {
      fs.create(written, readFileSync(path))
      if (isSynced(path)) this.#disk.syncAtOnce(written)
      fs.rename(written, path)
    })
    this.#note(path)
  }

  #remove(path: string): void {
    this.#locked(path, path.includes('.git/refs/'), () => this.#disk.fs.remove(path))
    this.#known.delete(path)
  }

  /** What the server locked in the moment in which git began, git leaves alone; so it is written to the real folder again. */
  #locked(path: string, isLocked: boolean, work: () => void): void {
    const { fs } = this.#disk
    if (!isLocked) return work()
    if (fs.stat(`${path}.lock`)) return void this.#known.delete(path)
    fs.create(`${path}.lock`, Buffer.alloc(0))
    work()
    fs.remove(`${path}.lock`)
  }

  #note(path: string): void {
    const node = nodeAt(this.#disk.state.root, path)
    if (node?.kind === 'file') this.#known.set(path, { bytes: node.bytes, inode: lstatSync(path).ino })
  }
}

interface KnownFile {
  readonly bytes: Buffer
  readonly inode: number
}

/** Where node tells of every process that is started (node:diagnostics_channel). */
const STARTS = 'child_process'

/** What git has not finished. */
const TEMPORARY = /\/(?:\.?tmp[_-][^/]*|[^/]*\.(?:lock|new))$/

function isOfPack(path: string): boolean {
  return /\/pack-[0-9a-f]{40}\.\w+$/.test(path)
}

function packBeforeIndex(a: string, b: string): number {
  return Number(b.endsWith('.pack')) - Number(a.endsWith('.pack'))
}

function temporaryOf(path: string): string {
  const kind = path.endsWith('.pack') ? 'pack' : 'idx'
  return path.replace(/pack-([0-9a-f]{6})[^/]*$/, `tmp_${kind}_$1`)
}

function nodeAt(root: DiskNode, path: string): DiskNode | undefined {
  let node: DiskNode | undefined = root
  for (const name of namesIn(path)) node = node?.kind === 'folder' ? node.entries.get(name) : undefined
  return node
}

/** What is of interest to git: not the server's own folders, whose names begin with a dot. */
function below(
  node: DiskNode | undefined,
  path: string,
  found: Below = { files: new Map(), folders: [] },
): Below {
  if (node?.kind === 'file') found.files.set(path, node.bytes)
  else {
    found.folders.push(path)
    for (const [name, child] of node?.entries ?? [])
      if (!name.startsWith('.')) below(child, `${path}/${name}`, found)
  }
  return found
}

interface Below {
  readonly files: Map<string, Buffer>
  readonly folders: string[]
}

function realFilesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? realFilesBelow(path) : [path]
  })
}
