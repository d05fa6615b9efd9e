/** Whether SQLite said that a file is no database, or not a whole one. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')
}

/** Whether what SQLite threw is about the disk or another process, and may be over later. */
export function isStorageTrouble(error: unknown): boolean {
  const code = codeOf(error)
  if (TROUBLES.some((it) => code.startsWith(it))) return true
  // Of a file that cannot be opened, the library says no code.
  return error instanceof Error && /^ConnectionFailed|Unable to open connection/.test(error.message)
}

const TROUBLES = ['FULL', 'IOERR', 'READONLY', 'CANTOPEN', 'BUSY', 'LOCKED', 'PERM', 'NOLFS', 'PROTOCOL'].map(
  (name) => `SQLITE_${name}`,
)

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
