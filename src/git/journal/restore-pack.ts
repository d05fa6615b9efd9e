import type { Fs } from '../../storage/fs.ts'
import type { JournalWrite } from './journal-record.ts'
import { placeSynced } from '../packs/pack-writer.ts'

/**
 * Puts the pack of a journaled write in its repository, unless it is there and whole. Resolves once its bytes are on the disk. Several
 * processes may do it at once.
 */
export async function restorePack(fs: Fs, store: string, { repository, pack }: JournalWrite): Promise<void> {
  if (!pack) return
  const gitdir = `${store}/${repository}`
  const path = `${gitdir}/objects/pack/${pack.name}`
  const isWhole =
    fs.readFile(`${path}.pack`)?.equals(pack.pack) && fs.readFile(`${path}.idx`)?.equals(pack.index)
  if (!isWhole) await placeSynced(fs, gitdir, pack)
}
