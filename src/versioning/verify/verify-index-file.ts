import type { Family } from '../family/family.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { ArtifactIndex } from '../index/artifact-index.ts'
import { INDEX_FILE } from '../index/database/index-database.ts'
import type { Registry } from '../registry.ts'
import type { Finding } from './finding.ts'
import { derived } from './finding.ts'

/** What is wrong with a project's index file: that it says something else of revisions than their commits do. Undefined if nothing is. */
export async function verifyIndexFile({ index, families, store }: Registry): Promise<Finding | undefined> {
  const paths: string[] = []
  for (const family of families)
    for (const slug of await misjudgedAtRest(index, family)) paths.push(`${family.folder}/${slug}`)
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

/** How often revisions are compared that a server may be writing. */
const ATTEMPTS = 5

/** Those that differ though nothing moved: of one that is written to meanwhile file and commits are of two moments. */
async function misjudgedAtRest(index: ArtifactIndex, family: Family): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const viewOf = (slug: string): ArtifactView | undefined => index.viewAt(`${family.folder}/${slug}`)
  let suspects = await index.misjudged(family)
  for (let attempt = 1; suspects.size > 0 && attempt < ATTEMPTS; attempt++) {
    const before = new Map(Array.from(suspects, (slug) => [slug, viewOf(slug)]))
    const still = await index.misjudged(family)
    await index.list(family)
    for (const [slug, view] of before) if (still.has(slug) && viewOf(slug) === view) found.add(slug)
    suspects = new Set([...still].filter((slug) => !found.has(slug)))
  }
  return found
}
