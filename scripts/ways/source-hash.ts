import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'

/** A hash of the names and contents of all files of `src` but the page's (`src/web`), which a browser runs. */
export function sourceHash(folder = 'src'): string {
  const hash = createHash('sha256')
  for (const path of filesBelow(folder)) hash.update(`${path}\0`).update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) return [path]
      return path === 'src/web' ? [] : filesBelow(path)
    })
}
