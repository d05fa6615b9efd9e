import { counts } from '../../base/counters.ts'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import type { PackCache } from '../packs/pack-cache.ts'
import { PackReader } from '../packs/pack-reader.ts'
import { SequentialPackReader } from '../packs/sequential-pack-reader.ts'
import { type DamagedCopy, DamagedObject, CorruptObject, PackGone } from './errors.ts'
import { type GitObject, type ObjectKind, type Oid, hashObject, objectKinds } from './object.ts'
import { inflateWhole } from '../packs/pack-entry.ts'
import { PackIndex } from '../packs/pack-index-reader.ts'

/** Objects of a write up to this size stay in memory. */
const MAX_WRITTEN_OBJECTS_KEPT = 2000
/** A longer one does not: copying it takes as long as reading it. */
const LONGEST_REMEMBERED = 8 * 1024 * 1024

/** The maximum number of looks for one object while the repository is repacked again and again. */
const ATTEMPTS = 100

/**
 * Reads the objects of one repository, loose or packed, written by git or by this server. Every object is checked against its id. If a copy is
 * damaged, another one is looked for; only if there is none, `DamagedObject` is thrown. It notices by itself what a fetch, `git gc` or `git
 * repack` changes.
 */
export class ObjectDatabase {
  /** The folder of the repository. */
  readonly gitdir: string
  readonly #loose: LooseObjects
  readonly #packs: PackDirectory
  readonly #cache: PackCache

  constructor(fs: Fs, gitdir: string, cache: PackCache) {
    this.#cache = cache
    this.gitdir = gitdir
    this.#loose = new LooseObjects(fs, gitdir)
    this.#packs = new PackDirectory(fs, cache, gitdir)
  }

  /**
   * The object, or undefined if the repository does not have it. Its bytes are shared: never change them. `readPacked` reads it where it
   * lies in a pack.
   */
  async read(oid: Oid, readPacked: UsePacked<GitObject> = checkedRead): Promise<GitObject | undefined> {
    const written = this.#cache.written.peek(`${this.gitdir} ${oid}`)
    if (written) {
      counts.lookups.objects.hits++
      return written
    }
    counts.lookups.objects.misses++
    return this.#find(oid, readPacked)
  }

  /**
   * Many objects, in the given order. Objects that lie in a pack in this order are read together, which is fast. The caller should yield between a
   * few hundred, and pass the same run for consecutive calls. Stops once the objects that were read have `enough` bytes together.
   */
  async readMany(
    oids: readonly Oid[],
    run = new SequentialPackReader(),
    enough = Infinity,
  ): Promise<(GitObject | undefined)[]> {
    const startRun: UsePacked<GitObject> = (pack, offset, oid) => run.startAt(pack, offset, oid)
    const objects: (GitObject | undefined)[] = []
    let size = 0
    for (const oid of oids) {
      const object = run.next(oid) ?? (await this.read(oid, startRun))
      objects.push(object)
      if (object && (size += object.bytes.length) >= enough) break
    }
    return objects
  }

  /** The bytes of an object that must be of this kind (`damaged_repository` if not), or undefined if it is absent. */
  async readKind(oid: Oid, kind: ObjectKind): Promise<Buffer | undefined> {
    const object = await this.read(oid)
    if (!object || object.kind === kind) return object?.bytes
    throw new Refusal(
      'damaged_repository',
      `Object ${oid} of ${this.gitdir} is a ${object.kind} where a ${kind} is needed. Run git fsck there.`,
    )
  }

