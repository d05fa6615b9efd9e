import { dirname } from 'node:path/posix'
import { ChangeFeed } from '../../storage/change-feed.ts'
import { finishCreations } from './finish-creations.ts'
import { finishFolderMoves } from './finish-folder-moves.ts'
import { finishWrites } from './finish-writes.ts'
import type { Fs } from '../../storage/fs.ts'
import type { JournalRecord } from './journal-record.ts'
import { decodeJournal } from './journal-record.ts'
import type { ProcessIdentity } from '../../storage/process-identity.ts'

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
