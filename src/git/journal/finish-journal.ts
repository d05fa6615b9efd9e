import { dirname } from 'node:path/posix'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { ChangeFeed } from '../../storage/change-feed.ts'
import type { Fs } from '../../storage/fs.ts'
import { LockFile, endDeadLock, holdingLock, isLockOf } from '../../storage/lock-file.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'
import { buildName, layOut } from '../create-repository.ts'
import { placeSynced } from '../packs/pack-writer.ts'
import { deleteRefFiles } from '../refs/packed-refs.ts'
import { refPath, RefReader } from '../refs/ref-store.ts'
import type { DecidedMove } from '../transactions/arbiter.ts'
import { type FolderMove, isLeftToMove, liveFolder, moveFolder } from '../trash/folder-move.ts'
import { type JournalRecord, type JournalWrite, decodeJournal } from './journal-record.ts'

/** In the change log, the name of those who finish what others wrote: no reader's own, so that all of them look. */
const FINISHER = 'finisher'

/**
 * Finishes what a dead process of this start of the machine decided and wrote to one of its journals (see finishWrites), and tells
 * every server of the store of the repositories in which that changed something. Answers the journal's records; none if
 * somebody has settled and removed it.
 */
export async function finishJournal(
  fs: Fs,
  store: string,
  path: string,
  owner: ProcessIdentity,
): Promise<readonly JournalRecord[]> {
  await secure(fs, path)
  const records = decodeJournal(fs.readFile(path) ?? Buffer.alloc(0))
  // First of all: what is written after a move is written where it led.
  const moved = await finishFolderMoves(fs, store, records)
  const created = await finishCreations(fs, store, owner, records)
  const written = await finishWrites(fs, store, owner, records)
  announceWrites(fs, store, [...moved, ...created, ...written])
  return records
}

/** What the name of a journal's copy ends with. */
const COPY = '.copy'

/**
 * Has what a journal holds on the disk: nothing must be done that a power cut could not do again. Its owner may have died before its own
 * sync was over; or that failed, and then a later sync says nothing of the bytes it was about. So it is written once more, in a file beside
 * it, which is the dead one's, too.
 */
async function secure(fs: Fs, path: string): Promise<void> {
  if (path.endsWith(COPY)) return
  const bytes = fs.readFile(path)
  if (!bytes || decodeJournal(bytes).length === 0) return
  const copy = `${path}${COPY}`
  if (fs.readFile(copy)?.equals(bytes)) return
  fs.remove(copy)
  await fs.createSynced(copy, bytes)
  await fs.syncDir(dirname(path))
}

/** Removes a journal that nobody needs any more: its copy first, which would be taken for a journal of its own. */
export function removeJournal(fs: Fs, path: string): void {
  fs.remove(`${path}${COPY}`)
  fs.remove(path)
}

/** Tells every server of the store to look at these repositories, named by their folders in it. */
export function announceWrites(fs: Fs, store: string, repositories: Iterable<string>): void {
  for (const repository of repositories) {
    const [project = '', family = '', name = ''] = repository.split('/')
    const folder = `${store}/${project}`
    if (fs.stat(`${store}/${dirname(repository)}`) === undefined) continue
    new ChangeFeed(fs, folder, FINISHER).publish(`${family}/${name.replace(/\.git$/, '')}`)
  }
}

/**
 * Finishes the writes that a process decided and died before they were in place, while the machine was not restarted: moves of
 * one ref or several, in one repository or several. The locks that it left tell what is to do: a ref that it has locked still, for
 * the value that the record says, was not moved yet, and nobody else can have moved it. Several processes may do this at once, and
 * one that is killed meanwhile leaves the rest to the next. Answers the repositories, by their folders in the store, in which
 * something was left to do.
 */
async function finishWrites(
  fs: Fs,
  store: string,
  owner: ProcessIdentity,
  records: readonly JournalRecord[],
): Promise<ReadonlySet<string>> {
  const finished = new Set<string>()
  const slice = new TimeSlice()
  await slice.each(records, async ({ writes }) => {
    const parts: Part[] = []
    for (const write of writes) {
      const gitdir = `${store}/${write.repository}`
      parts.push({ write, gitdir, left: await leftOf(fs, gitdir, owner, write.moves, slice) })
    }
    if (parts.every(({ left }) => left.length === 0)) return
    for (const { write } of parts) finished.add(write.repository)
    await finishWrite(fs, store, owner, parts, slice)
  })
  return finished
}

/** What a write does in one repository, and which of its refs have not moved yet. */
interface Part {
  readonly write: JournalRecord['writes'][number]
  readonly gitdir: string
  readonly left: readonly DecidedMove[]
}

