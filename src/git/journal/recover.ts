import { finishJournal, removeJournal } from './finish-journal.ts'
import { restoreCreations } from './finish-creations.ts'
import { finishFolderMoves, syncFolderMoves } from './finish-folder-moves.ts'
import type { Fs } from '../../storage/fs.ts'
import { JOURNAL_FOLDER, syncJournalNames } from './journal-folder.ts'
import { keepNotes } from './journal-notes.ts'
import type { JournalRecord } from './journal-record.ts'
import { decodeJournal } from './journal-record.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'
import { isDead, parseIdentity, thisProcess } from '../../storage/process-identity.ts'
import { restorePacks, restoreRefs, writesIn } from './redo-writes.ts'
import { syncPublished } from './checkpoint.ts'

/** A journal of another host that nobody wrote to for so long (milliseconds) has no owner any more. */
const ABANDONED = 5 * 60 * 1000

/**
 * Takes care of the journals that dead processes left in a store. Where the machine has not been restarted since, everything
 * they answered for is in the page cache, and is synced; what they decided is finished. After a restart it may be gone or torn:
 * packs are put back, and refs moved on to where the journals say. Journals of live processes are left alone.
 */
export async function recoverJournals(fs: Fs, store: string): Promise<void> {
  const folder = `${store}/${JOURNAL_FOLDER}`
  const paths = (fs.readDir(folder) ?? []).map((name) => ({
    path: `${folder}/${name}`,
    owner: parseIdentity(name),
  }))
  const left = paths
    .filter(({ path, owner }) => owner && isLeft(fs, path, owner))
    .sort((a, b) => modified(fs, a.path) - modified(fs, b.path))
  if (left.length > 0) await syncJournalNames(fs, store)
  // First of all: what is written after a move is written where it led.
  await finishFolderMoves(fs, store, recordsIn(fs, left))
  const torn = left.filter(({ owner }) => !isThisStart(owner))
  for (const journal of torn) {
    if (journal.owner) restoreCreations(fs, store, journal.owner, recordsIn(fs, [journal]))
  }
  // In the order in which they happened, as far as their processes shared a clock.
  const starts = new Map<string, JournalRecord[]>()
  for (const { path, owner } of left) {
    const boot = owner?.boot ?? ''
    const records =
      owner && isThisStart(owner)
        ? await finishJournal(fs, store, path, owner)
        : await restorePacksOf(fs, store, path)
    starts.set(boot, [...(starts.get(boot) ?? []), ...records])
  }
  const records = [...starts.values()].flatMap((start) => start.sort((a, b) => a.at - b.at))
  const writes = writesIn(fs, store, records)
  if (torn.length > 0) await restoreRefs(fs, store, writes)
  await syncFolderMoves(fs, store, records)
  await syncPublished(fs, store, writes)
  const notes = records.flatMap((record) => record.notes ?? [])
  await keepNotes(fs, store, notes)
  for (const { path } of left) removeJournal(fs, path)
}

/** What these journals hold, in the order in which it was decided. */
function recordsIn(fs: Fs, journals: readonly { readonly path: string }[]): JournalRecord[] {
  const records = journals.flatMap(({ path }) => decodeJournal(fs.readFile(path) ?? Buffer.alloc(0)))
  return records.sort((a, b) => a.at - b.at)
}

/** Puts back what a journal of before the machine's restart holds of packs; answers its records. */
async function restorePacksOf(fs: Fs, store: string, path: string): Promise<readonly JournalRecord[]> {
  const records = decodeJournal(fs.readFile(path) ?? Buffer.alloc(0))
  await restorePacks(fs, store, writesIn(fs, store, records))
  return records
}

/** Whether the machine was not restarted since. */
function isThisStart(owner: ProcessIdentity | undefined): boolean {
  return owner?.boot === thisProcess().boot
}

function isLeft(fs: Fs, path: string, owner: ProcessIdentity): boolean {
  return isDead(owner) || (owner.host !== thisProcess().host && Date.now() - modified(fs, path) > ABANDONED)
}

function modified(fs: Fs, path: string): number {
  return fs.stat(path)?.modified ?? 0
}
