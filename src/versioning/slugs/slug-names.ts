import type { NameClaim } from '../../git/transactions/arbiter.ts'
import type { Transaction } from '../../git/transactions/transaction.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits } from '../ids.ts'
import { namesOf } from '../index/index-entry.ts'
import { keyOfSlug, type SlugLevel, slugsOf } from '../index/slug-table.ts'
import { numberedBase } from './slug.ts'

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
    // A default variant's slug was chosen because nobody had it.
    ...(variant === undefined
      ? []
      : [{ name: claimedName(family, 'variant', variant), mustBeFree: true, isTaken: true }]),
  ]
}

/** Claims the slug of a variant that the transaction makes; another artifact may have it, too (decision 40). */
export function claimVariant(transaction: Transaction, family: Family, slug: string): void {
  transaction.claim({ name: claimedName(family, 'variant', slug), mustBeFree: false, isTaken: true })
}

/** The same of the slug of a revision, which a tag is. */
export function claimTag(transaction: Transaction, family: Family, slug: string): void {
  transaction.claim({ name: claimedName(family, 'tag', slug), mustBeFree: false, isTaken: true })
  if (numberedBase(slug) === undefined) return
  transaction.claim({ name: claimedName(family, 'numbered', slug), mustBeFree: false, isTaken: true })
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

/** A slug as it is compared in a project, with what it is the slug of. */
export function claimedName({ folder }: Family, level: SlugLevel, slug: string): string {
  return `${folder}/${level}/${keyOfSlug(level, slug)}`
}
