import Database from 'libsql'
import { BrokenGuard, isBusy, isDamage } from './sqlite-errors.ts'

/** An SQLite lock on an empty file. The kernel drops it when the process ends. */
export interface FileLock {
  release(): void
}

/**
 * Locks a file, which is made if need be, for this connection alone. Waits `waitMs` milliseconds for another holder; then throws an error that
 * `isBusy` recognises, as it does where the file system has no locks. A file that is not empty is a BrokenGuard.
 */
export function lockAlone(path: string, waitMs: number): FileLock {
  return lock(new Database(path, { timeout: waitMs }), 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE', path)
}

/** Locks an existing file together with others that do the same; undefined if somebody has locked it alone. Throws where that cannot be told. */
export function lockTogether(path: string): FileLock | undefined {
  try {
    return lock(new Database(existingFile(path, 'ro')), 'BEGIN; SELECT count(*) FROM sqlite_master', path)
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
}

function lock(database: Database.Database, statements: string, path: string): FileLock {
  try {
    database.exec(statements)
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    // Names this file, because otherwise the one that it guards would count as damaged.
    throw isDamage(error) ? new BrokenGuard(path) : error
  }
}

/** The name by which SQLite opens an existing file, and creates none. */
export function existingFile(path: string, mode: 'ro' | 'rw'): string {
  // After two slashes, SQLite would expect a host.
  return `file:${path.replace(/^\/+/, '/').replaceAll(/[%?#]/g, encodeURIComponent)}?mode=${mode}`
}
