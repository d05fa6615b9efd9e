import { dirname } from 'node:path/posix'
import { TimeSlice } from '../../base/scheduling.ts'
import {
  ChangeFeed,
  type Fs,
  LockFile,
  endDeadLock,
  holdingLock,
  isLockOf,
  type ProcessIdentity,
} from '../../storage/files.ts'
import { buildName, layOut } from '../store/create-repository.ts'
import { placeSynced } from '../packs/pack-writer.ts'
import { deleteRefFiles } from '../refs/packed-refs.ts'
import { refPath, RefReader } from '../refs/ref-store.ts'
import type { DecidedMove } from '../transactions/arbiter.ts'
import { type FolderMove, isLeftToMove, liveFolder, moveFolder } from '../trash/folder-move.ts'
import { type JournalRecord, type JournalWrite, decodeJournal } from './journal-record.ts'

/** The writer's name in the change log of processes that finish others' writes. No reader has this name, so all readers see the entries. */
const FINISHER = 'finisher'

/**
 * Finishes what a dead process decided since the machine started and wrote to one of its journals (see finishWrites), and announces the
 * repositories that changed to every server of the store. Answers the journal's records; none if another process has settled and removed the
 * journal.
 */
export async function finishJournal(
  fs: Fs,
  store: string,
  path: string,
  owner: ProcessIdentity,
): Promise<readonly JournalRecord[]> {
  await secure(fs, path)
  const records = decodeJournal(fs.readFile(path) ?? Buffer.alloc(0))
  // Moves are finished first, because later writes go to the new folder.
  const moved = await finishFolderMoves(fs, store, records)
  const created = await finishCreations(fs, store, owner, records)
  const written = await finishWrites(fs, store, owner, records)
  announceWrites(fs, store, [...moved, ...created, ...written])
  return records
}

/** The ending of the name of a journal's copy. */
const COPY = '.copy'

/**
 * Makes the content of a journal durable before it is applied, so that a power cut cannot lose a write that was finished. Its owner may have
 * died before its sync ended, or the sync failed, and a later sync then proves nothing about those bytes. So the content is written and
 * synced again, in a copy beside the journal that counts as the dead owner's.
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

/** Removes a journal that is no longer needed. Its copy is removed first, because alone it would be taken for a journal. */
export function removeJournal(fs: Fs, path: string): void {
  fs.remove(`${path}${COPY}`)
  fs.remove(path)
}

/** Announces changes of these repositories, named by their folders in the store, to every server of the store. */
export function announceWrites(fs: Fs, store: string, repositories: Iterable<string>): void {
  for (const repository of repositories) {
    const [project = '', family = '', name = ''] = repository.split('/')
    const folder = `${store}/${project}`
    if (fs.stat(`${store}/${dirname(repository)}`) === undefined) continue
    new ChangeFeed(fs, folder, FINISHER).publish(`${family}/${name.replace(/\.git$/, '')}`)
  }
}

/**
 * Finishes the decided writes of a process that died, while the machine was not restarted: moves of one or several refs, in one or several
 * repositories. The dead process's locks tell what is left: a ref that is still locked, for the value in the record, was not moved, and no
 * other process can have moved it. Several processes may do this at once; if one is killed, the next continues. Answers the repositories, by
 * their folders in the store, in which something was finished.
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

/** A write to one repository, with its refs that have not moved yet. */
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
    // Another process may have finished this meanwhile.
    const refs = (await leftOf(fs, gitdir, owner, removals, slice)).map(({ ref }) => ref)
    await deleteRefFiles(fs, gitdir, refs)
    for (const ref of refs) await endDeadLock(fs, gitdir, refPath(gitdir, ref), { owner })
  } finally {
    lock.release()
  }
}

/**
 * Makes the decided moves of repositories of a process that died, in order. Several processes may do this at once, because each move is under
 * the project's lock `slugs`. Answers the repositories by their paths outside the trash, relative to the store.
 */
