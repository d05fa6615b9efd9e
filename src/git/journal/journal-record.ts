import { dirname } from 'node:path/posix'
import { crc32 } from 'node:zlib'
import { TimeSlice } from '../../base/scheduling.ts'
import { type Fs, type ProcessIdentity, identityName } from '../../storage/files.ts'
import { PACKS_TO_MERGE, consolidatePacks } from '../packs/consolidate-packs.ts'
import { type EncodedPack, namesAbovePacks } from '../packs/pack-writer.ts'
import { isRefName, isRefTarget, refPath } from '../refs/ref-store.ts'
import type { CreatedRepository, DecidedMove, DecidedWrite } from '../transactions/arbiter.ts'
import type { FolderMove } from '../trash/folder-move.ts'
import { isFolderMove } from '../trash/folder-move.ts'

/** Everything that is needed to repeat a write in one repository: the new objects as a pack, and the moved refs. */
export interface JournalWrite extends Omit<DecidedWrite, 'gitdir' | 'large' | 'claims'> {
  /** The repository's folder, relative to the store. */
  readonly repository: string
}

/** A write in one or several repositories. The journal has all of it, or nothing. */
export interface JournalRecord {
  /** Its own number in the journal, by which it can be withdrawn. */
  readonly id: number
  /** The same number in all records that were written since the file was begun, or begun again. */
  readonly round: number
  /** When it was made, while its refs were locked: microseconds of a clock that all processes share until the machine restarts. */
  readonly at: number
  readonly writes: readonly JournalWrite[]
  /** The files that record this decision (see DecisionNote), relative to the store. Missing if there are none. */
  readonly notes?: readonly string[] | undefined
  /** A repository that is moved to the project's trash, or back. Missing if there is none. */
  readonly moved?: FolderMove | undefined
}

/** Bytes before a record: its length and its CRC-32. */
const FRAME = 8

/** `length crc32 | headerLength header(JSON) (pack index)*`, in the order of writes; integers are 32 bits, big-endian. */
export function encodeRecord({ id, round, at, writes, notes, moved }: JournalRecord): Buffer {
  const headers: WriteHeader[] = []
  const bytes: Buffer[] = []
  for (const { repository, moves, pack, created } of writes) {
    const packed = pack && { name: pack.name, lengths: [pack.pack.length, pack.index.length] as const }
    headers.push({ repository, moves, created, ...packed })
    if (pack) bytes.push(pack.pack, pack.index)
  }
  const noted = notes && notes.length > 0 ? { notes } : undefined
  return frame(
    { id, round, at, writes: headers, ...noted, ...(moved && { moved }) } satisfies RecordHeader,
    bytes,
  )
}

/** Withdraws a record whose write was refused after all: the same frame, with a header that says only `withdrawn`. */
export function encodeWithdrawal({ id, round }: Pick<JournalRecord, 'id' | 'round'>): Buffer {
  return frame({ withdrawn: id, round })
}

/** The end of a journal without records. */
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
 * The valid records of a journal, without the withdrawn ones. It ends at the first record that is incomplete or from an earlier round: a record
 * after that was never acknowledged, or was settled long ago.
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

/** A server of any age, and with any bug, may have written the journal. So these names are checked: a ref's name … */
function canBe({ ref, target }: DecidedMove): boolean {
  return isRefName(ref) && (target === undefined || isRefTarget(ref, target))
}

/** … the branch of a new repository … */
function canBeMade({ head }: CreatedRepository): boolean {
  return isRefTarget('HEAD', `ref: refs/heads/${head}`)
}

/** … and the path of a repository of the store and its pack. */
function isInStore({ repository, pack }: JournalWrite): boolean {
  if (pack && !/^pack-[0-9a-f]{40}$/.test(pack.name)) return false
  return repository.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.includes('\0'))
}

/** A record without the bytes of its packs, which follow it in the file. */
interface RecordHeader extends Omit<JournalRecord, 'writes'> {
  readonly writes: readonly WriteHeader[]
}

interface WriteHeader extends Omit<JournalWrite, 'pack'> {
  readonly name?: string
  /** Sizes of the pack and of its index, in bytes. */
  readonly lengths?: readonly [number, number]
}

interface Withdrawal {
  readonly withdrawn: number
  readonly round: number
}

/** The folder of journals in a store. */
export const JOURNAL_FOLDER = '.journal'

/**
 * Syncs the names of all journals of a store, and the name of their folder: a process may have made both and died before it synced them. Call it
 * before acting on a dead process's journal. If the power is cut during that, the journal is still there and the rest is done from it.
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

/** The records of all journals of a store, of living and dead processes. */
export function recordsOf(fs: Fs, store: string): JournalRecord[] {
  const folder = `${store}/${JOURNAL_FOLDER}`
  const names = fs.readDir(folder) ?? []
  return names.flatMap((name) => decodeJournal(fs.readFile(`${folder}/${name}`) ?? Buffer.alloc(0)))
}

