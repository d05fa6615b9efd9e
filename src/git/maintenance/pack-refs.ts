import type { Fs } from '../../storage/fs.ts'
import { gitOn } from '../process/git-process.ts'

/**
 * Has git put all refs of a repository into one file, which is read in a fraction of the time that a file each takes. What somebody locks
 * just now stays as it is; so does everything if git fails, and upkeep tries again.
 */
export async function packRefs(fs: Fs, gitdir: string): Promise<void> {
  // Twice: no loose ref goes before the name of a `packed-refs` that has it is on the disk.
  if ((await gitOn(gitdir, ['pack-refs', '--all', '--no-prune'])).code !== 0) return
  await fs.syncDir(gitdir)
  await gitOn(gitdir, ['pack-refs', '--all'])
}
