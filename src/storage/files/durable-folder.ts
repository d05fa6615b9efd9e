import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'

/**
 * Makes the folder and its missing parents, and resolves once their names are on the disk. Each is made only when the one above is
 * there for certain, so of those that exist only the deepest may lack its sync: whoever made it may not have come to that. So call
 * it once, not before every write.
 */
export async function createDurableFolder(fs: Fs, path: string): Promise<void> {
  const missing: string[] = []
  let deepest = path
  for (; !fs.stat(deepest); deepest = dirname(deepest)) missing.unshift(deepest)
  // Says what is wrong where a file is in the way.
  if (missing.length === 0) fs.makeDir(path)
  await fs.syncDir(dirname(deepest)).catch(ignoreForeign)
  for (const folder of missing) {
    fs.makeDir(folder)
    await fs.syncDir(dirname(folder))
  }
}

/** Where we may not even look, the folder is somebody else's. */
function ignoreForeign(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EACCES') throw error
}

/**
 * Does the step, which gives a file the name `path`; where the folder is missing, makes that and does it again. The folder may come
 * between the step and a look at it, made by another server, and may go again, when git or a sweep finds it empty: so nobody looks.
 * Never makes the folder of a repository.
 */
export function ensuringFolder(fs: Fs, path: string, step: () => void): void {
  for (let attempt = 1; ; attempt++) {
    try {
      return step()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException // a file system throws nothing else
      if (code !== 'ENOENT' || attempt === ATTEMPTS) throw error
      refuseShell(dirname(path))
      fs.makeDir(dirname(path))
    }
  }
}

/** More than others can remove a folder in a row; what is missing after that is not the folder. */
const ATTEMPTS = 10

/** Throws ENOENT if the missing folder bears the name of a repository: another server has moved that away (see Fs.makeDir). */
export function refuseShell(folder: string): void {
  if (folder.endsWith('.git')) throw noPlaceFor(folder)
}

/** What is thrown where a folder cannot be made, since the one above is missing and stays so. */
export function noPlaceFor(folder: string): Error {
  return Object.assign(new Error(`ENOENT: no folder can be made at ${folder}`), {
    code: 'ENOENT',
    path: folder,
  })
}

/** Has everything in the folder on the disk, the innermost first, and its own names last. What is synced already costs little. */
export async function syncTree(fs: Fs, path: string): Promise<void> {
  const paths: string[] = []
  const add = (folder: string): void => {
    for (const name of fs.readDir(folder) ?? []) {
      const below = `${folder}/${name}`
      if (fs.stat(below)?.kind === 'folder') add(below)
      else paths.push(below)
    }
    paths.push(folder)
  }
  add(path)
  await fs.syncAll(paths)
}
