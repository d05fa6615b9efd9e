import { INDEX_FILE } from '../index/database/index-database.ts'
import type { Registry } from '../registry.ts'
import type { Finding } from './finding.ts'
import { derived } from './finding.ts'

/** What is wrong with a project's index file: that it says something else of revisions than their commits do. Undefined if nothing is. */
export async function verifyIndexFile({ index, families, store }: Registry): Promise<Finding | undefined> {
  const paths: string[] = []
  for (const family of families)
    for (const slug of await index.misjudged(family)) paths.push(`${family.folder}/${slug}`)
  if (paths.length === 0) return undefined
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  return derived(
    `It differs from the commits of ${paths.slice(0, SHOWN).join(', ')}${more}. It may be deleted at any time.`,
    async () => {
      for (const part of ['', '-wal', '-shm']) store.fs.remove(`${store.folder}/${INDEX_FILE}${part}`)
      return 'deleted it; it is made anew when it is asked'
    },
  )
}

const SHOWN = 5
