/** Whether SQLite reported that the file is not a database, or is corrupt. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')
}

/**
 * Whether SQLite reported damage, contradictory rows or unexpected tables. For a file that only this program writes, all of these mean
 * damage.
 */
export function isUnusable(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_') && !isStorageTrouble(error)
}

/** Whether another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))
}

/** The lock file of a database is not empty, because another program wrote into it. */
export class BrokenGuard extends Error {
  override readonly name = 'BrokenGuard'

  constructor(path: string) {
    super(`${path} should be empty, and is not. Remove it: it holds nothing.`)
  }
}

/** The expected file was replaced or removed. */
export class OtherFile extends Error {
  override readonly name = 'OtherFile'

  constructor(path: string) {
    super(`${path} is another file by now`)
  }
}

/** Whether an error is about the disk, another process or a lock file, and may be temporary. */
export function isStorageTrouble(error: unknown): boolean {
  if (error instanceof BrokenGuard || error instanceof OtherFile) return true
  const code = codeOf(error)
  if (TROUBLES.some((it) => code.startsWith(it))) return true
  // If the file cannot be opened, the library's error has no code.
  return error instanceof Error && /^ConnectionFailed|Unable to open connection/.test(error.message)
}

const TROUBLES = ['FULL', 'IOERR', 'READONLY', 'CANTOPEN', 'BUSY', 'LOCKED', 'PERM', 'NOLFS', 'PROTOCOL'].map(
  (name) => `SQLITE_${name}`,
)

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
