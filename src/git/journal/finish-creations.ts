import { dirname } from 'node:path/posix'
import type { Fs } from '../../storage/fs.ts'
import { holdingLock } from '../../storage/lock-file.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'
import { buildName, layOut } from '../create-repository.ts'
import type { JournalRecord, JournalWrite } from './journal-record.ts'

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
    if (!isLeft(fs, store, owner, creation)) continue
    // The lock of the dead one, most likely.
    await holdingLock(fs, `${store}/${dirname(dirname(repository))}`, 'slugs', async () => {
      if (isLeft(fs, store, owner, creation))
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
    if (!fs.stat(gitdir) && isLeft(fs, store, owner, creation))
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

function isLeft(fs: Fs, store: string, owner: ProcessIdentity, creation: Creation): boolean {
  return !fs.stat(`${store}/${creation.repository}`) && !!fs.stat(asideOf(store, owner, creation))
}

function asideOf(store: string, owner: ProcessIdentity, { repository, created }: Creation): string {
  return `${store}/${dirname(repository)}/${buildName(owner, created.build)}`
}
