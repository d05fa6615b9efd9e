import { deleteRefFiles } from './delete-ref-files.ts'
import type { Fs } from './fs.ts'
import type { JournalMove, JournalRecord } from './journal-record.ts'
import { endDeadLock, prepareLock } from './lock.ts'
import { RefReader } from './refs.ts'
import { restorePack } from './restore-pack.ts'

/**
 * Finishes the writes of several refs, in one repository or several, that a process decided and died before they were in place
 * everywhere, while the machine was not restarted. The locks that it left tell what is to do: a ref that is locked still, for the
 * value that the record says, was not moved yet, and nobody else can have moved it.
 */
export async function finishJointWrites(
  fs: Fs,
  store: string,
  records: readonly JournalRecord[],
): Promise<void> {
  for (const { writes } of records) {
    if (writes.flatMap(({ moves }) => moves).length < 2) continue
    const left = writes.map(({ repository, moves }) => {
      const gitdir = `${store}/${repository}`
      return { gitdir, moves: moves.filter((move) => isLeft(fs, gitdir, move)) }
    })
    if (left.every(({ moves }) => moves.length === 0)) continue
    for (const write of writes) {
      if (fs.stat(`${store}/${write.repository}`)) await restorePack(fs, store, write)
    }
    for (const { gitdir, moves } of left) {
      for (const { ref, target } of moves) {
        const path = `${gitdir}/${ref}`
        if (target !== undefined) await endDeadLock(fs, gitdir, path, () => fs.rename(`${path}.lock`, path))
      }
    }
    for (const { gitdir, moves } of left) {
      const removals = moves.filter(({ target }) => target === undefined)
      if (removals.length > 0) await remove(fs, gitdir, removals)
    }
  }
}

function isLeft(fs: Fs, gitdir: string, { ref, expected, target }: JournalMove): boolean {
  const lock = fs.readFile(`${gitdir}/${ref}.lock`)?.toString('utf8')
  if (lock !== (target === undefined ? '' : `${target}\n`)) return false
  return ref === 'HEAD' || new RefReader(fs, gitdir).current(ref) === expected
}

async function remove(fs: Fs, gitdir: string, removals: readonly JournalMove[]): Promise<void> {
  const lock = await prepareLock(fs, gitdir, '').acquire(`${gitdir}/packed-refs.lock`)
  try {
    // Another process may have done it while this one waited.
    const refs = removals.filter((move) => isLeft(fs, gitdir, move)).map(({ ref }) => ref)
    await deleteRefFiles(fs, gitdir, refs)
    for (const ref of refs) await endDeadLock(fs, gitdir, `${gitdir}/${ref}`)
  } finally {
    lock.release()
  }
}
