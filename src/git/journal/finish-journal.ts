import { dirname } from 'node:path/posix'
import { ChangeFeed } from '../../storage/change-feed.ts'
import { finishCreations } from './finish-creations.ts'
import { finishFolderMoves } from './finish-folder-moves.ts'
import type { Fs } from '../../storage/fs.ts'
import { type JournalRecord, decodeJournal } from './journal-record.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { deleteRefFiles } from '../refs/packed-refs.ts'
import type { DecidedMove } from '../transactions/arbiter.ts'
import { endDeadLock, isLockOf, lockFile } from '../../storage/lock-file.ts'
import { refPath } from '../refs/ref-name.ts'
import { RefReader } from '../refs/ref-store.ts'
import { restorePack } from './restore-pack.ts'

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
  const lock = await lockFile(fs, gitdir, '').acquire(`${gitdir}/packed-refs.lock`)
  try {
    // Another process may have done it while this one waited.
    const refs = (await leftOf(fs, gitdir, owner, removals, slice)).map(({ ref }) => ref)
    await deleteRefFiles(fs, gitdir, refs)
    for (const ref of refs) await endDeadLock(fs, gitdir, refPath(gitdir, ref), { owner })
  } finally {
    lock.release()
  }
}
