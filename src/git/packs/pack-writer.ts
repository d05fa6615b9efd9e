import { createHash, hash } from 'node:crypto'
import { dirname } from 'node:path/posix'
import { promisify } from 'node:util'
import { threadId } from 'node:worker_threads'
import { crc32, deflate, deflateSync, type ZlibOptions } from 'node:zlib'
import { type Fs, identityName, isDead, parseIdentity, thisProcess } from '../../storage/files.ts'
import { objectKinds, type GitObject, type ObjectKind, type Oid } from '../objects/object.ts'

/** An object together with its id, which the caller has computed with `hashObject`. */
export interface PackableObject extends GitObject {
  readonly oid: Oid
}

/** A pack and its index as git names and reads them. */
export interface EncodedPack {
  /** `pack-<checksum of the pack>`; the files are this with `.pack` and `.idx`. */
  readonly name: string
  readonly pack: Buffer
  readonly index: Buffer
}

/** A pack is encoded in memory. Offsets from here on would need another table of the index. */
const LARGEST_PACK = 0x7fffffff

/** More objects, or more bytes, than this are not encoded in memory at once. */
const MANY_OBJECTS = 2000
const MANY_BYTES = 1024 * 1024

/** Whether these are too many objects, or too many bytes, for `encodePack`. */
export function areMany(objects: readonly PackableObject[]): boolean {
  const size = objects.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return objects.length >= MANY_OBJECTS || size >= MANY_BYTES
}

/**
 * A pack of version 2 that holds each object once, in the order given and without deltas, and its index of version 2
 * (gitformat-pack): byte for byte the index that `git index-pack` makes. Throws a RangeError past 2 GiB.
 */
export function encodePack(objects: readonly PackableObject[]): EncodedPack {
  const entries = new Map<Oid, Buffer>()
  for (const { oid, kind, bytes } of objects)
    if (!entries.has(oid)) entries.set(oid, encodeEntry(kind, bytes))
  return sealPack(entries)
}

/** The pack of these entries. */
function sealPack(entries: ReadonlyMap<Oid, Buffer>): EncodedPack {
  const body = Buffer.concat([packHeader(entries.size), ...entries.values()])
  if (body.length > LARGEST_PACK)
    throw new RangeError('A pack made in memory holds at most 2 GiB; use a StreamingPackWriter for more.')
  const checksum = hash('sha1', body, 'buffer')
  const placed: PlacedEntry[] = []
  let offset = 12
  for (const [oid, entry] of entries) {
    placed.push({ oid, offset, crc: crc32(entry) })
    offset += entry.length
  }
  const name = `pack-${checksum.toString('hex')}`
  return { name, pack: Buffer.concat([body, checksum]), index: encodeIndex(placed, checksum) }
}

/** The first 12 bytes of a pack of version 2 with this number of objects. */
export function packHeader(count: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(count, 8)
  return header
}

/** Longer data is deflated in another thread: a megabyte takes about 20 ms. */
export const LONG = 256 * 1024

