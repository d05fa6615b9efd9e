import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'
import { isOfGone } from './gone.ts'

/**
 * Does the step, which gives a file the name `path`; where the folder is missing, makes that and does it again. Never makes the folder of
 * a repository.
 */
export function inFolder(fs: Fs, path: string, step: () => void): void {
  try {
    step()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // a file system throws nothing else
    if (code !== 'ENOENT' || fs.stat(dirname(path)) || isOfGone(fs, path)) throw error
    fs.makeDir(dirname(path))
    step()
  }
}
