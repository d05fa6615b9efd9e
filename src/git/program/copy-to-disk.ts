import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Fs, nodeFs } from '../../storage/files.ts'

/** A copy of a repository on the disk. */
export interface DiskCopy {
  readonly path: string
  /** Removes it. */
  discard(): void
}

/**
 * Copies a repository of a store in memory, as it is now, into a temporary folder, because the git program sees no other. What git writes there
 * does not come back by itself.
 */
export function copyToDisk(fs: Fs, gitdir: string): DiskCopy {
  const path = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
  const copyFolder = (folder: string): void => {
    for (const name of fs.readDir(`${gitdir}${folder}`) ?? []) {
      const at = `${folder}/${name}`
      const bytes = fs.readFile(`${gitdir}${at}`)
      if (bytes) nodeFs.create(`${path}${at}`, bytes)
      else {
        nodeFs.makeDir(`${path}${at}`)
        copyFolder(at)
      }
    }
  }
  const discard = (): void => nodeFs.removeTree(path)
  try {
    copyFolder('')
  } catch (error) {
    discard()
    throw error
  }
  return { path, discard }
}
