import Database from 'libsql'
import { nodeFs } from '../../storage/node-fs.ts'
import { BUSY_MS, TraceFile } from './trace-file.ts'

/** The files that a thread has open, by path. */
export class TraceFiles {
  readonly #open = new Map<string, TraceFile>()

  /** The file, made if need be. One that was moved or removed meanwhile is left to itself. */
  writable(path: string): TraceFile {
    const known = this.#open.get(path)
    if (known?.isCurrent) return known
    this.forget(path)
    const opened = alone(path, () => TraceFile.open(path))
    this.#open.set(path, opened)
    return opened
  }

  /** The file, or undefined where nothing was ever recorded. */
  readable(path: string): TraceFile | undefined {
    if (nodeFs.stat(path)) return this.writable(path)
    this.forget(path)
    return undefined
  }

  /** Closes all of them. */
  close(): void {
    for (const path of [...this.#open.keys()]) this.forget(path)
  }

  /** Closes the file. */
  forget(path: string): void {
    this.#open.get(path)?.close()
    this.#open.delete(path)
  }

  /**
   * Renames a file that is no database, so that a new one can take its place and nothing is lost that somebody may still read.
   * Answers where it is; undefined if another process did it before.
   */
  setAside(path: string): string | undefined {
    const before = this.#open.get(path)
    const wasReplaced = before !== undefined && !before.isCurrent
    this.forget(path)
    if (wasReplaced) return undefined
    // Of two who found the damage, the second finds what has taken the file's place.
    return alone(path, () => (nodeFs.stat(path) && isDamaged(path) ? rename(path) : undefined))
  }
}

/**
 * Keeps other threads and processes from opening the file or setting it aside: its parts move one by one, and what begins a new file
 * between two of them would lose its own. The lock is SQLite's, on a file with nothing in it, and ends with its holder.
 */
function alone<T>(path: string, work: () => T): T {
  const guard = `${path}.guard`
  const lock = new Database(guard, { timeout: BUSY_MS })
  try {
    begin(lock, guard)
    return work()
  } finally {
    lock.close()
  }
}

function begin(lock: Database.Database, guard: string): void {
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    // Of itself, or the file that it guards would be taken for damaged.
    throw isDamage(error) ? new BrokenGuard(guard) : error
  }
}

function rename(path: string): string {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  nodeFs.rename(path, aside)
  for (const part of ['-wal', '-shm']) if (nodeFs.stat(path + part)) nodeFs.rename(path + part, aside + part)
  return aside
}

/** Looks at every page; a file is not moved away for an error that is over. */
function isDamaged(path: string): boolean {
  try {
    const file = TraceFile.open(path)
    try {
      const [row] = file.rows<{ readonly quick_check?: string }>('PRAGMA quick_check(1)')
      return row?.quick_check !== 'ok'
    } finally {
      file.close()
    }
  } catch (error) {
    return isDamage(error)
  }
}

/** Whether SQLite said that a file is no database, or not a whole one. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')
}

/** The file that guards another is no lock: somebody has written into it. */
class BrokenGuard extends Error {
  override readonly name = 'BrokenGuard'

  constructor(path: string) {
    super(`${path} should be empty, and is not. Remove it: it holds nothing.`)
  }
}

/** Whether what was thrown is about the disk, another process or a guard, and may be over later. */
export function isStorageTrouble(error: unknown): boolean {
  if (error instanceof BrokenGuard) return true
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
