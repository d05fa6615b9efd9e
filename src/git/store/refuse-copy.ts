import { CannotStart } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'

/** The folder of a copy of a database that only its server uses. */
export const COPY_FOLDER = '.copy'

/** The id of the database that a folder is a copy of; undefined if it is not a copy. */
export function databaseOf(fs: Fs, dir: string): string | undefined {
  return fs.readFile(`${dir}/${COPY_FOLDER}/database`)?.toString('utf8').trim()
}

/** Throws CannotStart if the folder is a server's copy of a database, because writes to it would reach no other server. */
export function refuseCopy(fs: Fs, dir: string): void {
  if (!fs.stat(`${dir}/${COPY_FOLDER}`)) return
  const database = databaseOf(fs, dir)
  throw new CannotStart(
    `The folder ${dir} is a server's copy of a database${database === undefined ? '' : ` (${database})`}: what is written to it reaches nobody. ` +
      `Set STORE to the database, or name another folder.`,
  )
}
