import { readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'

/**
 * Every file and folder below a folder, by its path from there. What others make and remove meanwhile may be among them or not; a
 * recursive `readdirSync` throws where a folder goes that it is about to read.
 */
export function pathsBelow(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) =>
    entry.isDirectory()
      ? [entry.name, ...pathsBelow(join(folder, entry.name)).map((path) => join(entry.name, path))]
      : [entry.name],
  )
}

/** Whether it is a project's index or a file that SQLite keeps beside it: it is made of the repositories, at any time. */
export function isIndex(path: string): boolean {
  return /(?:^|\/)index\.db(?:-wal|-shm|\.guard|\.guard-journal)?$/.test(path)
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
