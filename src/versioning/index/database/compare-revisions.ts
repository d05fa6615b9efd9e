import type { IndexDatabase } from './index-database.ts'
import type { RevisionQuestion, RevisionRow } from './find-revisions.ts'

/** The artifacts of a family, by slug, about whose revisions two databases differ. Both are brought up to date. */
export async function compareRevisions(
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
    // The one that stands first in the order of both is missing from the other.
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
