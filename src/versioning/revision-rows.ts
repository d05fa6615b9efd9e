import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import type { ChainLink, Chains } from './chain-cache.ts'
import type { Family } from './family.ts'
import type { RevisionFilter } from './filters.ts'
import { holdsText, matchesFlags, matchesReferences } from './filters.ts'
import { objectUuid, repositoryDigits } from './ids.ts'
import type { ArtifactQuery } from './query-artifacts.ts'
import type { Registry } from './registry.ts'
import { boundsOf } from './windowing.ts'

/** What rows are ordered by. */
export interface RowPosition {
  readonly artifact: ArtifactView
  readonly link: Pick<ChainLink, 'oid' | 'depth' | 'seconds'>
}

/** A revision that may be listed: the commit, and the variants in view that hold it. */
export interface RevisionRow extends RowPosition {
  readonly link: ChainLink
  readonly holders: readonly VariantView[]
}

/** A query of rows: `named` are the only ids that are wanted, if it is there. */
export interface RowQuery extends Omit<ArtifactQuery, 'filter'> {
  readonly filter: RevisionFilter
  readonly named: ReadonlySet<string> | undefined
}

/** So many artifacts are looked at before other work gets its turn. */
const BREATH = 1000

/** Every revision in view that passes what can be asked without decoding it, in no order. */
export async function revisionRows(
  registry: Registry,
  family: Family,
  query: RowQuery,
): Promise<RevisionRow[]> {
  const rows: RevisionRow[] = []
  const isArtifactWanted = artifactTest(family, query)
  const isCommitWanted = commitTest(query)
  let looked = 0
  for (const artifact of await registry.index.list(family)) {
    if (++looked % BREATH === 0) await nextTurn()
    if (!isArtifactWanted(artifact)) continue
    const kept = registry.chains.of(artifact)
    const chains = kept instanceof Promise ? await kept : kept
    for (const row of rowsIn(artifact, chains, query)) {
      if (isCommitWanted(row.link) && isRowWanted(row, query)) rows.push(row)
    }
  }
  return rows
}

/** Each revision of the variants in view, once. */
function rowsIn(artifact: ArtifactView, chains: Chains, query: RowQuery): Iterable<RevisionRow> {
  const variants = artifact.variants.filter(
    (variant) =>
      (query.includeArchived || variant.record.deleted_at === undefined) &&
      matchesReferences(query.variants, variant.id, ({ slug }) => slug === variant.slug),
  )
  const rows = new Map<ChainLink, RevisionRow & { readonly holders: VariantView[] }>()
  for (const variant of variants) {
    let link = variant.head === undefined ? undefined : chains.get(variant.head)
    for (; link; link = link.parent) {
      const row = rows.get(link)
      if (row) row.holders.push(variant)
      else rows.set(link, { artifact, link, holders: [variant] })
    }
  }
  return rows.values()
}

function artifactTest(family: Family, query: RowQuery): (artifact: ArtifactView) => boolean {
  const roles = Object.entries(query.filter.flags ?? {}).filter(([name]) => family.roles.includes(name))
  const wanted = Object.fromEntries(roles)
  const digits = query.named && new Set([...query.named].map(repositoryDigits))
  return (artifact) => {
    if (!query.includeArchived && artifact.record.deleted_at !== undefined) return false
    if (digits && !digits.has(artifact.digits)) return false
    const flags = artifact.record.flags ?? {}
    return (
      matchesFlags(flags, query.roles) &&
      matchesFlags(flags, wanted) &&
      matchesReferences(query.artifacts, artifact.id, ({ slug }) => slug === artifact.slug)
    )
  }
}

/** What date, author and message say, and the bounds of the window. */
function commitTest({ filter, windowing }: RowQuery): (link: ChainLink) => boolean {
  const isWithin = boundsOf(windowing)
  const dates = oneOf(filter.date, filter.dates)?.map((date) => Date.parse(date))
  const authors = oneOf(filter.author, filter.authors)
  return ({ seconds, author, message }) =>
    (!isWithin || isWithin(seconds * 1000)) &&
    (!dates || dates.includes(seconds * 1000)) &&
    (!authors || authors.includes(author)) &&
    holdsText(message, filter.message)
}

function oneOf<T>(one: T | undefined, several: readonly T[] | undefined): readonly T[] | undefined {
  return one === undefined ? several : [one, ...(several ?? [])]
}

function isRowWanted(row: RevisionRow, query: RowQuery): boolean {
  const { artifact, link, holders } = row
  if (query.named && !query.named.has(idIn(row))) return false
  if (!query.includeArchived && artifact.archived.size > 0 && artifact.archived.has(idIn(row))) return false
  const slugs = oneOf(query.filter.slug, query.filter.slugs)
  // Which of these it has depends on its home; so much is sure before that is known.
  const mayHave = (slug: string): boolean =>
    artifact.tags.get(slug) === link.oid || holders.some((it) => slug === `${it.slug}-${link.depth}`)
  return !slugs || slugs.some(mayHave)
}

function idIn({ artifact, link }: RowPosition): string {
  return objectUuid(link.oid, artifact.digits)
}

/** By date; of one second by version, then by id. */
export function isOlder(a: RowPosition, b: RowPosition): boolean {
  if (a.link.seconds !== b.link.seconds) return a.link.seconds < b.link.seconds
  if (a.link.depth !== b.link.depth) return a.link.depth < b.link.depth
  return idIn(a) < idIn(b)
}
