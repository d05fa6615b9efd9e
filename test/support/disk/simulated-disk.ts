import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FileHandle, Fs, LogHandle } from '../../../src/storage/files/fs.ts'
import { DiskCalls } from './disk-calls.ts'
import type { DiskState } from './disk-names.ts'
import { DiskNames, errno } from './disk-names.ts'
import type { DiskFile } from './disk-nodes.ts'
import type { BeforeStep, StepCall, Wait } from './disk-steps.ts'
import { DiskSteps } from './disk-steps.ts'
import { readHandle, readInto, statOf } from './open-files.ts'
import type { Random } from '../values/random.ts'

/**
 * A disk that keeps apart what everybody sees and what would survive a power cut: the bytes of a file are on it once the file is
 * synced, a name (of a new file, a link, a rename, a removal) once its folder is. What is not synced may be lost or kept, each
 * part by itself (see `crash.ts`). A sync takes a few turns of the event loop, and vouches for what was there when it began.
 */
export class SimulatedDisk {
  readonly fs: Fs
  readonly #names: DiskNames
  readonly #random: Random
  readonly #steps = new DiskSteps()
  readonly #calls: DiskCalls

  constructor(random: Random, state?: DiskState) {
    this.#random = random
    this.#names = new DiskNames(state)
    this.#calls = new DiskCalls(this.#names, this.#steps)
    this.fs = this.#makeFs()
  }

  /** How many steps were taken. */
  get steps(): number {
    return this.#steps.taken
  }

  /** Has `before` asked before every step from now on. */
  watch(before: BeforeStep): void {
    this.#steps.watch(before)
  }

  /** Has `wait` asked, too, before every step from now on that can be waited for: syncs, files made or removed by other threads. */
  holdUp(wait: Wait): void {
    this.#steps.holdUp(wait)
  }

  /** As it is now; to be copied, not changed. */
  get state(): DiskState {
    return this.#names.state
  }

  /** What the kernel does every few seconds: everything is on the disk. */
  flush(): void {
    this.#names.flush()
  }

  /** A sync of a file that is over at once: what another program does to the disk is done in one go. */
  syncAtOnce(path: string): void {
    const upTo = this.#names.order
    this.#steps.take('sync', path)
    this.#steps.take('synced', path)
    this.#names.file(path)?.settle(upTo)
  }

  #makeFs(): Fs {
    return {
      isSeenByOthers: false,
      stat: (path) => statOf(this.#names.find(path)),
      readDir: (path) => {
        const node = this.#calls.read(path)
        return node?.kind === 'folder' ? [...node.entries.keys()] : undefined
      },
      readFile: (path) => {
        const node = this.#calls.read(path)
        return node?.kind === 'file' ? Buffer.from(node.bytes) : undefined
      },
      open: (path) => {
        const node = this.#calls.read(path)
        return node?.kind === 'file' ? readHandle(node) : undefined
      },
      createSynced: (path, bytes) => this.#createSynced(path, bytes),
      create: (path, bytes) => {
        const file = this.#calls.create(path)
        try {
          this.#calls.write(path, file, bytes, 0)
        } catch (error) {
          this.#calls.removeAnyway(path)
          throw error
        }
      },
      createLog: (path) => this.#logHandle(path, this.#calls.create(path)),
      createFile: (path) => this.#fileHandle(path, this.#calls.create(path)),
      sync: (path) => this.#syncAny(path),
      syncAll: async (paths) => {
        for (const path of paths) await this.#syncAny(path)
      },
      append: (path, bytes) => {
        const file = this.#names.file(path) ?? this.#calls.create(path)
        this.#calls.write(path, file, bytes, file.bytes.length)
      },
      makeDir: (path) => this.#calls.makeDir(path),
      rename: (from, to) => this.#calls.rename(from, to),
      link: (from, to) => this.#calls.link(from, to),
      remove: (path) => this.#calls.remove(path),
      removeAll: async (paths) => {
        for (const path of paths) {
          await this.#turn('remove', path)
          this.#calls.remove(path)
        }
      },
      removeFolder: (path) => this.#calls.removeFolder(path),
      removeTree: (path) => this.#calls.removeTree(path),
      syncDir: (path) => this.#syncDir(path),
    }
  }

  async #createSynced(path: string, bytes: Uint8Array): Promise<void> {
    const file = this.#calls.create(path)
    try {
      this.#calls.write(path, file, bytes, 0)
      await this.#sync(path, file)
    } catch (error) {
      this.#calls.removeAnyway(path)
      throw error
    }
  }

  async #syncAny(path: string): Promise<void> {
    const node = this.#names.find(path)
    if (node?.kind === 'folder') return this.#syncDir(path)
    if (node) await this.#sync(path, node)
  }

  async #sync(path: string, file: DiskFile): Promise<void> {
    const upTo = this.#names.order
    try {
      this.#steps.take('sync', path)
      await this.#takeTime('sync', path)
      this.#steps.take('synced', path)
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
    const folder = this.#names.find(path)
    if (!folder) throw errno('ENOENT', 'open', path)
    const upTo = this.#names.order
    this.#steps.take('syncDir', path)
    await this.#takeTime('syncDir', path)
    this.#steps.take('dirSynced', path)
    this.#names.settle(folder, upTo)
  }

  /** As long as a sync takes. */
  async #takeTime(call: StepCall, path: string): Promise<void> {
    for (let turns = 1 + this.#random.below(3); turns > 0; turns--) await this.#turn(call, path)
  }

  /** What another thread does is not done in this turn. */
  async #turn(call: StepCall, path: string): Promise<void> {
    await nextTurn()
    await this.#steps.ready(call, path)
  }

  #logHandle(path: string, file: DiskFile): LogHandle {
    let end = 0
    return {
      append: (bytes) => {
        this.#calls.write(path, file, bytes, end)
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
        this.#calls.write(path, file, bytes, end)
        end += bytes.length
      },
      overwrite: (bytes, position) => this.#calls.write(path, file, bytes, position),
      read: (target, position) => readInto(file, target, position),
      sync: () => this.#sync(path, file),
      close: () => undefined,
    }
  }
}
