import { CannotStart } from '../errors.ts'
import type { Fs } from '../storage/fs.ts'

/** In a folder that is a server's copy of a database: what only that server looks into. */
export const COPY_FOLDER = '.copy'

/** Of which database a folder is a copy; undefined where it is none. */
export function databaseOf(fs: Fs, dir: string): string | undefined {
  return fs.readFile(`${dir}/${COPY_FOLDER}/database`)?.toString('utf8').trim()
}

/** Throws a CannotStart where the folder is a server's copy of a database: nobody else would see what is written to it. */
export function refuseCopy(fs: Fs, dir: string): void {
  if (!fs.stat(`${dir}/${COPY_FOLDER}`)) return
  const database = databaseOf(fs, dir)
  throw new CannotStart(
    `The folder ${dir} is a server's copy of a database${database === undefined ? '' : ` (${database})`}: what is written to it reaches nobody. ` +
      `Set STORE to the database, or name another folder.`,
  )
}
