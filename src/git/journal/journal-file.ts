import { crc32 } from 'node:zlib'
import type { Fs, LogHandle } from '../../storage/fs.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'
import { identityName } from '../../storage/process-identity.ts'
import { isRefName, isRefTarget } from '../refs/ref-store.ts'
import type {
  CreatedRepository,
  DecidedMove,
  DecidedWrite,
  Decision,
  DecisionNote,
} from '../transactions/arbiter.ts'
import type { FolderMove } from '../trash/folder-move.ts'
import { isFolderMove } from '../trash/folder-move.ts'

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

/** A record as it is handed in. */
export interface AppendedRecord extends Omit<JournalRecord, 'round' | 'notes'> {
  readonly notes: readonly DecisionNote[]
}

/** One file of a journal: takes records until it is ended, and then, once nothing in it is needed any more, from its beginning again. */
export class JournalFile {
  readonly path: string
  /** Bytes that were written to it in this round. */
  size = 0
  /** A write of it failed, or what it is on may be no more: it must not be written again. */
  isBroken = false
  /** What was written in this round and not withdrawn. */
  readonly entries = new Set<JournalEntry>()
  readonly #log: LogHandle
  #round = 0

  constructor(fs: Fs, path: string) {
    this.path = path
    this.#log = fs.createLog(path)
  }

  /** Whether a record of this round may not be in place yet. */
  get hasPending(): boolean {
    return [...this.entries].some(({ isPending }) => isPending)
  }

  /** From here on records go to its beginning; `round` is a number that no other has. */
  begin(round: number): void {
    this.#log.rewind()
    this.#round = round
    this.size = 0
    this.entries.clear()
  }

  /**
   * Writes records and syncs them, and what `alsoSync` does, and answers an entry for each. Rejects if the disk fails; then they are
   * taken back.
   */
  async write(
    records: readonly AppendedRecord[],
    alsoSync: () => Promise<void>,
  ): Promise<readonly JournalEntry[]> {
    const entries = records.map((record) => new JournalEntry(this, this.#round, record))
    const bytes = Buffer.concat(entries.map(({ record }) => encodeRecord(record)))
    for (const entry of entries) this.entries.add(entry)
    try {
      this.#log.append(bytes)
      this.size += bytes.length
      await this.#log.sync()
      await alsoSync()
    } catch (error) {
      this.#takeBack(entries)
      throw error
    }
    return entries
  }

  /** What was appended and could not be synced may be on the disk all the same; so is this, then. */
  #takeBack(entries: readonly JournalEntry[]): void {
    this.isBroken = true
    for (const entry of entries) this.entries.delete(entry)
    try {
      this.#log.append(Buffer.concat(entries.map(({ record }) => encodeWithdrawal(record))))
    } catch {
      // Nothing of the batch may have been appended either.
    }
  }

  /** Into the same file, which waits for it: a later one may outlive it. */
  async withdraw(entry: JournalEntry): Promise<void> {
    try {
      this.#log.append(encodeWithdrawal(entry.record))
      await this.#log.sync()
    } catch {
      // The disk fails all the way; the door says that the write may be there or not.
    } finally {
      this.entries.delete(entry)
    }
  }

  /** Ends it before its first record: what is settled must not be done again when refs have moved on since. */
  async empty(): Promise<void> {
    this.#log.rewind()
    this.#log.append(JOURNAL_END)
    await this.#log.sync()
  }

  /** Nothing is asked of it any more, and nobody must fail for it. */
  close(): void {
    try {
      this.#log.close()
    } catch {
      // See above.
    }
  }
}

/** A record in its file, until what it tells of is settled. */
export class JournalEntry implements Decision {
  readonly record: JournalRecord
  readonly notes: readonly DecisionNote[]
  isPending = true
  /** What it tells of is in place only in part. */
  isKept = false
  readonly #file: JournalFile

  constructor(file: JournalFile, round: number, { notes, ...record }: AppendedRecord) {
    this.#file = file
    this.notes = notes
    this.record = { ...record, round, notes: notes.map(({ path }) => path) }
  }

  complete(): void {
    this.isPending = false
  }

  async withdraw(): Promise<void> {
    await this.#file.withdraw(this)
    this.isPending = false
  }

  keep(): boolean {
    this.isKept = this.isPending
    this.isPending = false
    return this.isKept
  }
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

/** The folder of journals in a store. */
export const JOURNAL_FOLDER = '.journal'

/**
 * Syncs the names of all journals of a store, and that of their folder: a process may have made both and died before it could. To be
 * called before anything is done that a journal of a dead process tells of, so that a power cut meanwhile leaves the journal to do the
 * rest.
 */
export async function syncJournalNames(fs: Fs, store: string): Promise<void> {
  await fs.syncDir(store)
  await fs.syncDir(`${store}/${JOURNAL_FOLDER}`)
}

/** The journals of a process, by name. */
export function journalsOf(fs: Fs, store: string, owner: ProcessIdentity): string[] {
  const names = fs.readDir(`${store}/${JOURNAL_FOLDER}`) ?? []
  return names.filter((name) => name.startsWith(`${identityName(owner)}.`))
}
