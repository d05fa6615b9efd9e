import type { ArtifactView, VariantView } from '../../artifacts/artifact-view.ts'
import type { Family } from '../../family/family.ts'
import type { RevisionFilter } from '../../artifacts/filters.ts'
import { isThe, matchesReferences, naming } from '../../artifacts/filters.ts'
import { authorUuid } from '../../revisions/author-uuid.ts'
import { parseUuid, repositoryDigits } from '../../ids.ts'
import type { ArtifactQuery } from '../../artifacts/query-artifacts.ts'
import type { TimelineRow } from './timeline-row.ts'
import { idIn } from './timeline-row.ts'

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
  /** Whether the revision is wanted; then at least one variant in view holds it. */
  readonly isWanted: (row: TimelineRow) => boolean
  /** The variants in view that hold the revision. */
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
      query.named !== undefined ||
      query.of?.artifact !== undefined ||
      query.of?.variant !== undefined ||
      naming(query.artifacts).length > 0 ||
      naming(query.variants).length > 0,
    isWanted: (row) =>
      isCommitWanted(row) &&
      isArtifactWanted(row.artifact) &&
      isRevisionWanted(row, query) &&
      row.holders.some(isVariantWanted),
    holdersIn: ({ holders }) => holders.filter(isVariantWanted),
  }
}

/** What author and message say. */
function commitTest({ filter }: RowQuery): (row: TimelineRow) => boolean {
  const isAuthorWanted = authorTest(oneOf(filter.author, filter.authors))
  const part = filter.message?.toLowerCase()
  return ({ author, text }) =>
    isAuthorWanted(author) &&
    // What a long message holds is asked of the revision.
    (part === undefined || text === null || (text?.includes(part) ?? false))
}

/** Authors are named as git has them, or by the UUIDs that stand for them (ruling 1.14). */
function authorTest(authors: readonly string[] | undefined): (author: string) => boolean {
  if (!authors) return () => true
  const named = new Set(authors.map((author) => parseUuid(author) ?? author))
  if (!authors.some((author) => parseUuid(author) !== undefined)) return (author) => named.has(author)
  // Few people make very many revisions.
  const ids = new Map<string, string>()
  return (author) => {
    const id = ids.get(author) ?? authorUuid(author)
    ids.set(author, id)
    return named.has(author) || named.has(id)
  }
}

/** What a filter asks for by a single and by a list; undefined if it has neither. */
export function oneOf<T>(one: T | undefined, several: readonly T[] | undefined): readonly T[] | undefined {
  return one === undefined ? several : [one, ...(several ?? [])]
}

function artifactTest(family: Family, query: RowQuery): (artifact: ArtifactView) => boolean {
  const asked = Object.entries(query.filter.flags ?? {}).filter(([name]) => family.roles.includes(name))
  // Worked out once: of very many rows most end here.
  const wanted = [...Object.entries(query.roles), ...asked]
  const artifacts = naming(query.artifacts)
  const digits = query.named && new Set([...query.named].map(repositoryDigits))
  return (artifact) => {
    if (!query.includeArchived && artifact.record.deleted_at !== undefined) return false
    if (digits && !digits.has(artifact.digits)) return false
    if (!isThe(query.of?.artifact, artifact.id)) return false
    const flags = artifact.record.flags ?? {}
    return (
      wanted.every(([name, value]) => (flags[name] ?? false) === value) &&
      matchesReferences(artifacts, artifact.id, ({ slug }) => slug === artifact.slug)
    )
  }
}

function variantTest(query: RowQuery): (variant: VariantView) => boolean {
  const variants = naming(query.variants)
  return (variant) =>
    (query.includeArchived || variant.record.deleted_at === undefined) &&
    isThe(query.of?.variant, variant.id) &&
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
