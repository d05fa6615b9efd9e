import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { encodePackIndex } from './pack-index-writer.ts'
import { objectKinds, type GitObject, type Oid } from '../objects/object.ts'
import { deflateAside, encodeEntry, LONG } from './pack-entry.ts'
import { PackEntryTable } from './pack-entries.ts'

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

/** What is encoded here lies in memory whole, and a Buffer has its limits. */
const LARGEST_PACK = 0x7fffffff

/**
 * A pack of version 2 that holds each object once, in the order given and without deltas, and its index of version 2
 * (gitformat-pack): byte for byte the index that `git index-pack` makes. Throws a RangeError past 2 GiB.
 */
export function encodePack(
  objects: readonly PackableObject[],
  deflated: ReadonlyMap<Oid, Buffer> = NONE,
): EncodedPack {
  const chunks: Buffer[] = []
  const table = new PackEntryTable()
  let offset = 12
  for (const { oid, kind, bytes } of objects) {
    if (table.find(oid) !== undefined) continue
    const entry = encodeEntry(kind, bytes, deflated.get(oid))
    table.add(oid, offset, crc32(entry))
    chunks.push(entry)
    offset += entry.length
    if (offset > LARGEST_PACK) {
      throw new RangeError('A pack made in memory holds at most 2 GiB; use a PackBuilder for more.')
    }
  }
  return sealPack(chunks, table)
}

const NONE: ReadonlyMap<Oid, Buffer> = new Map()

/** The same pack; its long objects are deflated in other threads, one after the other. */
export async function encodePackAside(objects: readonly PackableObject[]): Promise<EncodedPack> {
  const deflated = new Map<Oid, Buffer>()
  for (const { oid, bytes } of objects) {
    if (bytes.length > LONG && !deflated.has(oid)) deflated.set(oid, await deflateAside(bytes))
  }
  return encodePack(objects, deflated)
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
  const chunks: Buffer[] = []
  const table = new PackEntryTable()
  let offset = 12
  for (const { pack, offsets } of packs) {
    const checksum = createHash('sha1').update(pack.subarray(0, -20)).digest()
    if (!checksum.equals(pack.subarray(-20))) return undefined
    const entries = [...offsets].sort(([, a], [, b]) => a - b)
    for (const [index, [oid, start]] of entries.entries()) {
      const entry = pack.subarray(start, entries[index + 1]?.[1] ?? pack.length - 20)
      if (((entry[0] ?? 0) & 0x70) >> 4 > objectKinds.length) return undefined
      if (table.find(oid) !== undefined) continue
      table.add(oid, offset, crc32(entry))
      chunks.push(entry)
      offset += entry.length
    }
  }
  return sealPack(chunks, table)
}

/** The first 12 bytes of a pack of version 2 with so many objects. */
export function packHeader(count: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(count, 8)
  return header
}

function sealPack(chunks: readonly Buffer[], table: PackEntryTable): EncodedPack {
  const entries = [packHeader(table.count), ...chunks]
  const hash = createHash('sha1')
  for (const chunk of entries) hash.update(chunk)
  const checksum = hash.digest()
  return {
    name: `pack-${checksum.toString('hex')}`,
    pack: Buffer.concat([...entries, checksum]),
    index: Buffer.concat([...encodePackIndex(table, checksum)]),
  }
}

/** Where the objects of a pack of up to 2 GiB start, from its index. */
export function offsetsIn(index: Buffer): ReadonlyMap<Oid, number> {
  const count = index.readUInt32BE(8 + 255 * 4)
  const oids = 8 + 256 * 4
  const starts = oids + count * 24
  const offsets = new Map<Oid, number>()
  for (let number = 0; number < count; number++) {
    const oid = index.toString('hex', oids + number * 20, oids + number * 20 + 20)
    offsets.set(oid, index.readUInt32BE(starts + number * 4))
  }
  return offsets
}
