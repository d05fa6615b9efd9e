import { dirname } from 'node:path/posix'
import { dropFence } from './fence.ts'
import type { Fs } from '../../storage/fs.ts'

/** The folder of a project that what was removed lies in: `<project>/.trash/<family>/<slug>.git`. */
export const TRASH_FOLDER = '.trash'

/** The file of a repository that says when it was trashed and by whom; in one that is not in the trash it says nothing. */
export const STAMP_FILE = 'trashed.json'

/** A repository that goes to the trash of its project, or comes back. */
export interface FolderMove {
  /** Folders relative to the store. */
  readonly from: string
  readonly to: string
  /** What its `trashed.json` holds: no two moves to the trash have the same. */
  readonly stamp: string
}

/** The file that says that a repository lay in the trash, in this folder, and was removed for good. */
export function purgeMark(gitdir: string): string {
  return gitdir.replace(/git$/, 'purged')
}

/** Whether the move is one that a server makes, and leads nowhere else. */
export function isFolderMove({ from, to, stamp }: FolderMove): boolean {
  if (![from, to, stamp].every((text) => typeof text === 'string' && !text.includes('\0'))) return false
  const [live, trashed] = to.includes(`/${TRASH_FOLDER}/`) ? [from, to] : [to, from]
  const [project = '', family = '', name = '', ...more] = live.split('/')
  if (more.length > 0 || !name.endsWith('.git')) return false
  if ([project, family, name].some((part) => part === '' || part.startsWith('.'))) return false
  return trashed === `${project}/${TRASH_FOLDER}/${family}/${name}`
}

/** Where the repository is, or will be, when it is not in the trash; relative to the store. */
export function liveFolder({ from, to }: FolderMove): string {
  return isToTrash({ to }) ? from : to
}

/** Whether a move that was decided was not made: the repository lies where it came from, with this very stamp. */
export function isLeftToMove(fs: Fs, store: string, { from, to, stamp }: FolderMove): boolean {
  if (fs.readFile(`${store}/${from}/${STAMP_FILE}`)?.toString('utf8') !== stamp) return false
  return fs.stat(`${store}/${to}`) === undefined
}

/**
 * Makes the move, in one step. That of one that comes back is on the disk when it resolves: only then may it lose its stamp, by which a
 * power cut would have the move made again.
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