async function finishWrite(
  fs: Fs,
  store: string,
  owner: ProcessIdentity,
  parts: readonly Part[],
  slice: TimeSlice,
): Promise<void> {
  for (const { write, gitdir } of parts) if (fs.stat(gitdir)) await restorePack(fs, store, write)
  for (const { gitdir, left } of parts) {
    await slice.each(left, async ({ ref, target }) => {
      const path = refPath(gitdir, ref)
      if (target === undefined) return
      await endDeadLock(fs, gitdir, path, { owner, finish: () => fs.rename(`${path}.lock`, path) })
    })
  }
  for (const { gitdir, left } of parts) {
    const removals = left.filter(({ target }) => target === undefined)
    if (removals.length > 0) await remove(fs, gitdir, owner, removals, slice)
  }
}

async function leftOf(
  fs: Fs,
  gitdir: string,
  owner: ProcessIdentity,
  moves: readonly DecidedMove[],
  slice: TimeSlice,
): Promise<readonly DecidedMove[]> {
  const refs = new RefReader(fs, gitdir)
  const left: DecidedMove[] = []
  await slice.each(moves, (move) => {
    if (isLeft(fs, gitdir, owner, move, refs)) left.push(move)
  })
  return left
}

function isLeft(
  fs: Fs,
  gitdir: string,
  owner: ProcessIdentity,
  { ref, expected, target }: DecidedMove,
  refs: RefReader,
): boolean {
  const path = refPath(gitdir, ref)
  const content = fs.readFile(`${path}.lock`)?.toString('utf8')
  if (content !== (target === undefined ? '' : `${target}\n`)) return false
  if (!isLockOf(fs, gitdir, path, owner)) return false
  return ref === 'HEAD' || refs.current(ref) === expected
}

async function remove(
  fs: Fs,
  gitdir: string,
  owner: ProcessIdentity,
  removals: readonly DecidedMove[],
  slice: TimeSlice,
): Promise<void> {
  const lock = await new LockFile(fs, gitdir, '').acquire(`${gitdir}/packed-refs.lock`)
  try {
    // Another process may have done it while this one waited.
    const refs = (await leftOf(fs, gitdir, owner, removals, slice)).map(({ ref }) => ref)
    await deleteRefFiles(fs, gitdir, refs)
    for (const ref of refs) await endDeadLock(fs, gitdir, refPath(gitdir, ref), { owner })
  } finally {
    lock.release()
  }
}

/**
 * Makes the moves of repositories, in this order, that a process decided and died before they were made. Several processes may do this
 * at once: who moves a repository has the slugs of its project. Answers the repositories, by where they are when they are not in the
 * trash, relative to the store.
 */
export async function finishFolderMoves(
  fs: Fs,
  store: string,
  records: readonly JournalRecord[],
): Promise<string[]> {
  const finished: string[] = []
  for (const { moved } of records) {
    if (!moved || !isLeftToMove(fs, store, moved)) continue
    // The lock of the dead one, most likely, who decided nothing else while it had that.
    await holdingLock(fs, `${store}/${projectOf(moved)}`, 'slugs', async () => {
      if (isLeftToMove(fs, store, moved)) await moveFolder(fs, store, moved)
    })
    finished.push(liveFolder(moved))
  }
  return finished
}

function projectOf(move: FolderMove): string {
  return liveFolder(move).split('/')[0] ?? ''
}

/** A write that makes the repository it writes to. */
type Creation = JournalWrite & Required<Pick<JournalWrite, 'created'>>

/**
 * Gives the repositories their names that `owner` decided to make and died before they had them, while the machine was not restarted:
 * they lie where they were built. Several processes may do this at once: who names a repository has the slugs of its project. Answers
 * the repositories, relative to the store.
 */
export async function finishCreations(
  fs: Fs,
  store: string,
  owner: ProcessIdentity,
  records: readonly JournalRecord[],
): Promise<string[]> {
  const finished: string[] = []
  for (const creation of creationsIn(records)) {
    const { repository } = creation
    if (!isLeftToMake(fs, store, owner, creation)) continue
    // The lock of the dead one, most likely.
    await holdingLock(fs, `${store}/${dirname(dirname(repository))}`, 'slugs', async () => {
      if (isLeftToMake(fs, store, owner, creation))
        fs.rename(asideOf(store, owner, creation), `${store}/${repository}`)
    })
    finished.push(repository)
  }
  return finished
}

/**
 * Makes the repositories whole of a journal of `owner` that a power cut may have torn or taken, but for their packs. (Nothing that
 * is removed is made again: see `Journal.untilSettled`.)
 */
export function restoreCreations(
  fs: Fs,
  store: string,
  owner: ProcessIdentity,
  records: readonly JournalRecord[],
): void {
  for (const creation of creationsIn(records)) {
    const gitdir = `${store}/${creation.repository}`
    if (!fs.stat(gitdir) && isLeftToMake(fs, store, owner, creation))
      fs.rename(asideOf(store, owner, creation), gitdir)
    // A large one was synced where it was built.
    if (!fs.stat(gitdir) && !creation.pack) continue
    const refs = creation.moves.flatMap(({ ref, target }) =>
      target === undefined ? [] : [[ref, target] as const],
    )
    layOut(fs, gitdir, refs, creation.created.head)
  }
}

