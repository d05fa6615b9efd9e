import { TimeSlice } from '../../scheduling/cooperative.ts'
import { deleteRefFiles } from '../refs/packed-refs.ts'
import type { Fs } from '../../storage/fs.ts'
import type { DecidedMove } from '../transactions/arbiter.ts'
import type { JournalRecord } from './journal-record.ts'
import { endDeadLock, isLockOf, lockFile } from '../../storage/lock-file.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'
import { refPath } from '../refs/ref-name.ts'
import { RefReader } from '../refs/ref-store.ts'
import { restorePack } from './restore-pack.ts'

/**
 * Finishes the writes that a process decided and died before they were in place, while the machine was not restarted: moves of
 * one ref or several, in one repository or several. The locks that it left tell what is to do: a ref that it has locked still, for
 * the value that the record says, was not moved yet, and nobody else can have moved it. Several processes may do this at once, and
 * one that is killed meanwhile leaves the rest to the next. Answers the repositories, by their folders in the store, in which
 * something was left to do.
 */
export async function finishWrites(
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