/** Whether a journal of the store has a record that this repository was made. */
export function isMadeInJournal(fs: Fs, store: string, repository: string): boolean {
  return recordsOf(fs, store).some(({ writes }) =>
    writes.some((write) => write.created !== undefined && write.repository === repository),
  )
}

/** Syncs everything that the records of a journal refer to, as far as it still exists. */
export async function checkpointJournal(
  fs: Fs,
  store: string,
  records: readonly Pick<JournalRecord, 'writes' | 'moved'>[],
): Promise<void> {
  if (records.some(({ moved }) => moved)) await syncFolderMoves(fs, store, records)
  const writes = records.flatMap((record) => record.writes)
  await syncPublished(fs, store, writes)
}

/** Syncs the names of repositories that were moved. */
export async function syncFolderMoves(
  fs: Fs,
  store: string,
  records: readonly Pick<JournalRecord, 'moved'>[],
): Promise<void> {
  const folders = records.flatMap(({ moved }) =>
    moved ? [dirname(moved.to), dirname(moved.from), moved.to] : [],
  )
  // The new name first, if the order matters.
  const paths = [...new Set(folders)].map((folder) => `${store}/${folder}`)
  if (paths.length > 0) await fs.syncAll(paths)
}

/**
 * Syncs the packs, refs and folders that a journal refers to, as far as they still exist. First it combines the small packs of each repository, so
 * that one sync does for many packs.
 */
export async function syncPublished(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  const touched = new Map<string, Touched>()
  for (const { repository, moves, pack, created } of writes) {
    const gitdir = `${store}/${repository}`
    const it = touched.get(gitdir) ?? { packs: new Map(), refs: new Set() }
    touched.set(gitdir, it)
    if (pack) it.packs.set(pack.name, pack)
    // The first refs of a new repository are packed refs.
    if (!created) for (const { ref } of moves) it.refs.add(ref)
  }
  const paths: string[] = []
  for (const [gitdir, it] of touched) for (const path of await rollUp(fs, gitdir, it)) paths.push(path)
  // Each shared folder once, after its contents.
  if (paths.length > 0) await fs.syncAll([...new Set(paths.reverse())].reverse())
}

/** What was put in place in one repository. */
interface Touched {
  readonly packs: Map<string, EncodedPack>
  readonly refs: Set<string>
}

/** Combines the small packs, and answers which paths of the repository have to be synced: contents before their folder. */
async function rollUp(fs: Fs, gitdir: string, { packs, refs }: Touched): Promise<string[]> {
  const folder = `${gitdir}/objects/pack`
  // Also the names of packs that are gone. If their removal is not synced, they come back damaged after a power cut.
  const folders = new Set<string>(packs.size > 0 ? [folder] : [])
  if (packs.size > 0) await makeFew(fs, gitdir, packs)
  const files: string[] = []
  for (const name of packs.keys()) files.push(`${folder}/${name}.pack`, `${folder}/${name}.idx`)
  for (const ref of refs) {
    const path = refPath(gitdir, ref)
    files.push(path)
    // The ref's folder may be new, too.
    for (let above = dirname(path); above.length >= gitdir.length; above = dirname(above)) folders.add(above)
  }
  // The process that made the repository may not have synced this yet. Without it the repository would be made again, empty. Its name is synced
  // last.
  const known = [`${gitdir}/HEAD`, `${gitdir}/config`, `${gitdir}/packed-refs`, ...namesAbovePacks(gitdir)]
  return [...files, ...folders, ...known]
}

/** Combines several packs into one. If that fails, nothing is lost: the packs stay until the next time. */
async function makeFew(fs: Fs, gitdir: string, packs: Map<string, EncodedPack>): Promise<void> {
  try {
    const areFew = (fs.readDir(`${gitdir}/objects/pack`)?.length ?? 0) < 2 * PACKS_TO_MERGE
    if (packs.size === 1 && areFew) return
    for (const name of await consolidatePacks(fs, gitdir, [...packs.values()])) packs.delete(name)
  } catch {
    // See above.
  }
}

/** Makes the files of these notes if they do not exist. When it resolves, they and all other names in their folders are on the disk. */
export async function keepNotes(fs: Fs, store: string, paths: readonly string[]): Promise<void> {
  await new TimeSlice().each(paths, (name) => {
    const path = `${store}/${name}`
    if (isNotePath(name) && fs.stat(dirname(path)) && !fs.stat(path)) make(fs, path)
    return undefined
  })
  await syncFolders(fs, store, paths)
}

/** Syncs the folders of these notes. */
export async function syncFolders(fs: Fs, store: string, paths: readonly string[]): Promise<void> {
  const folders = new Set(paths.filter(isNotePath).map((path) => `${store}/${dirname(path)}`))
  for (const folder of folders) if (fs.stat(folder)) await fs.syncDir(folder)
}

/** Another process may just have made it. */
function make(fs: Fs, path: string): void {
  try {
    fs.create(path, Buffer.alloc(0))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The path of a file in a project's folder; refuses a path that leads elsewhere. */
export function isNotePath(path: string): boolean {
  return /^(?:[\w-][\w.-]*\/){2}[\w-][\w.-]*$/.test(path)
}
