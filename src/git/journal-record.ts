import { crc32 } from 'node:zlib'

/** A ref move as the journal keeps it: `expected` is absent where the ref did not exist. */
export interface JournalMove {
  readonly ref: string
  readonly expected?: string | undefined
  readonly target: string
}

/** Everything needed to do a write again: the new objects as a pack, and the refs that moved. */
export interface JournalRecord {
  /** The repository's folder, relative to the store. */
  readonly repository: string
  readonly moves: readonly JournalMove[]
  /** Absent when the pack was on the disk already. */
  readonly pack?: { readonly name: string; readonly pack: Buffer; readonly index: Buffer } | undefined
}

/** Bytes before a record: its length and its CRC-32. */
const FRAME = 8

/** `length crc32 | headerLength header(JSON) pack index`; integers are 32 bits, big-endian. */
export function encodeRecord({ repository, moves, pack }: JournalRecord): Buffer {
  const header = Buffer.from(
    JSON.stringify({ repository, moves, ...(pack ? { name: pack.name, packLength: pack.pack.length } : {}) }),
  )
  const headerLength = Buffer.alloc(4)
  headerLength.writeUInt32BE(header.length)
  const body = Buffer.concat([headerLength, header, ...(pack ? [pack.pack, pack.index] : [])])
  const frame = Buffer.alloc(FRAME)
  frame.writeUInt32BE(body.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame, body])
}

/** The records of a journal up to the first that is not whole: what follows it was never answered for. */
export function decodeRecords(bytes: Buffer): JournalRecord[] {
  const records: JournalRecord[] = []
  for (let at = 0; at + FRAME <= bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const body = bytes.subarray(at + FRAME, at + FRAME + length)
    if (length < 4 || body.length < length || crc32(body) !== bytes.readUInt32BE(at + 4)) break
    records.push(decodeBody(body))
    at += FRAME + length
  }
  return records
}

function decodeBody(body: Buffer): JournalRecord {
  const end = 4 + body.readUInt32BE(0)
  // Written by encodeRecord and proved whole by its checksum.
  const { repository, moves, name, packLength } = JSON.parse(body.toString('utf8', 4, end)) as {
    repository: string
    moves: JournalMove[]
    name?: string
    packLength?: number
  }
  if (name === undefined || packLength === undefined) return { repository, moves }
  const pack = { name, pack: body.subarray(end, end + packLength), index: body.subarray(end + packLength) }
  return { repository, moves, pack }
}
