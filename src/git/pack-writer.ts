import { createHash } from 'node:crypto'
import { crc32, deflateSync, type ZlibOptions } from 'node:zlib'
import { objectKinds, type GitObject, type Oid } from './object.ts'

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

/** Offsets in an index of version 2 have 31 bits before they need a table of their own. */
const LARGEST_PACK = 0x7fffffff

/**
 * A pack of version 2 that holds each object once, in the order given and without deltas, and its index of version 2
 * (gitformat-pack): byte for byte the index that `git index-pack` makes. Throws a RangeError past 2 GiB.
 */
export function encodePack(objects: readonly PackableObject[]): EncodedPack {
  const distinct = [...new Map(objects.map((object) => [object.oid, object])).values()]
  const chunks: Buffer[] = [packHeader(distinct.length)]
  const rows: IndexRow[] = []
  let offset = 12
  for (const { oid, kind, bytes } of distinct) {
    const header = entryHeader(kind, bytes.length)
    const body = deflateSync(bytes, deflateOptions(bytes.length))
    rows.push({ oid, offset, crc: crc32(body, crc32(header)) })
    chunks.push(header, body)
    offset += header.length + body.length
    if (offset > LARGEST_PACK)
      throw new RangeError('One pack holds at most 2 GiB; write the objects as several.')
  }
  return sealPack(chunks, rows)
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
  const rows: IndexRow[] = []
  const seen = new Set<Oid>()
  let offset = 12
  for (const { pack, offsets } of packs) {
    const checksum = createHash('sha1').update(pack.subarray(0, -20)).digest()
    if (!checksum.equals(pack.subarray(-20))) return undefined
    const entries = [...offsets].sort(([, a], [, b]) => a - b)
    for (const [index, [oid, start]] of entries.entries()) {
      const entry = pack.subarray(start, entries[index + 1]?.[1] ?? pack.length - 20)
      if (((entry[0] ?? 0) & 0x70) >> 4 > objectKinds.length) return undefined
      if (seen.has(oid)) continue
      seen.add(oid)
      rows.push({ oid, offset, crc: crc32(entry) })
      chunks.push(entry)
      offset += entry.length
    }
  }
  return sealPack([packHeader(rows.length), ...chunks], rows)
}

function sealPack(chunks: Buffer[], rows: readonly IndexRow[]): EncodedPack {
  const pack = withChecksum(chunks)
  const checksum = pack.subarray(-20)
  return { name: `pack-${checksum.toString('hex')}`, pack, index: encodeIndex(rows, checksum) }
}

interface IndexRow {
  readonly oid: Oid
  readonly offset: number
  readonly crc: number
}

function packHeader(count: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(count, 8)
  return header
}

/** Four bits of size beside the kind, then seven bits a byte, the lowest first. */
function entryHeader(kind: GitObject['kind'], size: number): Buffer {
  const bytes = [((objectKinds.indexOf(kind) + 1) << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16), at = 0; rest > 0; rest = Math.floor(rest / 128), at++) {
    bytes[at] = (bytes[at] ?? 0) | 128
    bytes.push(rest & 127)
  }
  return Buffer.from(bytes)
}

/**
 * Measured: most of a small object's time goes into setting up zlib's tables, so small tables take half the time and
 * give the same size; from 4 KiB on level 3 takes half the time of level 6 for 2 % more bytes.
 */
function deflateOptions(size: number): ZlibOptions {
  const chunkSize = Math.max(64, size + (size >> 3) + 64)
  return size <= 4096 ? { chunkSize, windowBits: 12, memLevel: 5 } : { chunkSize, level: 3 }
}

function withChecksum(chunks: readonly Buffer[]): Buffer {
  const hash = createHash('sha1')
  for (const chunk of chunks) hash.update(chunk)
  return Buffer.concat([...chunks, hash.digest()])
}

function encodeIndex(rows: readonly IndexRow[], packChecksum: Buffer): Buffer {
  const sorted = rows.toSorted((a, b) => (a.oid < b.oid ? -1 : 1))
  const count = sorted.length
  const table = Buffer.alloc(8 + 256 * 4 + count * 28)
  table.writeUInt32BE(0xff744f63, 0)
  table.writeUInt32BE(2, 4)
  const perFirstByte = new Uint32Array(256)
  const oids = 8 + 256 * 4
  const crcs = oids + count * 20
  const offsets = crcs + count * 4
  sorted.forEach(({ oid, crc, offset }, number) => {
    const at = oids + number * 20
    table.write(oid, at, 'hex')
    perFirstByte[table[at] ?? 0]! += 1 // 256 entries, one for each value of a byte
    table.writeUInt32BE(crc, crcs + number * 4)
    table.writeUInt32BE(offset, offsets + number * 4)
  })
  let sum = 0
  perFirstByte.forEach((ofThisByte, byte) => table.writeUInt32BE((sum += ofThisByte), 8 + byte * 4))
  return withChecksum([table, packChecksum])
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
