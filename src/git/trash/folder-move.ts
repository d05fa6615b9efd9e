import { dirname } from 'node:path/posix'
import { dropFence } from './fence.ts'
import type { Fs } from '../../storage/files.ts'

/** A project's folder for removed repositories: `<project>/.trash/<family>/<slug>.git`. */
export const TRASH_FOLDER = '.trash'

/** The file of a repository with when and by whom it was trashed; meaningless outside the trash. */
export const STAMP_FILE = 'trashed.json'

/** A repository that moves to its project's trash, or back. */
export interface FolderMove {
  /** Folders relative to the store. */
  readonly from: string
  readonly to: string
  /** The content of `trashed.json`, unique for each move to the trash. */
  readonly stamp: string
}

/** The file that records the purge of a repository in the trash. */
export function purgeMark(gitdir: string): string {
  return gitdir.replace(/git$/, 'purged')
}

/** Whether the move has the form of a server's, and leads nowhere else. */
export function isFolderMove({ from, to, stamp }: FolderMove): boolean {
  if (![from, to, stamp].every((text) => typeof text === 'string' && !text.includes('\0'))) return false
  const [live, trashed] = to.includes(`/${TRASH_FOLDER}/`) ? [from, to] : [to, from]
  const [project = '', family = '', name = '', ...more] = live.split('/')
  if (more.length > 0 || !name.endsWith('.git')) return false
  if ([project, family, name].some((part) => part === '' || part.startsWith('.'))) return false
  return trashed === `${project}/${TRASH_FOLDER}/${family}/${name}`
}

/** The repository's path outside the trash, relative to the store. */
export function liveFolder({ from, to }: FolderMove): string {
  return isToTrash({ to }) ? from : to
}

/** Whether a decided move is still to be made: the repository is at its old path, with this stamp. */
export function isLeftToMove(fs: Fs, store: string, { from, to, stamp }: FolderMove): boolean {
  if (fs.readFile(`${store}/${from}/${STAMP_FILE}`)?.toString('utf8') !== stamp) return false
  return fs.stat(`${store}/${to}`) === undefined
}

/**
 * Makes the move atomically. A move out of the trash is synced before the stamp is removed, because a power cut could otherwise lose the
 * stamp with which the move is repeated.
 */
export async function moveFolder(fs: Fs, store: string, move: FolderMove): Promise<void> {
  const [from, to] = [`${store}/${move.from}`, `${store}/${move.to}`]
  if (!fs.stat(dirname(to))) fs.makeDir(dirname(to))
  fs.rename(from, to)
  dropFence(fs, to)
  if (isToTrash(move)) return
  await fs.syncAll([dirname(to), dirname(from)])
  fs.remove(`${to}/${STAMP_FILE}`)
}

function isToTrash({ to }: Pick<FolderMove, 'to'>): boolean {
  return to.includes(`/${TRASH_FOLDER}/`)
}
