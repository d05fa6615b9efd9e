import { crc32 } from 'node:zlib'
import type { FolderMove } from '../trash/folder-move.ts'
import { isFolderMove } from '../trash/folder-move.ts'
import { isRefName, isRefTarget } from '../refs/ref-name.ts'
import type { CreatedRepository, DecidedMove, DecidedWrite } from '../transactions/arbiter.ts'

/** Everything needed to do again what a write did in one repository: the new objects as a pack, and the refs that moved. */
export interface JournalWrite extends Omit<DecidedWrite, 'gitdir' | 'large' | 'claims'> {
  /** The repository's folder, relative to the store. */
  readonly repository: string
}

/** A write, in as many repositories as it is made in: all of it is in the journal or nothing. */
export interface JournalRecord {
  /** A number of its own in the journal, by which it can be withdrawn. */
  readonly id: number
  /** A number that all records have which were written since the file was begun, or begun again. */
  readonly round: number
  /** When it was made, while its refs were locked, in microseconds of a clock that all processes of one start of the machine share. */
  readonly at: number
  readonly writes: readonly JournalWrite[]
  /** The files that say that it was decided (see DecisionNote), relative to the store. Absent where there is none. */
  readonly notes?: readonly string[] | undefined
  /** A repository that goes to the trash of its project, or comes back. Absent where none does. */
  readonly moved?: FolderMove | undefined
}

/** Bytes before a record: its length and its CRC-32. */
const FRAME = 8

/** `length crc32 | headerLength header(JSON) (pack index)*`, in the order of writes; integers are 32 bits, big-endian. */
export function encodeRecord({ id, round, at, writes, notes, moved }: JournalRecord): Buffer {
  const headers = writes.map(({ repository, moves, pack, created }): WriteHeader => ({
    repository,
    moves,
    created,
    ...(pack ? { name: pack.name, lengths: [pack.pack.length, pack.index.length] } : {}),
  }))
  const bytes = writes.flatMap(({ pack }) => (pack ? [pack.pack, pack.index] : []))
  const noted = notes && notes.length > 0 ? { notes } : {}
  const moves = moved ? { moved } : {}
  return frame({ id, round, at, writes: headers, ...noted, ...moves } satisfies RecordHeader, bytes)
}

/** What takes a record back whose write was refused after all: the same frame, its header only `withdrawn`. */
export function encodeWithdrawal({ id, round }: JournalRecord): Buffer {
  return frame({ withdrawn: id, round })
}

/** What ends a journal before its first record. */
export const JOURNAL_END = Buffer.alloc(FRAME)

function frame(fields: object, packs: readonly Buffer[] = []): Buffer {
  const header = Buffer.from(JSON.stringify(fields))
  const headerLength = Buffer.alloc(4)
  headerLength.writeUInt32BE(header.length)
  const body = Buffer.concat([headerLength, header, ...packs])
  const start = Buffer.alloc(FRAME)
  start.writeUInt32BE(body.length, 0)
  start.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([start, body])
}

/**
 * The records of a journal up to the first that is not whole or of an earlier round, save those withdrawn: what follows was
 * never answered for, or settled long ago.
 */
export function decodeJournal(bytes: Buffer): JournalRecord[] {
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
  let end = 4 + body.readUInt32BE(0)
  // Written by the functions above and proved whole by its checksum.
  const header = JSON.parse(body.toString('utf8', 4, end)) as Withdrawal | RecordHeader
  if ('withdrawn' in header) return header
  const next = (length: number): Buffer => body.subarray(end, (end += length))
  const writes = header.writes.map(({ repository, moves, created, name, lengths }): JournalWrite => {
    const isMade = created !== undefined && canBeMade(created)
    const write = { repository, moves: moves.filter(canBe), ...(isMade ? { created } : {}) }
    if (name === undefined || lengths === undefined) return write
    return { ...write, pack: { name, pack: next(lengths[0]), index: next(lengths[1]) } }
  })
  const { moved, ...record } = header
  return { ...record, writes: writes.filter(isInStore), ...(moved && isFolderMove(moved) ? { moved } : {}) }
}

/**
 * A journal is as old as the server that wrote it, which may have believed a name that it should not have: what cannot be the name
 * of a ref …
 */
function canBe({ ref, target }: DecidedMove): boolean {
  return isRefName(ref) && (target === undefined || isRefTarget(ref, target))
}

/** … of the branch of a new repository … */
function canBeMade({ head }: CreatedRepository): boolean {
  return isRefTarget('HEAD', `ref: refs/heads/${head}`)
}

/** … or of a repository of the store and its pack is not followed. */
function isInStore({ repository, pack }: JournalWrite): boolean {
  if (pack && !/^pack-[0-9a-f]{40}$/.test(pack.name)) return false
  return repository.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.includes('\0'))
}

/** A record without the bytes of its packs, which follow it. */
interface RecordHeader extends Omit<JournalRecord, 'writes'> {
  readonly writes: readonly WriteHeader[]
}

interface WriteHeader extends Omit<JournalWrite, 'pack'> {
  readonly name?: string
  /** Of the pack and of its index. */
  readonly lengths?: readonly [number, number]
}

interface Withdrawal {
  readonly withdrawn: number
  readonly round: number
}