/** An object's entry in a pack, not as a delta. `stream` holds the bytes as a zlib stream. */
export function encodeEntry(
  kind: ObjectKind,
  bytes: Uint8Array,
  stream: Buffer = deflateSync(bytes, deflateOptions(bytes.length)),
): Buffer {
  // Four bits of the size stand beside the kind, then seven bits in each byte, the lowest first.
  const header = [((objectKinds.indexOf(kind) + 1) << 4) | (bytes.length & 15)]
  for (let rest = Math.floor(bytes.length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    header[header.length - 1]! |= 128 // the last one so far
    header.push(rest & 127)
  }
  return Buffer.concat([Buffer.from(header), stream])
}

const deflateInThread = promisify(deflate) as (bytes: Uint8Array, options: ZlibOptions) => Promise<Buffer>

/** Deflates a long object in another thread, for `encodeEntry`. */
export function deflateAside(bytes: Uint8Array): Promise<Buffer> {
  return deflateInThread(bytes, deflateOptions(bytes.length))
}

/**
 * Measured: most of a small object's time goes into setting up zlib's tables, so small tables take less of it and
 * give the same size; level 3 takes half the time of level 6 for 2 % more bytes.
 */
function deflateOptions(size: number): ZlibOptions {
  const chunkSize = size + (size >> 3) + 64
  return size <= 4096 ? { chunkSize, level: 3, windowBits: 12, memLevel: 5 } : { chunkSize, level: 3 }
}

/** Where an object's entry starts in a pack, and the CRC-32 of the entry. */
export interface PlacedEntry {
  readonly oid: Oid
  readonly offset: number
  readonly crc: number
}

const FAN_OUT = 8
const OIDS = FAN_OUT + 256 * 4

/** The index of a pack of up to 2 GiB that holds these objects, of whose bytes `packChecksum` are the last 20. */
export function encodeIndex(entries: readonly PlacedEntry[], packChecksum: Buffer): Buffer {
  const count = entries.length
  const index = Buffer.alloc(OIDS + count * 28 + 40)
  index.writeUInt32BE(0xff744f63, 0)
  index.writeUInt32BE(2, 4)
  const sorted = entries.toSorted((a, b) => (a.oid < b.oid ? -1 : 1))
  for (const [number, { oid, offset, crc }] of sorted.entries()) {
    index.write(oid, OIDS + number * 20, 'hex')
    index.writeUInt32BE(crc, OIDS + count * 20 + number * 4)
    index.writeUInt32BE(offset, OIDS + count * 24 + number * 4)
  }
  for (let byte = 0, upTo = 0; byte < 256; byte++) {
    while (upTo < count && index[OIDS + upTo * 20] === byte) upTo++
    index.writeUInt32BE(upTo, FAN_OUT + byte * 4)
  }
  index.set(packChecksum, index.length - 40)
  index.set(hash('sha1', index.subarray(0, -20), 'buffer'), index.length - 20)
  return index
}

/** Where the objects of a pack of up to 2 GiB start, from its index. */
export function offsetsIn(index: Buffer): ReadonlyMap<Oid, number> {
  const count = index.readUInt32BE(OIDS - 4)
  const offsets = new Map<Oid, number>()
  for (let number = 0; number < count; number++) {
    const oid = index.toString('hex', OIDS + number * 20, OIDS + number * 20 + 20)
    offsets.set(oid, index.readUInt32BE(OIDS + count * 24 + number * 4))
  }
  return offsets
}

/** A pack's bytes and the objects in it with the offsets of their entries. */
export interface JoinablePack {
  readonly pack: Buffer
  readonly offsets: ReadonlyMap<Oid, number>
}

/**
 * One pack of all objects of several packs, each once, their entries copied as they are. Undefined if a pack does not match its
 * own checksum or holds deltas, whose bases would be elsewhere.
 */
export function joinPacks(packs: readonly JoinablePack[]): EncodedPack | undefined {
  const joined = new Map<Oid, Buffer>()
  for (const { pack, offsets } of packs) {
    const checksum = createHash('sha1').update(pack.subarray(0, -20)).digest()
    if (!checksum.equals(pack.subarray(-20))) return undefined
    const entries = [...offsets].sort(([, a], [, b]) => a - b)
    for (const [index, [oid, start]] of entries.entries()) {
      const entry = pack.subarray(start, entries[index + 1]?.[1] ?? pack.length - 20)
      if (((entry[0] ?? 0) & 0x70) >> 4 > objectKinds.length) return undefined
      if (!joined.has(oid)) joined.set(oid, entry)
    }
  }
  return sealPack(joined)
}

/** Numbers the packs that the threads of this process stage. */
const self = `${identityName(thisProcess())}.${threadId}`
let staged = 0

/**
 * A pack under a temporary name, until it is published. Git ignores such names, and its gc removes them. The caller writes both files, or passes
 * their bytes.
 */
export class StagedPack {
  /** `pack-<checksum>`; known once the pack is complete. */
  name: string
  /** The bytes of a small pack that is not in a file yet. They have to go into a journal, because they are not synced. */
  readonly bytes: EncodedPack | undefined
  readonly packPath: string
  readonly indexPath: string
  readonly #fs: Fs
  readonly #folder: string
  readonly #keepPath: string
  /** Whether a `.keep` is to be published with it … */
  #hasKeep = false
  /** … and whether the published `.keep` is ours. */
  #isKept = false
  #isPublished = false

  constructor(fs: Fs, gitdir: string, bytes?: EncodedPack) {
    const folder = `${gitdir}/objects/pack`
    // A copy of the store may lack empty folders. Git makes this one, too.
    if (!fs.stat(folder)) fs.makeDir(folder)
    const temporary = `${folder}/tmp_${self}.${++staged}`
    this.name = bytes?.name ?? ''
    this.bytes = bytes
    this.packPath = `${temporary}_pack`
    this.indexPath = `${temporary}_idx`
    this.#fs = fs
    this.#folder = folder
    this.#keepPath = `${temporary}_keep`
  }

  /** Where the pack lies now. */
  get path(): string {
    return this.#isPublished ? `${this.#folder}/${this.name}.pack` : this.packPath
  }

  /** Writes the given bytes, without a sync. */
  write(): void {
    if (!this.bytes) return
    this.#fs.create(this.packPath, this.bytes.pack)
    this.#fs.create(this.indexPath, this.bytes.index)
  }

  /**
   * Writes a `.keep`. It tells a running `git repack -ad` to leave the pack, although no ref needs it yet (git-index-pack(1)). It is synced like
   * the pack: if it were empty after a power cut, nobody would know its owner, and nobody would remove it.
   */
  async keep(): Promise<void> {
    await this.#fs.createSynced(this.#keepPath, Buffer.from(`${self}\n`))
    this.#hasKeep = true
  }

  /** Gives pack and index their final names. Call it again if the write is worked out anew. */
  publish(): void {
    if (this.#isPublished) return
    if (this.#hasKeep) this.#publishKeep()
    // The pack before its index: git ignores a pack without an index, but reports an index without a pack as damage.
    this.#fs.rename(this.packPath, `${this.#folder}/${this.name}.pack`)
    this.#fs.rename(this.indexPath, `${this.#folder}/${this.name}.idx`)
    this.#isPublished = true
  }

  /** If another process keeps the pack already, the `.keep` is its own to remove. */
  #publishKeep(): void {
    const keep = `${this.#folder}/${this.name}.keep`
    this.#isKept = !this.#fs.stat(keep)
    if (this.#isKept) this.#fs.rename(this.#keepPath, keep)
    else this.#fs.remove(this.#keepPath)
  }

  /** Resolves when the names are on the disk, and the names of the folders above, which may be new. */
  syncNames(): Promise<void> {
    return this.#fs.syncAll([this.#folder, ...namesAbovePacks(dirname(dirname(this.#folder)))])
  }

  /** Removes the `.keep` after the refs that need the pack have moved. */
  release(): void {
    try {
      if (this.#isKept) this.#fs.remove(`${this.#folder}/${this.name}.keep`)
    } catch {
      // The refs have moved, so a failure here must not look like a failed write. The next start removes what stays.
    }
  }

  /** Forgets the pack. A published one stays, with objects that nothing needs. */
  discard(): void {
    for (const path of [this.packPath, this.indexPath, this.#keepPath]) this.#fs.remove(path)
    this.release()
  }
}

/** Writes a pack under a temporary name, for refs that do not need it yet. */
export async function stageSynced(fs: Fs, gitdir: string, pack: EncodedPack): Promise<StagedPack> {
  const large = new StagedPack(fs, gitdir)
  large.name = pack.name
  try {
    await settleAll([large.keep(), writeSynced(fs, large, pack)])
  } catch (error) {
    large.discard()
    throw error
  }
  return large
}

/** Publishes a pack that refs need already; its bytes are on the disk when it resolves. */
export async function placeSynced(fs: Fs, gitdir: string, pack: EncodedPack): Promise<void> {
  const placed = new StagedPack(fs, gitdir, pack)
  try {
    await writeSynced(fs, placed, pack)
    placed.publish()
  } catch (error) {
    placed.discard()
    throw error
  }
}

function writeSynced(fs: Fs, { packPath, indexPath }: StagedPack, pack: EncodedPack): Promise<void> {
  return settleAll([fs.createSynced(packPath, pack.pack), fs.createSynced(indexPath, pack.index)])
}

/** Waits for every promise, also after one has failed; then fails as the first that did. */
export async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises)
  await Promise.all(promises)
}

/** The folder of a repository's packs, and the folders above it up to the repository's own. */
export function namesAbovePacks(gitdir: string): string[] {
  return [`${gitdir}/objects`, gitdir, dirname(gitdir)]
}

/** Removes the packs that dead processes of this host staged and did not publish, and each `.keep` of the packs that they did publish. */
export function sweepStagedPacks(fs: Fs, gitdir: string): void {
  for (const name of fs.readDir(`${gitdir}/objects/pack`) ?? []) {
    const path = `${gitdir}/objects/pack/${name}`
    const owner = name.endsWith('.keep')
      ? fs.readFile(path)?.toString('utf8').trimEnd()
      : name.startsWith('tmp_')
        ? name.slice('tmp_'.length)
        : undefined
    const identity = owner === undefined ? undefined : parseIdentity(owner)
    if (identity && isDead(identity, gitdir)) fs.remove(path)
  }
}
