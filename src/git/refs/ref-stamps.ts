import type { FileStat, Fs } from '../../storage/fs.ts'

/** The folders of refs that a snapshot covers; refs elsewhere (remotes, deeper names) are left alone. */
export const REF_FOLDERS = ['refs/heads', 'refs/tags', 'refs/meta', 'refs/environments'] as const

/** The folder of refs that are asked for by name, and so seldom that a look does not pay for them. */
export const NOTES_FOLDER = 'refs/notes'

/** The folders in which refs that we know are locked, of those whose names are in `refs`. */
export function lockFolders(names: readonly string[]): string[] {
  return [...REF_FOLDERS, NOTES_FOLDER].filter((folder) => names.includes(folder.slice('refs/'.length)))
}

/**
 * The times and inodes of the folders that any move of a ref touches, and of those that packs and alternates lie in; undefined while
 * another change could bear the same.
 */
export function repositoryStamps(fs: Fs, gitdir: string): string | undefined {
  const folders = ['refs', ...REF_FOLDERS].map((folder) => `${gitdir}/${folder}`)
  const all = [...folders, gitdir, `${gitdir}/objects/pack`, `${gitdir}/objects/info`]
  return textOf(all.map((folder) => stampOf(fs.stat(folder))))
}

/**
 * Whether its refs have not moved since `repositoryStamps` answered this. As with a second look of a reader, folders of refs that were not
 * there are not looked for as long as none came.
 */
export function areRefsAt(fs: Fs, gitdir: string, stamps: string): boolean {
  const [folders, ...seen] = stamps.split(' ').map(stampIn)
  const isStill = (stamp: Stamp | undefined, folder: string): boolean =>
    isSame(stamp ?? ABSENT, stampOf(fs.stat(folder)))
  return (
    isStill(folders, `${gitdir}/refs`) &&
    REF_FOLDERS.every((folder, at) => !seen[at] || isStill(seen[at], `${gitdir}/${folder}`)) &&
    isStill(seen[REF_FOLDERS.length], gitdir)
  )
}

/** When a folder changed last, and which one it was. */
export interface Stamp {
  readonly modified: number
  readonly inode: number
  /** False if the folder had changed so recently that another change could carry the same time. */
  readonly settled: boolean
}

/** Coarser than any kernel's time stamps (1 to 10 ms); a folder younger than this is read again. */
const TICK = 25

/** Of a folder that is not there. */
export const ABSENT: Stamp = { modified: 0, inode: 0, settled: true }

/** The stamp of a folder that was looked at just now. */
export function stampOf(stat: FileStat | undefined): Stamp {
  if (!stat) return ABSENT
  return { modified: stat.modified, inode: stat.inode, settled: Date.now() - stat.modified > TICK }
}

/** Stamps as text; undefined where one is not settled. */
export function textOf(stamps: readonly (Stamp | undefined)[]): string | undefined {
  if (stamps.some((stamp) => stamp?.settled === false)) return undefined
  return stamps.map((it) => (it && it !== ABSENT ? `${it.modified}/${it.inode}` : '-')).join(' ')
}

/** A stamp of such a text; undefined where it is of nothing. */
export function stampIn(text: string): Stamp | undefined {
  const [modified, inode] = text.split('/').map(Number)
  return modified === undefined || inode === undefined ? undefined : { modified, inode, settled: true }
}

/** Whether nothing has changed in between. */
export function isSame(seen: Stamp, now: Stamp): boolean {
  return seen.settled && seen.modified === now.modified && seen.inode === now.inode
}
