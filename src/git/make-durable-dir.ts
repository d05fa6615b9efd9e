import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'

/**
 * Makes the folder and its missing parents, and resolves once their names are on the disk. The name of the folder itself is synced
 * also where it is there already: whoever made it may not have come to that. So call it once, not before every write.
 */
export async function makeDurableDir(fs: Fs, path: string): Promise<void> {
  const made = [path]
  for (let parent = dirname(path); !fs.stat(parent); parent = dirname(parent)) made.unshift(parent)
  fs.makeDir(path)
  for (const folder of made) await fs.syncDir(dirname(folder))
}
