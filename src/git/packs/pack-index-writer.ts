import { createHash } from 'node:crypto'
import type { PackEntryTable } from './pack-entries.ts'

/** Offsets from here on stand in a table of their own, of 64 bits each. */
const LONG = 0x80000000

const ROWS_WRITTEN_AT_ONCE = 8192

const NOTHING = Buffer.alloc(0)

/**
 * The index of version 2 for a pack of these objects (gitformat-pack), byte for byte as `git index-pack` makes it, in pieces
 * of at most 160 KiB, some of them empty. `packChecksum` is the last 20 bytes of the pack.
 */
export function* encodePackIndex(table: PackEntryTable, packChecksum: Buffer): Generator<Buffer, void> {
  const hash = createHash('sha1')
  for (const piece of piecesOf(table, packChecksum)) {
    hash.update(piece)
    yield piece
  }
  yield hash.digest()
}

function* piecesOf(table: PackEntryTable, packChecksum: Buffer): Generator<Buffer, void> {
  yield header(table)
  const ordering = table.inOrder()
  let step = ordering.next()
  for (; !step.done; step = ordering.next()) yield NOTHING
  const rows = step.value
  yield* column(rows, 20, (row, target, at) => table.writeId(row, target, at))
  yield* column(rows, 4, (row, target, at) => target.setUint32(at, table.crc(row)))
  let long = 0
  yield* column(rows, 4, (row, target, at) => {
    const offset = table.offset(row)
    target.setUint32(at, offset < LONG ? offset : LONG + long++)
  })
  if (long > 0) {
    const longRows = rows.filter((row) => table.offset(row) >= LONG)
    yield* column(longRows, 8, (row, target, at) => target.setBigUint64(at, BigInt(table.offset(row))))
  }
  yield packChecksum
}

/** Magic, version and how many objects have a first byte up to each of the 256. */
function header(table: PackEntryTable): Buffer {
  const perFirstByte = new Uint32Array(256)
  for (let row = 0; row < table.count; row++) perFirstByte[table.firstByte(row)]! += 1 // one entry for each value of a byte
  const bytes = Buffer.allocUnsafe(8 + 256 * 4)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  view.setUint32(0, 0xff744f63)
  view.setUint32(4, 2)
  for (let byte = 0, sum = 0; byte < 256; byte++) view.setUint32(8 + byte * 4, (sum += perFirstByte[byte]!)) // likewise
  return bytes
}

function* column(
  rows: Uint32Array,
  width: number,
  write: (row: number, target: DataView, at: number) => void,
): Generator<Buffer, void> {
  for (let start = 0; start < rows.length; start += ROWS_WRITTEN_AT_ONCE) {
    const piece = rows.subarray(start, start + ROWS_WRITTEN_AT_ONCE)
    const bytes = Buffer.allocUnsafe(piece.length * width)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    piece.forEach((row, number) => write(row, view, number * width))
    yield bytes
  }
}
