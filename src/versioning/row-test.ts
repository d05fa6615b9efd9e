import type { ArtifactView, VariantView } from './artifact-view.ts'
import type { Family } from './family.ts'
import type { RevisionFilter } from './filters.ts'
import { matchesFlags, matchesReferences, naming } from './filters.ts'
import { repositoryDigits } from './ids.ts'
import type { ArtifactQuery } from './query-artifacts.ts'
import type { ChainLink, TimelineRow } from './timeline.ts'
import { idIn } from './timeline.ts'
import { boundsOf } from './windowing.ts'

/** What is asked of rows: `named` are the only ids that are wanted, if it is there. */
export interface RowQuery extends Omit<ArtifactQuery, 'filter'> {
  readonly filter: RevisionFilter
  readonly named: ReadonlySet<string> | undefined
}

/** What a query of revisions asks that can be told without decoding them. */
export interface RowTest {
  readonly isArtifactWanted: (artifact: ArtifactView) => boolean
  /** Whether the query names artifacts, variants or revisions, so that most artifacts are not wanted. */
  readonly isNarrow: boolean
  /** The variants in view that hold the revision; none if it is not wanted. */
  readonly holdersIn: (row: TimelineRow) => readonly VariantView[]
}

/** The tests of a query. */
export function rowTest(family: Family, query: RowQuery): RowTest {
  const isCommitWanted = commitTest(query)
  const isVariantWanted = variantTest(query)
  const isArtifactWanted = artifactTest(family, query)
  return {
    isArtifactWanted: (artifact) => isArtifactWanted(artifact) && artifact.variants.some(isVariantWanted),
    isNarrow:
      query.named !== undefined || naming(query.artifacts).length > 0 || naming(query.variants).length > 0,
    holdersIn: (row) => {
      const isWanted =
        isCommitWanted(row.link) && isArtifactWanted(row.artifact) && isRevisionWanted(row, query)
      return isWanted ? row.holders.filter(isVariantWanted) : NONE
    },
  }
}

const NONE: readonly VariantView[] = []

/** What date, author and message say, and the bounds of the window. */
function commitTest({ filter, windowing }: RowQuery): (link: ChainLink) => boolean {
  const isWithin = boundsOf(windowing)
  const dates = oneOf(filter.date, filter.dates)?.map((date) => Date.parse(date))
  const authors = oneOf(filter.author, filter.authors)
  const part = filter.message?.toLowerCase()
  return ({ seconds, author, text }) =>
    (!isWithin || isWithin(seconds * 1000)) &&
    (!dates || dates.includes(seconds * 1000)) &&
    (!authors || authors.includes(author)) &&
    // What a long message holds is asked of the revision.
    (part === undefined || text === null || (text?.includes(part) ?? false))
}

function oneOf<T>(one: T | undefined, several: readonly T[] | undefined): readonly T[] | undefined {
  return one === undefined ? several : [one, ...(several ?? [])]
}

function artifactTest(family: Family, query: RowQuery): (artifact: ArtifactView) => boolean {
  const roles = Object.entries(query.filter.flags ?? {}).filter(([name]) => family.roles.includes(name))
  const wanted = Object.fromEntries(roles)
  const artifacts = naming(query.artifacts)
  const digits = query.named && new Set([...query.named].map(repositoryDigits))
  return (artifact) => {
    if (!query.includeArchived && artifact.record.deleted_at !== undefined) return false
    if (digits && !digits.has(artifact.digits)) return false
    const flags = artifact.record.flags ?? {}
    return (
      matchesFlags(flags, query.roles) &&
      matchesFlags(flags, wanted) &&
      matchesReferences(artifacts, artifact.id, ({ slug }) => slug === artifact.slug)
    )
  }
}

function variantTest(query: RowQuery): (variant: VariantView) => boolean {
  const variants = naming(query.variants)
  return (variant) =>
    (query.includeArchived || variant.record.deleted_at === undefined) &&
    matchesReferences(variants, variant.id, ({ slug }) => slug === variant.slug)
}

function isRevisionWanted(row: TimelineRow, { filter, named, includeArchived }: RowQuery): boolean {
  const { artifact, link, holders } = row
  if (named && !named.has(idIn(row))) return false
  if (!includeArchived && artifact.archived.size > 0 && artifact.archived.has(idIn(row))) return false
  const slugs = oneOf(filter.slug, filter.slugs)
  // Which of these it has depends on its home; so much is sure before that is known.
  const mayHave = (slug: string): boolean =>
    artifact.tags.get(slug) === link.oid || holders.some((it) => slug === `${it.slug}-${link.depth}`)
  return !slugs || slugs.some(mayHave)
}