function creationsIn(records: readonly JournalRecord[]): Creation[] {
  return records.flatMap(({ writes }) => writes).filter((write): write is Creation => !!write.created)
}

function isLeftToMake(fs: Fs, store: string, owner: ProcessIdentity, creation: Creation): boolean {
  return !fs.stat(`${store}/${creation.repository}`) && !!fs.stat(asideOf(store, owner, creation))
}

function asideOf(store: string, owner: ProcessIdentity, { repository, created }: Creation): string {
  return `${store}/${dirname(repository)}/${buildName(owner, created.build)}`
}

/** Does again what these records of one journal tell of, as far as it is not there: packs are put back, and refs moved on. */
export async function redoWrites(fs: Fs, store: string, records: readonly JournalRecord[]): Promise<void> {
  const writes = writesIn(fs, store, records)
  await restorePacks(fs, store, writes)
  await restoreRefs(fs, store, writes)
}

/** What was written to repositories that are there still. */
export function writesIn(fs: Fs, store: string, records: readonly JournalRecord[]): JournalWrite[] {
  return records.flatMap(({ writes }) => writes).filter(({ repository }) => fs.stat(`${store}/${repository}`))
}

/** Puts packs back that are missing or torn. */
export async function restorePacks(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  for (const write of writes) await restorePack(fs, store, write)
}

/** Moves refs on to where the last of these writes left them; one that somebody set elsewhere since stays. */
export async function restoreRefs(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  const trails = new Map<string, Trail>()
  for (const { repository, moves } of writes) {
    for (const { ref, expected = NONE, target = NONE } of moves) {
      // A move to where the ref is already leads nowhere.
      if (expected === target) continue
      const gitdir = `${store}/${repository}`
      const path = refPath(gitdir, ref)
      const trail = trails.get(path) ?? { gitdir, ref, values: new Set(), end: target }
      trail.values.add(expected).add(target)
      trail.end = target
      trails.set(path, trail)
    }
  }
  // Read once for each repository: one push may have moved ten thousand refs.
  const packed = new Map<string, ReadonlyMap<string, string>>()
  for (const [path, { gitdir, ref, values, end }] of trails) {
    const packedHere = packed.get(gitdir) ?? packedRefs(fs, gitdir)
    packed.set(gitdir, packedHere)
    const current = valueOf(fs, gitdir, ref, packedHere)
    // Where it never was on this trail, somebody set it later.
    if (current === end || (current !== TORN && !values.has(current))) continue
    if (end === NONE) await deleteRefFiles(fs, gitdir, [ref])
    else setRef(fs, path, end)
  }
}

/** Where the journals saw a ref. */
interface Trail {
  readonly gitdir: string
  readonly ref: string
  readonly values: Set<string>
  end: string
}

const NONE = ''
const TORN = 'torn'

/** What a ref holds, loose or packed; NONE if it does not exist, TORN if its file was cut off by the crash. */
function valueOf(fs: Fs, gitdir: string, ref: string, packed: ReadonlyMap<string, string>): string {
  const loose = fs.readFile(refPath(gitdir, ref))?.toString('utf8')
  if (loose !== undefined) return /^(?:[0-9a-f]{40}|ref: \S+)\n$/.test(loose) ? loose.trimEnd() : TORN
  if (ref === 'HEAD') return TORN
  return packed.get(ref) ?? NONE
}

/** What `packed-refs` of a repository says, by ref. */
function packedRefs(fs: Fs, gitdir: string): ReadonlyMap<string, string> {
  const text = fs.readFile(`${gitdir}/packed-refs`)?.toString('utf8') ?? ''
  const lines = text.split('\n').filter((line) => /^[0-9a-f]{40} /.test(line))
  return new Map(lines.map((line): [string, string] => [line.slice(41), line.slice(0, 40)]))
}

function setRef(fs: Fs, path: string, value: string): void {
  fs.makeDir(dirname(path))
  const temporary = `${path}.lock`
  fs.remove(temporary)
  fs.create(temporary, Buffer.from(`${value}\n`))
  fs.rename(temporary, path)
}

/**
 * Puts the pack of a journaled write in its repository, unless it is there and whole. Resolves once its bytes are on the disk. Several
 * processes may do it at once.
 */
export async function restorePack(fs: Fs, store: string, { repository, pack }: JournalWrite): Promise<void> {
  if (!pack) return
  const gitdir = `${store}/${repository}`
  const path = `${gitdir}/objects/pack/${pack.name}`
  const isWhole =
    fs.readFile(`${path}.pack`)?.equals(pack.pack) && fs.readFile(`${path}.idx`)?.equals(pack.index)
  if (!isWhole) await placeSynced(fs, gitdir, pack)
}