export async function finishFolderMoves(
  fs: Fs,
  store: string,
  records: readonly JournalRecord[],
): Promise<string[]> {
  const finished: string[] = []
  for (const { moved } of records) {
    if (!moved || !isLeftToMove(fs, store, moved)) continue
    // Usually the dead process held this lock, and decided nothing else under it.
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

/** A write that creates its repository. */
type Creation = JournalWrite & Required<Pick<JournalWrite, 'created'>>

/**
 * Renames repositories that `owner` decided to create, and built, before it died, while the machine was not restarted. Several processes may
 * do this at once, because each rename is under the project's lock `slugs`. Answers the repositories, relative to the store.
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
    // Usually the dead process held this lock.
    await holdingLock(fs, `${store}/${dirname(dirname(repository))}`, 'slugs', async () => {
      if (isLeftToMake(fs, store, owner, creation))
        fs.rename(asideOf(store, owner, creation), `${store}/${repository}`)
    })
    finished.push(repository)
  }
  return finished
}

/**
 * Restores the repositories that a journal of `owner` created and a power cut damaged or removed, except for their packs. Removed
 * repositories are not created again: see `Journal.untilSettled`.
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
    // Repositories with large packs were synced where they were built.
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

/** Applies the records of one journal again where their results are missing: restores packs and moves refs. */
export async function redoWrites(fs: Fs, store: string, records: readonly JournalRecord[]): Promise<void> {
  const writes = writesIn(fs, store, records)
  await restorePacks(fs, store, writes)
  await restoreRefs(fs, store, writes)
}

/** The writes to repositories that still exist. */
export function writesIn(fs: Fs, store: string, records: readonly JournalRecord[]): JournalWrite[] {
  return records.flatMap(({ writes }) => writes).filter(({ repository }) => fs.stat(`${store}/${repository}`))
}

/** Restores packs that are missing or damaged. */
export async function restorePacks(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  for (const write of writes) await restorePack(fs, store, write)
}

/** Moves refs to where the last of these writes left them. Refs that were set to other values since stay. */
export async function restoreRefs(fs: Fs, store: string, writes: readonly JournalWrite[]): Promise<void> {
  const trails = new Map<string, Trail>()
  for (const { repository, moves } of writes) {
    for (const { ref, expected = NONE, target = NONE } of moves) {
      // A move to the same value has no effect.
      if (expected === target) continue
      const gitdir = `${store}/${repository}`
      const path = refPath(gitdir, ref)
      const trail = trails.get(path) ?? { gitdir, ref, values: new Set(), end: target }
      trail.values.add(expected).add(target)
      trail.end = target
      trails.set(path, trail)
    }
  }
  // Read once per repository, because one push may have moved ten thousand refs.
  const packed = new Map<string, ReadonlyMap<string, string>>()
  for (const [path, { gitdir, ref, values, end }] of trails) {
    const packedHere = packed.get(gitdir) ?? packedRefs(fs, gitdir)
    packed.set(gitdir, packedHere)
    const current = valueOf(fs, gitdir, ref, packedHere)
    // A value that the journals never saw was set later.
    if (current === end || (current !== TORN && !values.has(current))) continue
    if (end === NONE) await deleteRefFiles(fs, gitdir, [ref])
    else setRef(fs, path, end)
  }
}

/** The values of a ref in the journals. */
interface Trail {
  readonly gitdir: string
  readonly ref: string
  readonly values: Set<string>
  end: string
}

const NONE = ''
const TORN = 'torn'

/** The value of a ref, loose or packed; NONE if it does not exist, TORN if a crash damaged its file. */
function valueOf(fs: Fs, gitdir: string, ref: string, packed: ReadonlyMap<string, string>): string {
  const loose = fs.readFile(refPath(gitdir, ref))?.toString('utf8')
  if (loose !== undefined) return /^(?:[0-9a-f]{40}|ref: \S+)\n$/.test(loose) ? loose.trimEnd() : TORN
  if (ref === 'HEAD') return TORN
  return packed.get(ref) ?? NONE
}

/** The refs in `packed-refs`. */
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
 * Restores the pack of a write in its repository unless it is there and complete; resolves when it is on the disk. Several processes may do
 * this at once.
 */
export async function restorePack(fs: Fs, store: string, { repository, pack }: JournalWrite): Promise<void> {
  if (!pack) return
  const gitdir = `${store}/${repository}`
  const path = `${gitdir}/objects/pack/${pack.name}`
  const isWhole =
    fs.readFile(`${path}.pack`)?.equals(pack.pack) && fs.readFile(`${path}.idx`)?.equals(pack.index)
  if (!isWhole) await placeSynced(fs, gitdir, pack)
}
