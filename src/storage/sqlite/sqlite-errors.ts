/** Whether SQLite said that a file is no database, or not a whole one. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')
}

/** Whether SQLite said so, or that rows contradict each other or the tables are others: of a file that nobody else writes, the same. */
export function isUnusable(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_') && !isStorageTrouble(error)
}

/** Whether another connection holds what was wanted. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))
}

/** The file that guards another is no lock: somebody has written into it. */
export class BrokenGuard extends Error {
  override readonly name = 'BrokenGuard'

  constructor(path: string) {
    super(`${path} should be empty, and is not. Remove it: it holds nothing.`)
  }
}

/** Another file lies in the place of the one that was meant, or none. */
export class OtherFile extends Error {
  override readonly name = 'OtherFile'

  constructor(path: string) {
    super(`${path} is another file by now`)
  }
}

/** Whether what was thrown is about the disk, another process or a guard, and may be over later. */
export function isStorageTrouble(error: unknown): boolean {
  if (error instanceof BrokenGuard || error instanceof OtherFile) return true
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
