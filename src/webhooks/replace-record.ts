import type { Fs } from '../storage/fs.ts'

/**
 * Puts a record in a file, in place of what is there, in one step. After a power cut the file holds one or the other; sync the
 * folder to be sure of the new one. Only the server's own user may read it, since webhooks keep secrets and what their receivers
 * answered. One process at a time may write a file.
 */
export async function replaceRecord(fs: Fs, folder: string, name: string, record: object): Promise<void> {
  const temporary = `${folder}/${name}.new`
  fs.remove(temporary) // what a process that died here left
  await fs.createSynced(temporary, Buffer.from(`${JSON.stringify(record)}\n`), 0o600)
  fs.rename(temporary, `${folder}/${name}`)
}
