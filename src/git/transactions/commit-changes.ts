import { counts } from '../../metrics/counters.ts'
import { unlessGone } from '../trash/gone.ts'
import type { Fs } from '../../storage/fs.ts'
import type { BeforeTakeOver } from '../../storage/lock-file.ts'
import type { PendingChanges } from './pending-changes.ts'
import type { JournalEntry } from '../journal/journal-file.ts'
import type { Journal } from '../journal/journal.ts'
import type { ObjectDatabase } from '../objects/object-database.ts'
import type { RefMove } from '../refs/ref-move.ts'
import { moveRefsTogether, RefMoved } from '../refs/ref-transaction.ts'
import type { RefReader } from '../refs/ref-store.ts'
import { stageObjects } from './stage-objects.ts'
import type { StagedPack } from './pack-staging.ts'

/** Where a repository keeps what is written to it. */
export interface RepositoryDisk {
  readonly fs: Fs
  readonly gitdir: string
  readonly objects: ObjectDatabase
  readonly refs: RefReader
}

/**
 * Puts what was drafted for one or several repositories on the disk: all of it or nothing, also when the process is killed or
 * the power fails. The repositories come in the order of their folders. Throws RefMoved if another writer was faster anywhere.
 */
export async function commitChanges(
  journal: Journal,
  drafts: readonly (RepositoryDisk & { readonly draft: PendingChanges })[],
): Promise<void> {
  const writes: StagedWrite[] = []
  let entry: JournalEntry | undefined
  try {
    for (const { draft, ...disk } of drafts) {
      const moves = draft.moves()
      if (moves.length === 0) continue
      // Also what the repository has already: a copy in the newest pack cannot be pruned, and costs less than looking for it.
      const pack = await stageObjects(disk.fs, disk.gitdir, draft.objects())
      writes.push({ moves, draft, pack, beforeTakeOver: (dead) => journal.finishFor(dead), ...disk })
    }
    if (writes.length === 0) return
    await moveRefsTogether(writes, async () => (entry = await decide(journal, writes)))
  } catch (error) {
    // What is decided and in place in part shall be so as a whole: the next start finishes it.
    const isKept = entry?.keep() === true
    if (!isKept) for (const { pack } of writes) pack.discard()
    throw drafts.reduce((why: unknown, { fs, gitdir }) => unlessGone(why, fs, gitdir), error)
  } finally {
    entry?.complete()
  }
  for (const { draft, pack, objects } of writes) {
    for (const adopted of draft.packs()) adopted.release()
    pack.release()
    const written = draft.objects()
    // What was written last is what is read next: the commit, and the trees above many rows.
    objects.remember(written.length > LATEST ? written.slice(-LATEST) : written)
    for (const { kind } of written) if (kind === 'commit') counts.commits++
  }
}

/** So many objects of a write are remembered. */
const LATEST = 2000

interface StagedWrite extends RepositoryDisk {
  readonly draft: PendingChanges
  readonly moves: readonly RefMove[]
  readonly pack: StagedPack
  readonly beforeTakeOver: BeforeTakeOver
}

/** The moment of truth is the journal's sync: before it nothing happened, after it everything did. */
async function decide(journal: Journal, writes: readonly StagedWrite[]): Promise<JournalEntry> {
  if (!writes.every(({ draft }) => draft.isAllowed())) throw new RefMoved('what the write needs has gone')
  for (const { pack, draft } of writes) {
    for (const synced of pack.unsynced || pack.name === undefined
      ? draft.packs()
      : [pack, ...draft.packs()]) {
      synced.publish()
      await synced.syncNames()
    }
  }
  const decided = journal.append(
    writes.map(({ gitdir, refs, moves, pack: { name, unsynced } }) => ({
      gitdir,
      moves: moves.map(({ ref, expected, target }) => ({
        ref,
        expected: ref === 'HEAD' ? headNow(refs) : expected,
        target,
      })),
      ...(name !== undefined && unsynced ? { pack: { name, ...unsynced } } : {}),
    })),
    writes.flatMap(({ draft }) => draft.notes()),
  )
  // Making files takes about as long as the journal's sync, which runs in another thread.
  const staging = attempt(() => {
    for (const { pack } of writes) pack.stage()
  })
  for (const { draft } of writes) draft.workWhileSyncing()
  const made = await decided
  try {
    staging()
    for (const { pack } of writes) if (pack.unsynced) pack.publish()
  } catch (error) {
    await made.withdraw()
    throw error
  }
  return made
}

/** What HEAD holds, which is not compared: by that it is told after a power cut whether somebody set it elsewhere since. */
function headNow(refs: RefReader): string | undefined {
  const { head } = refs.snapshot()
  return head === undefined ? undefined : `ref: ${head}`
}

/** Does it now; what it threw is thrown when the result is asked for. */
function attempt(work: () => void): () => void {
  try {
    work()
    return () => undefined
  } catch (error) {
    return () => {
      throw error
    }
  }
}
