import type { Fs } from '../../storage/fs.ts'
import { isDeadSinceBoot, parseIdentity } from '../../storage/process-identity.ts'
import { liveFolder } from '../trash/folder-move.ts'
import { checkpointJournal } from './checkpoint.ts'
import { announceWrites, finishJournal, removeJournal } from './finish-journal.ts'
import { JOURNAL_FOLDER, syncJournalNames } from './journal-folder.ts'
import { keepNotes } from './journal-notes.ts'
import type { JournalRecord } from './journal-record.ts'

/** How often it is looked whether another server has died, in milliseconds. */
const EVERY = 1000

/**
 * Finishes what processes of this host decided and died before it was in place, since the start of the machine: refs are moved,
 * everything is synced, the servers of the store are told where to look, and the journals removed. Several servers may do it at
 * once. Answers whether there was such a process. (Those of before the machine's start are for recoverJournals.)
 */
export async function recoverForDeadServers(fs: Fs, store: string): Promise<boolean> {
  const folder = `${store}/${JOURNAL_FOLDER}`
  let hasDied = false
  for (const name of fs.readDir(folder) ?? []) {
    const owner = parseIdentity(name)
    if (!owner || !isDeadSinceBoot(owner)) continue
    if (!hasDied) await syncJournalNames(fs, store)
    hasDied = true
    const path = `${folder}/${name}`
    const records = await finishJournal(fs, store, path, owner)
    // Also what was in place already: its writer may have died before it could tell.
    announceWrites(
      fs,
      store,
      new Set(
        records.flatMap(({ writes, moved }) => [
          ...writes.map(({ repository }) => repository),
          ...(moved ? [liveFolder(moved)] : []),
        ]),
      ),
    )
    await settle(fs, store, path, records)
    const notes = records.flatMap((record) => record.notes ?? [])
    await keepNotes(fs, store, notes)
    removeJournal(fs, path)
  }
  return hasDied
}

async function settle(fs: Fs, store: string, path: string, records: readonly JournalRecord[]): Promise<void> {
  try {
    await checkpointJournal(fs, store, records)
  } catch (error) {
    // Another server may have settled and removed it just now.
    if (fs.stat(path)) throw error
  }
}

/**
 * Does so every second, and then what `afterwards` does if somebody had died, until the function it answers is called, which
 * resolves when nothing of it is under way any more.
 */
export function keepRecovering(fs: Fs, store: string, afterwards: () => void): () => Promise<void> {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  const look = async (): Promise<void> => {
    try {
      if ((await recoverForDeadServers(fs, store)) && !isStopped) afterwards()
    } catch {
      // The disk fails, or somebody locks a repository: the journal stays, and the next look tries again.
    }
    again()
  }
  const again = (): void => {
    if (!isStopped) timer = setTimeout(() => (looking = look()), EVERY).unref()
  }
  again()
  return () => {
    isStopped = true
    clearTimeout(timer)
    return looking
  }
}
