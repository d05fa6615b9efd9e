import type { Fs } from './fs.ts'
import { packedRefsWithout } from './packed-refs-without.ts'
import { refPath } from './ref-name.ts'

/**
 * Removes refs from where git keeps them: their packed lines first and on the disk, so that neither anyone who looks now nor a
 * power cut ever uncovers an older value behind a loose file. Whoever calls it sees to it that nobody else writes them or
 * `packed-refs` meanwhile.
 */
export async function deleteRefFiles(fs: Fs, gitdir: string, refs: readonly string[]): Promise<void> {
  const paths = refs.map((ref) => refPath(gitdir, ref))
  const packed = await packedRefsWithout(fs, gitdir, refs)
  if (packed) {
    packed.publish()
    await fs.syncDir(gitdir)
  }
  for (const path of paths) if (fs.stat(path)?.kind === 'file') fs.remove(path)
}
