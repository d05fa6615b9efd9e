import type { Repository } from '../repository.ts'
import type { Arbiter } from './arbiter.ts'
import type { Transaction } from './transaction.ts'
import type { WriteQueue } from './write-queue.ts'
import { retryOnRefConflict } from './write-queue.ts'
import type { RepositoryDisk } from './write-path.ts'
import { commitDrafts } from './write-path.ts'

/**
 * Runs one write over several repositories of a store, each named once, and resolves with its result once everything it stored
 * is on the disk: in all of them or, when anything fails, in none, also when the process is killed or the power fails. `job` gets
 * their transactions in the order of `repositories`, and may run again as that of a single write may; it must not wait for
 * another write to any of them. All refs that decide move before those that follow. If the disk fails when a part of the refs
 * has moved already, the error is thrown and the others stay locked until a server is started again, which moves them.
 */
export async function transactAcross<T>(
  repositories: readonly Repository[],
  job: (transactions: readonly Transaction[]) => Promise<T>,
): Promise<T> {
  const writers = repositories.map(({ writer }) => writer)
  const ordered = inOrder(writers, (writer) => writer.disk)
  const arbiter = arbiterOf(ordered)
  if (!arbiter) return job([])
  const names = ordered.map(({ disk }) => disk.gitdir).join(' and ')
  return inTurns(ordered, () =>
    retryOnRefConflict(arbiter, names, async (isFirst) => {
      const drafts = writers.map((writer) => ({ ...writer.disk, draft: writer.pendingChanges(isFirst) }))
      const result = await job(drafts.map(({ draft }) => draft))
      await commitDrafts(
        arbiter,
        inOrder(drafts, (draft) => draft),
      )
      return result
    }),
  )
}

/** The same order for all writers, so that two such writes never wait for each other. */
function inOrder<T>(items: readonly T[], diskOf: (item: T) => RepositoryDisk): T[] {
  return [...items].sort((a, b) => (diskOf(a).gitdir < diskOf(b).gitdir ? -1 : 1))
}

/** Who decides the write of all of them. */
function arbiterOf(ordered: readonly WriteQueue[]): Arbiter | undefined {
  for (const [index, { disk, arbiter }] of ordered.entries()) {
    const next = ordered[index + 1]
    if (next?.disk.gitdir === disk.gitdir) throw new Error(`${disk.gitdir} is named twice in one write.`)
    if (next && next.arbiter !== arbiter) {
      throw new Error(`${disk.gitdir} and ${next.disk.gitdir} are of two stores, which no write can span.`)
    }
  }
  return ordered[0]?.arbiter
}

/** Does the work in the turns of all of these. */
function inTurns<T>(writers: readonly WriteQueue[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = writers
  return first ? first.exclusive(() => inTurns(others, work)) : work()
}
