import { dirname } from 'node:path/posix'
import type { FolderMove } from '../trash/folder-move.ts'
import { isLeftToMove, liveFolder, moveFolder } from '../trash/folder-move.ts'
import type { Fs } from '../../storage/fs.ts'
import type { JournalRecord } from './journal-record.ts'
import { holdingLock } from '../../storage/lock-file.ts'

type Moves = readonly Pick<JournalRecord, 'moved'>[]

/**
 * Makes the moves of repositories, in this order, that a process decided and died before they were made. Several processes may do this
 * at once: who moves a repository has the slugs of its project. Answers the repositories, by where they are when they are not in the
 * trash, relative to the store.
 */
export async function finishFolderMoves(fs: Fs, store: string, records: Moves): Promise<string[]> {
  const finished: string[] = []
  for (const { moved } of records) {
    if (!moved || !isLeftToMove(fs, store, moved)) continue
    // The lock of the dead one, most likely, who decided nothing else while it had that.
    await holdingLock(fs, `${store}/${projectOf(moved)}`, 'slugs', async () => {
      if (isLeftToMove(fs, store, moved)) await moveFolder(fs, store, moved)
    })
    finished.push(liveFolder(moved))
  }
  return finished
}

/** Syncs the names of repositories that were moved. */
export async function syncFolderMoves(fs: Fs, store: string, records: Moves): Promise<void> {
  const folders = records.flatMap(({ moved }) =>
    moved ? [dirname(moved.to), dirname(moved.from), moved.to] : [],
  )
  // The new name first, where that matters.
  const paths = [...new Set(folders)].map((folder) => `${store}/${folder}`)
  if (paths.length > 0) await fs.syncAll(paths)
}

function projectOf(move: FolderMove): string {
  return liveFolder(move).split('/')[0] ?? ''
}
