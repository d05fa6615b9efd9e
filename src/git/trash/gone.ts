import { basename } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'

/** Makes a folder of a repository; refuses with `artifact_not_found` where that is gone. */
export function makeFolderIn(fs: Fs, gitdir: string, folder: string): void {
  if (fs.stat(gitdir) === undefined) throw gone(gitdir)
  fs.makeDir(`${gitdir}/${folder}`)
}

/** Why something failed that was done to a repository: that it is gone, where it is. */
export function unlessGone(error: unknown, fs: Fs, gitdir: string): unknown {
  return fs.stat(gitdir) === undefined ? gone(gitdir) : error
}

function gone(gitdir: string): Refusal {
  return new Refusal('artifact_not_found', `"${basename(gitdir, '.git')}" is gone from the store.`)
}