  /** Whether the repository has the object now. Looks at the disk, not at what is cached, and does not read the object. */
  async has(oid: Oid): Promise<boolean> {
    this.#packs.refresh()
    for (let attempt = 1; ; attempt++) {
      const damaged: DamagedCopy[] = []
      if (this.#findPacked(oid, damaged, () => true) || this.#loose.has(oid)) return true
      if (!this.#lookAgain(oid, damaged, attempt)) return false
    }
  }

  /** Keeps newly written objects in memory for a while: the last ones, which are the commit and the trees above many rows. */
  remember(objects: readonly (GitObject & { readonly oid: Oid })[]): void {
    for (const { oid, kind, bytes } of objects.slice(-MAX_WRITTEN_OBJECTS_KEPT)) {
      if (bytes.length > LONGEST_REMEMBERED) continue
      // A copy, because a small buffer may keep a whole pack or an 8 KB block in memory, of which the cache counts only a part.
      const own = Buffer.from(new Uint8Array(bytes).buffer)
      this.#cache.written.set(`${this.gitdir} ${oid}`, { kind, bytes: own })
    }
  }

  /** The ids of all objects that start with 4 to 40 hex digits (lower case), in order. */
  async startingWith(hexPrefix: string): Promise<Oid[]> {
    if (!/^[0-9a-f]{4,40}$/.test(hexPrefix)) {
      throw new RangeError(`"${hexPrefix}" is not 4 to 40 lower-case hex digits.`)
    }
    for (let attempt = 1; ; attempt++) {
      const damaged: DamagedCopy[] = []
      const { oids, complete } = this.#collect(hexPrefix, damaged)
      if (complete || attempt === ATTEMPTS) return [...oids].sort()
      this.#lookAgain(`${hexPrefix}…`, damaged, attempt)
    }
  }

  #find(oid: Oid, readPacked: UsePacked<GitObject>): GitObject | undefined {
    for (let attempt = 1; ; attempt++) {
      const damaged: DamagedCopy[] = []
      // Packed objects first: an object that git packs meanwhile stays loose until its pack can be listed.
      const object = this.#findPacked(oid, damaged, readPacked) ?? this.#readLoose(oid, damaged)
      if (object) return object
      if (!this.#lookAgain(oid, damaged, attempt)) return undefined
    }
  }

  /** Called if nothing was found. True if another look may help, false if the object is absent. Refuses if the object may be in a damaged place. */
  #lookAgain(what: string, damaged: readonly DamagedCopy[], attempt: number): boolean {
    if (attempt < ATTEMPTS && this.#packs.refresh()) return true
    if (damaged.length > 0) throw new DamagedObject(this.gitdir, what, damaged)
    return false
  }

  #readLoose(oid: Oid, damaged: DamagedCopy[]): GitObject | undefined {
    try {
      return this.#loose.read(oid)
    } catch (error) {
      if (!(error instanceof CorruptObject)) throw error
      damaged.push({ file: this.#loose.path(oid), reason: error.message })
      return undefined
    }
  }

  #findPacked<T>(oid: Oid, damaged: DamagedCopy[], use: UsePacked<T>): T | undefined {
    for (const listed of this.#packs.packs) {
      let pack: PackReader | undefined
      try {
        pack = this.#packs.open(listed)
        const offset = pack.index.find(oid)
        const found = offset === undefined ? undefined : use(pack, offset, oid)
        if (found === undefined) continue
        this.#packs.moveToFront(listed)
        return found
      } catch (error) {
        this.#setAside(listed, pack, error, damaged)
      }
    }
    return undefined
  }

  /** Forgets a pack that is gone, notes one that is damaged, and throws any other error. */
  #setAside(listed: ListedPack, pack: PackReader | undefined, error: unknown, damaged: DamagedCopy[]): void {
    if (error instanceof PackGone) this.#packs.drop(listed)
    else if (error instanceof CorruptObject) {
      damaged.push({ file: pack ? listed.packPath : listed.indexPath, reason: error.message })
    } else throw error
  }

  /** The ids with this prefix; not complete if a pack was gone or unreadable. */
  #collect(hexPrefix: string, damaged: DamagedCopy[]): { oids: ReadonlySet<Oid>; complete: boolean } {
    const oids = new Set(this.#loose.startingWith(hexPrefix))
    this.#packs.refresh() // After the loose objects, because git may pack one meanwhile: then it is in one of the two places.
    let complete = true
    for (const listed of this.#packs.packs) {
      try {
        for (const oid of this.#packs.open(listed).index.startingWith(hexPrefix)) oids.add(oid)
      } catch (error) {
        this.#setAside(listed, undefined, error, damaged)
        complete = false
      }
    }
    return { oids, complete }
  }
}

type UsePacked<T> = (pack: PackReader, offset: number, oid: Oid) => T | undefined

function checkedRead(pack: PackReader, offset: number, oid: Oid): GitObject {
  const { kind, bytes } = pack.read(offset)
  if (hashObject(kind, bytes) !== oid) throw new CorruptObject(`its bytes do not match its id`)
  return { kind, bytes }
}

/** The objects that have a file of their own, `objects/<2 hex>/<38 hex>`. */
class LooseObjects {
  readonly #fs: Fs
  readonly #folder: string

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs
    this.#folder = `${gitdir}/objects`
  }

  /** The file that holds the object if it is loose. */
  path(oid: Oid): string {
    return `${this.#folder}/${oid.slice(0, 2)}/${oid.slice(2)}`
  }

  has(oid: Oid): boolean {
    return this.#fs.stat(this.path(oid))?.kind === 'file'
  }

  /** The object, checked against its id; undefined if it is not loose. Throws `CorruptObject` if its file is damaged. */
  read(oid: Oid): GitObject | undefined {
    const deflated = this.#fs.readFile(this.path(oid))
    if (!deflated) return undefined
    const inflated = inflateWhole(deflated)
    const end = inflated.indexOf(0)
    const header = /^(\w+) (\d+)$/.exec(inflated.toString('latin1', 0, Math.max(0, Math.min(end, 32))))
    const kind = objectKinds.find((name) => name === header?.[1])
    const bytes = inflated.subarray(end + 1)
    if (!kind || Number(header?.[2]) !== bytes.length)
      throw new CorruptObject('it does not start as an object does')
    if (hashObject(kind, bytes) !== oid) throw new CorruptObject('its bytes do not match its id')
    return { kind, bytes }
  }

  /** The loose objects whose ids start with these hex digits (at least two), in any order. */
  startingWith(hexPrefix: string): Oid[] {
    const folder = hexPrefix.slice(0, 2)
    const rest = hexPrefix.slice(2)
    const names = this.#fs.readDir(`${this.#folder}/${folder}`) ?? []
    return names
      .filter((name) => name.startsWith(rest) && /^[0-9a-f]{38}$/.test(name))
      .map((name) => folder + name)
  }
}

/**
 * A folder that changed less than this many milliseconds before it was listed may have changed again without a new time: some file systems keep
 * times in steps of two seconds.
 */
const RACY = 2100

/** One pack of a repository, with the names of its files. */
interface ListedPack {
  readonly name: string
  readonly packPath: string
  readonly indexPath: string
}

/** Which packs a repository has, as `objects/pack` was last listed. */
class PackDirectory {
  readonly #fs: Fs
  readonly #cache: PackCache
  readonly #folder: string
  #packs: ListedPack[] = []
  #modified: number | undefined
  #listedAt = 0

