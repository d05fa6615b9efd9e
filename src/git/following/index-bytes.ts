import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { CorruptObject } from '../objects/errors.ts'
import { hashObject } from '../objects/object.ts'
import { inflateExactly } from '../packs/inflate.ts'
import { PackEntryTable } from '../packs/pack-entries.ts'
import { type EntrySource, readEntry } from '../packs/pack-entry.ts'
import { encodePackIndex } from '../packs/pack-index-writer.ts'
import { FileWindow } from '../packs/windowed-file.ts'

/**
 * The index of a pack that lies in memory; undefined where it holds deltas, which only git unravels. Throws `CorruptObject` where the pack
 * does not match its name (`pack-<checksum>`).
 */
export function indexBytes(name: string, pack: Buffer): Buffer | undefined {
  const end = pack.length - 20
  const checksum = createHash('sha1').update(pack.subarray(0, end)).digest()
  if (!checksum.equals(pack.subarray(end)) || name !== `pack-${checksum.toString('hex')}`)
    throw new CorruptObject(`the bytes of ${name} are not those it is named after`)
  const whole = new FileWindow(pack, 0)
  const source: EntrySource = { size: pack.length, at: () => whole }
  const table = new PackEntryTable()
  for (let offset = 12; offset < end;) {
    const { kind, size, position, deflated } = readEntry(source, offset)
    if (!kind) return undefined
    const { bytes, streamLength } = inflateExactly(deflated, size)
    const next = position + streamLength
    table.add(hashObject(kind, bytes), offset, crc32(pack.subarray(offset, next)))
    offset = next
  }
  return Buffer.concat([...encodePackIndex(table, checksum)])
}
