import { crc32 } from 'node:zlib'

/** A ref move as the journal keeps it: `expected` is absent where the ref did not exist. */
export interface JournalMove {
  readonly ref: string
  readonly expected?: string | undefined
  readonly target: string
}

/** Everything needed to do a write again: the new objects as a pack, and the refs that moved. */
export interface JournalRecord {
  /** A number of its own in the journal, by which it can be withdrawn. */
  readonly id: number
  /** A number that all records have which were written since the file was begun, or begun again. */
  readonly round: number
  /** The repository's folder, relative to the store. */
  readonly repository: string
  readonly moves: readonly JournalMove[]
  /** Absent when the pack was on the disk already. */
  readonly pack?: { readonly name: string; readonly pack: Buffer; readonly index: Buffer } | undefined
}

/** Bytes before a record: its length and its CRC-32. */
const FRAME = 8

/** `length crc32 | headerLength header(JSON) pack index`; integers are 32 bits, big-endian. */
export function encodeRecord({ id, round, repository, moves, pack }: JournalRecord): Buffer {
  const named = pack ? { name: pack.name, packLength: pack.pack.length } : {}
  return frame({ id, round, repository, moves, ...named }, pack)
}

/** What takes a record back whose write was refused after all: the same frame, its header only `withdrawn`. */
export function encodeWithdrawal({ id, round }: JournalRecord): Buffer {
  return frame({ withdrawn: id, round })
}

/** What ends a journal before its first record. */
export const JOURNAL_END = Buffer.alloc(FRAME)

function frame(fields: object, pack?: JournalRecord['pack']): Buffer {
  const header = Buffer.from(JSON.stringify(fields))
  const headerLength = Buffer.alloc(4)
  headerLength.writeUInt32BE(header.length)
  const body = Buffer.concat([headerLength, header, ...(pack ? [pack.pack, pack.index] : [])])
  const start = Buffer.alloc(FRAME)
  start.writeUInt32BE(body.length, 0)
  start.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([start, body])
}

/**
 * The records of a journal up to the first that is not whole or of an earlier round, save those withdrawn: what follows was
 * never answered for, or settled long ago.
 */
export function decodeRecords(bytes: Buffer): JournalRecord[] {
  const records = new Map<number, JournalRecord>()
  let round: number | undefined
  for (let at = 0; at + FRAME <= bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const body = bytes.subarray(at + FRAME, at + FRAME + length)
    if (length < 4 || body.length < length || crc32(body) !== bytes.readUInt32BE(at + 4)) break
    const record = decodeBody(body)
    if (record.round !== (round ??= record.round)) break
    if ('withdrawn' in record) records.delete(record.withdrawn)
    else records.set(record.id, record)
    at += FRAME + length
  }
  return [...records.values()]
}

function decodeBody(body: Buffer): JournalRecord | Withdrawal {
  const end = 4 + body.readUInt32BE(0)
  // Written by the functions above and proved whole by its checksum.
  const header = JSON.parse(body.toString('utf8', 4, end)) as
    | Withdrawal
    | {
        id: number
        round: number
        repository: string
        moves: JournalMove[]
        name?: string
        packLength?: number
      }
  if ('withdrawn' in header) return header
  const { id, round, repository, moves, name, packLength } = header
  if (name === undefined || packLength === undefined) return { id, round, repository, moves }
  const pack = { name, pack: body.subarray(end, end + packLength), index: body.subarray(end + packLength) }
  return { id, round, repository, moves, pack }
}

interface Withdrawal {
  readonly withdrawn: number
  readonly round: number
}
