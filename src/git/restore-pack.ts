import type { Fs } from './fs.ts'
import type { JournalWrite } from './journal-record.ts'

/** Puts the pack of a journaled write in its repository, unless it is there and whole. Resolves once its bytes are on the disk. */
export async function restorePack(fs: Fs, store: string, { repository, pack }: JournalWrite): Promise<void> {
  if (!pack) return
  const folder = `${store}/${repository}/objects/pack`
  if (!fs.stat(folder)) fs.makeDir(folder)
  // The index last: until it is there, nobody takes the pack for one.
  for (const [name, bytes] of [
    [`${pack.name}.pack`, pack.pack],
    [`${pack.name}.idx`, pack.index],
  ] as const) {
    if (fs.readFile(`${folder}/${name}`)?.equals(bytes)) continue
    fs.remove(`${folder}/tmp_${name}`)
    await fs.createSynced(`${folder}/tmp_${name}`, bytes)
    fs.rename(`${folder}/tmp_${name}`, `${folder}/${name}`)
  }
}
