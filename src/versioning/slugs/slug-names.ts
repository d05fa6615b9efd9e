import type { NameClaim } from '../../git/transactions/arbiter.ts'
import type { Transaction } from '../../git/transactions/transaction.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits } from '../ids.ts'
import { namesOf } from '../index/index-entry.ts'
import { type SlugLevel, slugsOf } from '../index/slug-table.ts'
import { foldSlug, numberedBase } from './slug.ts'

/**
 * What a new artifact claims in its project, for servers that share no folder to find each other out: its slug, its id, and the slug of
 * its first variant. (Servers of one folder hold a lock meanwhile.)
 */
export function claimsOfArtifact(
  family: Family,
  { id, slug, variant }: { readonly id: string; readonly slug: string; readonly variant: string | undefined },
): NameClaim[] {
  return [
    { name: claimedName(family, 'artifact', slug), mustBeFree: true, isTaken: true },
    { name: `id/${repositoryDigits(id)}`, mustBeFree: true, isTaken: true },
    ...(variant === undefined ? [] : claimsOfVariant(family, variant, true)),
  ]
}

/** Claims the slug of a variant that the transaction makes; one that a push brings may be somebody else's, too (ruling 3.4a). */
export function claimVariant(
  transaction: Transaction,
  family: Family,
  slug: string,
  mustBeFree = true,
): void {
  for (const claim of claimsOfVariant(family, slug, mustBeFree)) transaction.claim(claim)
}

/** The same of the slug of a revision, which a tag is. */
export function claimTag(transaction: Transaction, family: Family, slug: string, mustBeFree = true): void {
  transaction.claim({ name: claimedName(family, 'tag', slug), mustBeFree, isTaken: true })
  const base = numberedBase(slug)
  if (base === undefined) return
  transaction.claim({ name: claimedName(family, 'numbered', base), mustBeFree: false, isTaken: true })
  if (mustBeFree)
    transaction.claim({ name: claimedName(family, 'variant', base), mustBeFree: true, isTaken: false })
}

/** What an artifact from a backup claims: its own slug and id, unless it takes the place of one that has them, and what it holds. */
export function claimsOfRestored(artifact: ArtifactView, hasPlace: boolean): NameClaim[] {
  const { family, id } = artifact
  const claims = [...slugsOf(namesOf(artifact))].map(([level, slug]) => ({
    name: claimedName(family, level, slug),
    mustBeFree: level === 'artifact' && !hasPlace,
    isTaken: true,
  }))
  return [...claims, { name: `id/${repositoryDigits(id)}`, mustBeFree: !hasPlace, isTaken: true }]
}

function claimsOfVariant(family: Family, slug: string, mustBeFree: boolean): NameClaim[] {
  const claim = { name: claimedName(family, 'variant', slug), mustBeFree, isTaken: true }
  // Its revisions would be named as another revision is (ruling 3.4).
  const numbered = { name: claimedName(family, 'numbered', slug), mustBeFree: true, isTaken: false }
  return mustBeFree ? [claim, numbered] : [claim]
}

/** A slug as it is compared in a project, with what it is the slug of. */
export function claimedName({ folder }: Family, level: SlugLevel, slug: string): string {
  return `${folder}/${level}/${foldSlug(slug)}`
}
