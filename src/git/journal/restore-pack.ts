import type { Fs } from '../../storage/fs.ts'
import type { JournalWrite } from './journal-record.ts'
import { stagingFor } from '../transactions/pack-staging.ts'

/**
 * Puts the pack of a journaled write in its repository, unless it is there and whole. Resolves once its bytes are on the disk. Several
 * processes may do it at once.
 */
export async function restorePack(fs: Fs, store: string, { repository, pack }: JournalWrite): Promise<void> {
  if (!pack) return
  const { name, ...bytes } = pack
  const gitdir = `${store}/${repository}`
  const path = `${gitdir}/objects/pack/${name}`
  const isWhole =
    fs.readFile(`${path}.pack`)?.equals(bytes.pack) && fs.readFile(`${path}.idx`)?.equals(bytes.index)
  if (isWhole) return
  const staging = stagingFor(fs, gitdir)
  try {
    await fs.createSynced(staging.packPath, bytes.pack)
    await fs.createSynced(staging.indexPath, bytes.index)
    staging.staged(name, bytes).publish()
  } catch (error) {
    staging.remove()
    throw error
  }
}
