import { basename } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'

/** Makes a folder in a repository; refuses with `artifact_not_found` if the repository is gone. */
export function makeFolderIn(fs: Fs, gitdir: string, folder: string): void {
  if (fs.stat(gitdir) === undefined) throw gone(gitdir)
  fs.makeDir(`${gitdir}/${folder}`)
}

/** The error of work on a repository, or that the repository is gone if it is. */
export function unlessGone(error: unknown, fs: Fs, gitdir: string): unknown {
  return fs.stat(gitdir) === undefined ? gone(gitdir) : error
}

function gone(gitdir: string): Refusal {
  return new Refusal('artifact_not_found', `"${basename(gitdir, '.git')}" is gone from the store.`)
}
