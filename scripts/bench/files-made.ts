import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** How many files in a folder, however deep, are there or were replaced by others after a piece of work. */
export async function filesMade(folder: string, work: () => Promise<unknown>): Promise<number> {
  const before = inodes(folder)
  await work()
  return [...inodes(folder)].filter(([file, inode]) => before.get(file) !== inode).length
}

function inodes(folder: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats) found.set(file, stats.ino)
  }
  return found
}