  constructor(fs: Fs, cache: PackCache, gitdir: string) {
    this.#fs = fs
    this.#cache = cache
    this.#folder = `${gitdir}/objects/pack`
  }

  /** The known packs, the last useful one first. The folder is listed once before anything is looked for elsewhere. */
  get packs(): readonly ListedPack[] {
    if (this.#listedAt === 0) this.refresh()
    return this.#packs
  }

  /** Lists the folder anew if it may have changed; true if there is a pack that was not known before. */
  refresh(): boolean {
    const modified = this.#fs.stat(this.#folder)?.modified
    if (modified === this.#modified && (modified ?? 0) < this.#listedAt - RACY) return false
    this.#listedAt = Date.now()
    this.#modified = modified
    const names = new Set(this.#fs.readDir(this.#folder) ?? [])
    const known = new Set(this.#packs.map(({ name }) => name))
    this.#packs = this.#packs.filter(({ name }) => names.has(`${name}.idx`) && names.has(`${name}.pack`))
    const fresh = [...names]
      .filter((file) => /^pack-.*\.idx$/.test(file))
      .map((file) => file.slice(0, -'.idx'.length))
      .filter((name) => !known.has(name) && names.has(`${name}.pack`))
      .map((name) => this.#describe(name))
    this.#packs = [...this.#newestFirst(fresh), ...this.#packs]
    return fresh.length > 0
  }

  /** The opened pack. Throws `PackGone` if its files are gone, `CorruptObject` if its index is damaged. */
  open(listed: ListedPack): PackReader {
    const open = this.#cache.packs.peek(listed.indexPath)
    if (open) return open
    const index = new PackIndex(this.#fs, this.#cache, listed.indexPath)
    const pack = new PackReader(this.#fs, this.#cache, listed.packPath, index)
    this.#cache.packs.set(listed.indexPath, pack)
    return pack
  }

  /** Starts the next look with this pack. */
  moveToFront(listed: ListedPack): void {
    this.#cache.packs.get(listed.indexPath)
    if (this.#packs[0] === listed) return
    this.#packs = [listed, ...this.#packs.filter((pack) => pack !== listed)]
  }

  /** Forgets a pack that is gone, and lists the folder again next time. */
  drop(listed: ListedPack): void {
    this.#packs = this.#packs.filter((pack) => pack !== listed)
    this.#modified = undefined
    this.#listedAt = 0
    this.#cache.packs.delete(listed.indexPath)
    this.#cache.handles.delete(listed.indexPath)
    this.#cache.handles.delete(listed.packPath)
  }

  /** The newest pack first, because new objects are read most often. */
  #newestFirst(packs: ListedPack[]): readonly ListedPack[] {
    if (packs.length < 2) return packs
    return packs
      .map((pack) => ({ pack, modified: this.#fs.stat(pack.packPath)?.modified ?? 0 }))
      .sort((a, b) => b.modified - a.modified)
      .map(({ pack }) => pack)
  }

  #describe(name: string): ListedPack {
    const path = `${this.#folder}/${name}`
    return {
      name,
      packPath: `${path}.pack`,
      indexPath: `${path}.idx`,
    }
  }
}
