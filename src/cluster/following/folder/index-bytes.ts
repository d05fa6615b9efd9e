import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { TimeSlice } from '../../../base/scheduling.ts'
import { CorruptObject, hashObject } from '../../../git/objects.ts'
import {
  type EntrySource,
  inflateExactly,
  readEntry,
  type JoinablePack,
  type PlacedEntry,
  encodeIndex,
  joinPacks,
  offsetsIn,
  FileWindow,
} from '../../../git/packs.ts'

/**
 * The index of a pack in memory; undefined if the pack has deltas, which only git can resolve. Throws `CorruptObject` if the pack does not
 * match its name (`pack-<checksum>`).
 */
export function indexBytes(name: string, pack: Buffer): Buffer | undefined {
  const end = pack.length - 20
  const checksum = createHash('sha1').update(pack.subarray(0, end)).digest()
  if (!checksum.equals(pack.subarray(end)) || name !== `pack-${checksum.toString('hex')}`)
    throw new CorruptObject(`the bytes of ${name} are not those it is named after`)
  const whole = new FileWindow(pack, 0)
  const source: EntrySource = { size: pack.length, at: () => whole }
  const entries: PlacedEntry[] = []
  for (let offset = 12; offset < end;) {
    const { kind, size, position, deflated } = readEntry(source, offset)
    if (!kind) return undefined
    const { bytes, streamLength } = inflateExactly(deflated, size)
    const next = position + streamLength
    entries.push({ oid: hashObject(kind, bytes), offset, crc: crc32(pack.subarray(offset, next)) })
    offset = next
  }
  return encodeIndex(entries, checksum)
}

/** A pack that lies in memory. */
export interface PackInMemory {
  readonly name: string
  readonly bytes: Buffer
}

/**
 * Joins packs into one that has each object once. `held` names the packs that went in: packs with deltas and damaged packs are left out.
 * Undefined if fewer than two packs remain, or one of them already has every object.
 */
export async function joinInMemory(
  packs: readonly PackInMemory[],
): Promise<(PackInMemory & { readonly held: ReadonlySet<string> }) | undefined> {
  const held = new Map<string, JoinablePack>()
  const slice = new TimeSlice()
  for (const { name, bytes } of packs) {
    const index = unlessDamaged(name, bytes)
    if (index) held.set(name, { pack: bytes, offsets: offsetsIn(index) })
    if (slice.isOver) await slice.rest()
  }
  const joined = held.size < 2 ? undefined : joinPacks([...held.values()])
  if (!joined || held.has(joined.name)) return undefined
  return { name: joined.name, bytes: joined.pack, held: new Set(held.keys()) }
}

function unlessDamaged(name: string, bytes: Buffer): Buffer | undefined {
  try {
    return indexBytes(name, bytes)
  } catch (error) {
    if (error instanceof CorruptObject) return undefined
    throw error
  }
}
