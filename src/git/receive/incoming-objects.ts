import { type Fs, nodeFs } from '../../storage/files.ts'
import { copyToDisk } from '../program/copy-to-disk.ts'
import { runGit } from '../program/git-process.ts'
import { gitEnvironment } from '../program/git-environment.ts'
import { indexPack, type PackStream } from './index-pack.ts'
import type { ListedObject } from '../program/list-objects.ts'
import { listObjects } from '../program/list-objects.ts'
import type { GitObject, Oid } from '../objects/object.ts'
import { ObjectDatabase } from '../objects/object-database.ts'
import { PackCache } from '../packs/pack-cache.ts'
import { PackIndex } from '../packs/pack-index-reader.ts'
import type { Quarantine } from './quarantine.ts'
import { openQuarantine } from './quarantine.ts'
import { StagedPack } from '../packs/pack-writer.ts'
import type { Transaction } from '../transactions/transaction.ts'

/** A push of at most this many objects and bytes is written like any other small write, together with waiting ones. */
const FEW_OBJECTS = 200
const SMALL_PACK = 256 * 1024

/**
 * The objects of a push before it is accepted: in quarantine, where only this object sees them, each checked as `git fsck --strict` would.
 * Call `discard` at the end, also after they were taken into the repository.
 */
export class IncomingObjects {
  readonly #fs: Fs
  /** The folder of the repository. */
  readonly gitdir: string
  readonly #quarantine: Quarantine
  readonly #cache = new PackCache()
  readonly #repository: ObjectDatabase
  readonly #own: ObjectDatabase
  readonly #pack: string | undefined
  readonly #index: PackIndex | undefined
  #staged: StagedPack | undefined

  protected constructor(
    fs: Fs,
    gitdir: string,
    repository: ObjectDatabase,
    quarantine: Quarantine,
    pack: string | undefined,
  ) {
    this.#fs = fs
    this.gitdir = gitdir
    this.#repository = repository
    this.#quarantine = quarantine
    this.#own = new ObjectDatabase(fs, quarantine.path, this.#cache)
    this.#pack = pack
    const index = pack && new PackIndex(fs, this.#cache, `${quarantine.packFolder}/${pack}.idx`)
    // If the repository already has everything, the pack is empty.
    this.#index = index && index.count > 0 ? index : undefined
  }

  /** Receives a pack; without one, the repository already has everything. Refuses with `invalid_file` a pack that git does not accept. */
  static async receive(
    fs: Fs,
    gitdir: string,
    objects: ObjectDatabase,
    pack: PackStream | undefined,
  ): Promise<IncomingObjects> {
    if (!fs.isSeenByOthers) return ObjectsForMemory.receive(fs, gitdir, objects, pack)
    const quarantine = openQuarantine(fs, gitdir)
    try {
      const name = pack && (await indexPack(quarantine, pack))
      return new IncomingObjects(fs, gitdir, objects, quarantine, name)
    } catch (error) {
      quarantine.discard()
      throw error
    }
  }

  /** The object, from the push or the repository. */
  async read(oid: Oid): Promise<GitObject | undefined> {
    return (this.#index && (await this.#own.read(oid))) ?? this.#repository.read(oid)
  }

  /** The same for many, in the order given. */
  async readMany(oids: readonly Oid[]): Promise<(GitObject | undefined)[]> {
    if (!this.#index) return this.#repository.readMany(oids)
    const own = await this.#own.readMany(oids)
    return Promise.all(own.map((object, index) => object ?? this.#repository.read(oids[index] ?? '')))
  }

  /** Whether the push brought the object. (It may have brought some that the repository has.) */
  has(oid: Oid): boolean {
    return this.#index?.find(oid) !== undefined
  }

  /**
   * Every object that these reach and that no ref of the repository reaches yet. Refuses with `invalid_file` if an object that they reach
   * is neither in the push nor in the repository.
   */
  newObjects(tips: readonly Oid[], signal?: AbortSignal): AsyncGenerator<ListedObject> {
    return listObjects({ gitdir: this.gitdir, env: this.#environment(), tips, except: 'refs', signal })
  }

  /** Whether the newer commit reaches the older one, by any parents. */
  async isAncestor(older: Oid, newer: Oid, signal?: AbortSignal): Promise<boolean> {
    const args = [`--git-dir=${this.gitdir}`, 'merge-base', '--is-ancestor', older, newer]
    return (await runGit({ args, env: this.#environment(), signal })).code === 0
  }

  /** Whether they are few and small enough to be written together with other writes; see `takeInto`. */
  get isSmall(): boolean {
    if (!this.#index) return true
    const size = this.#fs.stat(`${this.#quarantine.packFolder}/${this.#pack}.pack`)?.size ?? Infinity
    return this.#index.count <= FEW_OBJECTS && size <= SMALL_PACK
  }

  /** Prepares them for the repository. Call the answered function with a transaction, which then writes them. */
  async prepare(): Promise<(transaction: Transaction) => void> {
    if (!this.#index) return () => undefined
    if (!this.isSmall) {
      const staged = await this.#stage()
      return (transaction) => transaction.adopt(staged)
    }
    const oids = [...this.#index.oids()]
    const objects = await this.#own.readMany(oids)
    return (transaction) => {
      for (const object of objects) if (object) transaction.write(object.kind, object.bytes)
    }
  }

  /** Removes the quarantine. */
  discard(): void {
    this.#cache.close()
    this.#staged?.discard()
    this.#quarantine.discard()
  }

  /** Writes the pack to the repository's folder of packs, under a temporary name, and syncs it. */
  async #stage(): Promise<StagedPack> {
    const staged = new StagedPack(this.#fs, this.gitdir)
    for (const [ending, path] of [
      ['pack', staged.packPath],
      ['idx', staged.indexPath],
    ] as const) {
      const received = `${this.#quarantine.packFolder}/${this.#pack}.${ending}`
      await this.#fs.sync(received)
      this.#fs.link(received, path)
    }
    await staged.keep()
    staged.name = this.#pack ?? ''
    return (this.#staged = staged)
  }

  #environment(): NodeJS.ProcessEnv {
    return gitEnvironment({}, this.#quarantine.variables)
  }
}

/** The same for a store in memory: git works in a copy on the disk, and all objects are written like those of a small push. */
class ObjectsForMemory extends IncomingObjects {
  static override async receive(
    fs: Fs,
    gitdir: string,
    objects: ObjectDatabase,
    pack: PackStream | undefined,
  ): Promise<IncomingObjects> {
    const { path, discard } = copyToDisk(fs, gitdir)
    try {
      const quarantine = { ...openQuarantine(nodeFs, path), discard }
      const name = pack && (await indexPack(quarantine, pack))
      return new ObjectsForMemory(nodeFs, path, objects, quarantine, name)
    } catch (error) {
      discard()
      throw error
    }
  }

  override get isSmall(): boolean {
    return true
  }
}
