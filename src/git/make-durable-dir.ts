import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'

/**
 * Makes the folder and its missing parents, and resolves once their names are on the disk. Each is made only when the one above is
 * there for certain, so of those that exist only the deepest may lack its sync: whoever made it may not have come to that. So call
 * it once, not before every write.
 */
export async function makeDurableDir(fs: Fs, path: string): Promise<void> {
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
