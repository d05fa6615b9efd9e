import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** How many files that a piece of work made are in each of some folders, however deep; one that only changed its name is none. */
export async function filesMade(folders: readonly string[], work: () => Promise<unknown>): Promise<number[]> {
  const before = folders.map(filesIn)
  await work()
  return folders.map(
    (folder, index) => [...filesIn(folder)].filter((file) => !before[index]?.has(file)).length,
  )
}

/** What a file is whatever its name: numbers of files that are gone are given away again, so the time of its birth as well. */
function filesIn(folder: string): Set<string> {
  const found = new Set<string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const stats = statSync(join(entry.parentPath, entry.name), { bigint: true, throwIfNoEntry: false })
    if (stats) found.add(`${stats.ino} ${stats.birthtimeNs}`)
  }
  return found
}
