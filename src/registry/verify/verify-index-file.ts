import type { Family } from '../payload/family.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { ArtifactIndex } from '../index/artifact-index.ts'
import type { RevisionQuestion, RevisionRow } from '../index/database/find-revisions.ts'
import { INDEX_FILE, type IndexDatabase } from '../index/database/index-database.ts'
import type { Registry } from '../store/registry.ts'
import type { Finding } from './finding.ts'
import { derived } from './finding.ts'

/** Whether a project's index file disagrees with the commits of revisions; undefined if not. */
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

/** How often revisions are compared while a server may be writing them. */
const ATTEMPTS = 5

/**
 * The artifacts that differ although nothing moved: during a write, file and commits may be of different
 * moments.
 */
async function misjudgedAtRest(index: ArtifactIndex, family: Family): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const viewOf = (slug: string): ArtifactView | undefined => index.viewAt(`${family.folder}/${slug}`)
  let suspects = await misjudged(index, family)
  for (let attempt = 1; suspects.size > 0 && attempt < ATTEMPTS; attempt++) {
    const before = new Map(Array.from(suspects, (slug) => [slug, viewOf(slug)]))
    const still = await misjudged(index, family)
    await index.list(family)
    for (const [slug, view] of before) if (still.has(slug) && viewOf(slug) === view) found.add(slug)
    suspects = new Set([...still].filter((slug) => !found.has(slug)))
  }
  return found
}

/** The slugs of a family's artifacts whose revisions differ between the index file and the commits. */
export async function misjudged(index: ArtifactIndex, family: Family): Promise<ReadonlySet<string>> {
  await index.list(family)
  const anew = index.rebuilt()
  return compareRevisions(index.database, anew, family.folder).finally(() => anew.close())
}

/** The slugs of a family's artifacts whose revisions differ between two databases. Updates both. */
async function compareRevisions(
  one: IndexDatabase,
  other: IndexDatabase,
  family: string,
): Promise<Set<string>> {
  const different = new Set<string>()
  await one.fresh()
  await other.fresh()
  const rows = one.revisions(allOf(family))
  const others = other.revisions(allOf(family))
  for (let row = await rows.next(), rival = await others.next(); !row.done || !rival.done;) {
    // The row that sorts first is missing from the other.
    const order = row.done ? 1 : rival.done ? -1 : compare(placeOf(row.value), placeOf(rival.value))
    if (order <= 0 && !row.done) {
      const isSame = order === 0 && !rival.done && holdersOf(row.value) === holdersOf(rival.value)
      if (!isSame) different.add(row.value.slug)
    }
    if (order > 0 && !rival.done) different.add(rival.value.slug)
    if (order <= 0) row = await rows.next()
    if (order >= 0) rival = await others.next()
  }
  return different
}

function allOf(family: string): RevisionQuestion {
  const always = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const
  return {
    family,
    isDown: false,
    spans: [always],
    includeArchived: true,
    flags: [],
    artifacts: [],
    variants: [],
  }
}

function placeOf({ seconds, depth, oid, digits, slug }: RevisionRow): readonly (number | string)[] {
  return [seconds, depth, oid, digits, slug]
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [at, value] of a.entries()) {
    const other = b[at] ?? ''
    if (value !== other) return value < other ? -1 : 1
  }
  return 0
}

function holdersOf({ holders }: RevisionRow): string {
  return [...holders].sort().join('\n')
}
