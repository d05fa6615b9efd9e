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

/** Objects of a write that stay in memory. */
const MAX_WRITTEN_OBJECTS_KEPT = 2000
/** A longer one is not: it would have to be copied, which takes as long as to read it. */
const LONGEST_REMEMBERED = 8 * 1024 * 1024

/** How often a repository that is repacked again and again is looked through for one object. */
const ATTEMPTS = 100

/**
 * Reads the objects of one repository, loose or packed, as git and we write them. Every object is checked against its
 * id before it is answered; where one copy is damaged another is looked for, and only without any does `DamagedObject`
 * tell. What a fetch, `git gc` or `git repack` did to the repository meanwhile is found without being told.
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
   * The same for many, in the order given. Quick for those that lie in a pack in this order, which are read together; let
   * others have their turn between a few hundred, and give the same run for all that follow one another. Once those that were read
   * have `enough` bytes together, the others are left out.
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

  /** Whether the repository has the object now (a look at the disk, not at what is remembered). Does not read it. */
  async has(oid: Oid): Promise<boolean> {
    this.#packs.refresh()
    for (let attempt = 1; ; attempt++) {
      const damaged: DamagedCopy[] = []
      if (this.#findPacked(oid, damaged, () => true) || this.#loose.has(oid)) return true
      if (!this.#lookAgain(oid, damaged, attempt)) return false
    }
  }

  /** Keeps what was just written to the disk in memory for a while: the last of it, the commit and the trees above many rows. */
  remember(objects: readonly (GitObject & { readonly oid: Oid })[]): void {
    for (const { oid, kind, bytes } of objects.slice(-MAX_WRITTEN_OBJECTS_KEPT)) {
      if (bytes.length > LONGEST_REMEMBERED) continue
      // a copy, because a small buffer may keep a whole pack or a piece of 8 KB in memory, of which the cache counts a part
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
      // packed first: what git packs while we look stays loose until its pack can be listed
      const object = this.#findPacked(oid, damaged, readPacked) ?? this.#readLoose(oid, damaged)
      if (object) return object
      if (!this.#lookAgain(oid, damaged, attempt)) return undefined
    }
  }

  /** Nothing was found: true if another look may help, false if it is absent; refuses if it may lie in what is damaged. */
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

  /** A pack that is gone is forgotten, one that is damaged is noted; any other error is not ours to judge. */
  #setAside(listed: ListedPack, pack: PackReader | undefined, error: unknown, damaged: DamagedCopy[]): void {
    if (error instanceof PackGone) this.#packs.drop(listed)
    else if (error instanceof CorruptObject) {
      damaged.push({ file: pack ? listed.packPath : listed.indexPath, reason: error.message })
    } else throw error
  }

  /** The ids with this prefix; not complete if a pack was gone or unreadable. */
  #collect(hexPrefix: string, damaged: DamagedCopy[]): { oids: ReadonlySet<Oid>; complete: boolean } {
    const oids = new Set(this.#loose.startingWith(hexPrefix))
    this.#packs.refresh() // after the loose ones: what git packs meanwhile is in one or the other
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

  /** The loose objects whose ids start with these hex digits (at least two), in no order. */
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
 * A folder that changed no longer than this (milliseconds) before it was listed may have changed again without its time
 * showing it: file systems keep times as coarsely as two seconds.
 */
const RACY = 2100

/** One pack of a repository, by the names of its files. */
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

  /** The packs known so far, the one that helped last in front; listed once before anything is looked for elsewhere. */
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

  /** Looks into this pack first from now on. */
  moveToFront(listed: ListedPack): void {
    this.#cache.packs.get(listed.indexPath)
    if (this.#packs[0] === listed) return
    this.#packs = [listed, ...this.#packs.filter((pack) => pack !== listed)]
  }

  /** Forgets a pack that is gone, and that the folder was ever listed. */
  drop(listed: ListedPack): void {
    this.#packs = this.#packs.filter((pack) => pack !== listed)
    this.#modified = undefined
    this.#listedAt = 0
    this.#cache.packs.delete(listed.indexPath)
    this.#cache.handles.delete(listed.indexPath)
    this.#cache.handles.delete(listed.packPath)
  }

  /** What was written last is most often asked for. */
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
