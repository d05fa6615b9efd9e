import { CannotStart } from '../errors.ts'
import type { Fs } from '../storage/fs.ts'
import { COPY_FOLDER } from './following/folder/place-entry.ts'
import { databaseOf } from './following/folder/position-file.ts'

/** Throws a CannotStart where the folder is a server's copy of a database: nobody else would see what is written to it. */
export function refuseCopy(fs: Fs, dir: string): void {
  if (!fs.stat(`${dir}/${COPY_FOLDER}`)) return
  const database = databaseOf(fs, dir)
  throw new CannotStart(
    `The folder ${dir} is a server's copy of a database${database === undefined ? '' : ` (${database})`}: what is written to it reaches nobody. ` +
      `Set STORE to the database, or name another folder.`,
  )
}
