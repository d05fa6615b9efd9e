import type { NameClaim, Transaction } from '../../git/transactions.ts'
import { nearNames } from '../../base/suggestions.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from '../store/ids.ts'
import { type ArtifactNames, type IndexEntry, namesOf } from './index-entry.ts'
import { claimDate, foldSlug, numberedBase } from '../slugs/slug.ts'

/** `numbered` are chosen revision slugs that end in `-<number>`, which read as versions of a variant: found by what stands before it. */
export type SlugLevel = 'artifact' | 'variant' | 'tag' | 'numbered'

/** An artifact, and a slug of it in lower case. */
export type NearSlug = readonly [artifact: ArtifactView, slug: string]

/** That an artifact has a slug, and since when. */
export interface SlugClaim {
  readonly entry: IndexEntry
  readonly level: SlugLevel
  readonly slug: string
  readonly since: string
}

/**
 * Which artifacts have which slugs, per level and family: compared without case, and those of a slug the oldest first, so that what a slug
 * means that several have is found without a look at the others.
 */
export class SlugTable {
  /** By level and folder, then by slug. Most slugs have one owner, and a list for each would be a good part of the index. */
  readonly #tables = new Map<string, Map<string, IndexEntry | SlugClaim[]>>()

  /** Takes in every slug of the entry's view. */
  add(entry: IndexEntry): void {
    // Two artifacts may share very many slugs, each of which would be looked for among all of the other's.
    const ofOthers = new Map<IndexEntry, ReadonlyMap<string, SlugClaim[]>>()
    for (const [level, slug, since] of slugsOf(entry.names)) {
      const table = this.#tableOf(level, entry.family)
      const folded = keyOfSlug(level, slug)
      const owners = table.get(folded)
      if (owners === undefined) table.set(folded, entry)
      else if (owners !== entry) {
        const claims = Array.isArray(owners) ? owners : sharedClaims(ofOthers, owners, level, folded)
        insert(claims, { entry, level, slug, since })
        table.set(folded, claims)
      }
    }
  }

  /** Forgets every slug of the entry's view: the one it was added with. */
  remove(entry: IndexEntry): void {
    for (const [level, slug, since] of slugsOf(entry.names)) {
      const table = this.#tableOf(level, entry.family)
      const folded = keyOfSlug(level, slug)
      const owners = table.get(folded)
      if (owners === entry) table.delete(folded)
      if (!Array.isArray(owners)) continue
      const at = placeOf(owners, { entry, level, slug, since })
      if (isSame(owners[at], { entry, level, slug, since })) owners.splice(at, 1)
      if (owners.length === 0) table.delete(folded)
    }
  }

  /** Whether somebody has the slug, whatever its case. */
  has(level: SlugLevel, family: Family, slug: string): boolean {
    return this.#tableOf(level, family).has(foldSlug(slug))
  }

  /**
   * Who has this very slug, the oldest first; of `numbered`, who has one that begins so. With `others`, those of all but the artifact of
   * that id: it need not be looked through for what only it has.
   */
  *claims(
    level: SlugLevel,
    family: Family,
    slug: string,
    { others }: { readonly others?: string } = {},
  ): Generator<SlugClaim, void, undefined> {
    const owner = others === undefined ? undefined : this.#tableOf(level, family).get(foldSlug(slug))
    if (owner !== undefined && !Array.isArray(owner) && owner.id === others) return
    for (const claim of this.alike(level, family, slug))
      if (
        claim.entry.id !== others &&
        (level === 'numbered' ? numberedBase(claim.slug) : claim.slug) === slug
      )
        yield claim
  }

  /** Who has the slug, whatever its case, the oldest first. */
  alike(level: SlugLevel, family: Family, slug: string): readonly SlugClaim[] {
    const folded = foldSlug(slug)
    const owners = this.#tableOf(level, family).get(folded)
    if (owners === undefined) return []
    return Array.isArray(owners) ? owners : claimsOf(owners, level, folded)
  }

  /** The few artifacts whose slugs are nearest to one, each with that slug in lower case; see `nearNames`. */
  async near(level: SlugLevel, family: Family, slug: string): Promise<readonly NearSlug[]> {
    const found = await nearNames(foldSlug(slug), this.#entries(level, family))
    return (found ?? []).map(([{ view }, folded]) => [view, folded])
  }

  /** Every slug of a level in lower case, beside it the one that has had it longest. */
  *#entries(level: SlugLevel, family: Family): Generator<readonly [string, readonly [IndexEntry, string]]> {
    for (const [slug, owners] of this.#tableOf(level, family)) {
      const owner = Array.isArray(owners) ? owners[0]?.entry : owners
      if (owner) yield [slug, [owner, slug]]
    }
  }

  #tableOf(level: SlugLevel, { folder }: Family): Map<string, IndexEntry | SlugClaim[]> {
    const key = `${level}:${folder}`
    let table = this.#tables.get(key)
    if (!table) this.#tables.set(key, (table = new Map()))
    return table
  }
}

/** Every slug that an artifact has, at each level, and since when. */
export function* slugsOf({
  slug,
  since,
  variants,
  tags,
}: ArtifactNames): Generator<readonly [level: SlugLevel, slug: string, since: string]> {
  yield ['artifact', slug, since]
  for (const [variant, date] of variants) yield ['variant', variant, date]
  for (const [tag, date] of tags) {
    yield ['tag', tag, date]
    if (numberedBase(tag) !== undefined) yield ['numbered', tag, date]
  }
}

/** By what a slug is found at its level. */
export function keyOfSlug(level: SlugLevel, slug: string): string {
  return foldSlug(level === 'numbered' ? (numberedBase(slug) ?? slug) : slug)
}

/** A slug, and as what it is asked for. */
export type WantedSlug = readonly [level: SlugLevel, slug: string]

/** The claims of one artifact among those that are asked for, the oldest first. */
export function claimsIn(
  { record, slug: own, variants, tagsSince }: ArtifactView,
  wanted: readonly WantedSlug[],
): Omit<SlugClaim, 'entry'>[] {
  const sinceOf = (level: SlugLevel, slug: string): string | undefined => {
    if (level === 'artifact') return slug === own ? claimDate(record.created_at) : undefined
    if (level === 'variant') return variants.find((it) => it.slug === slug)?.since
    return tagsSince.get(slug)
  }
  const claims = wanted.flatMap(([level, slug]) => {
    const since = sinceOf(level, slug)
    return since === undefined ? [] : [{ level, slug, since }]
  })
  return claims.sort((a, b) => compare(a.since, b.since) || LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

/** Whether one claim is older than another: ties go by the artifacts' ids, and of one artifact the variant is first (interface 5.7). */
export function isOlder(a: SlugClaim, b: SlugClaim): boolean {
  return compareClaims(a, b) < 0
}

function compareClaims(a: SlugClaim, b: SlugClaim): number {
  return (
    compare(a.since, b.since) ||
    compare(a.entry.id, b.entry.id) ||
    LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) ||
    compare(a.slug, b.slug)
  )
}

const LEVELS: readonly SlugLevel[] = ['variant', 'artifact', 'tag', 'numbered']

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What one artifact has of a slug at a level: one claim, but where plain git made two that differ in case, or two tags read so. */
function claimsOf(entry: IndexEntry, at: SlugLevel, folded: string): SlugClaim[] {
  const claims: SlugClaim[] = []
  for (const [level, slug, since] of slugsOf(entry.names))
    if (level === at && keyOfSlug(level, slug) === folded) claims.push({ entry, level, slug, since })
  return claims.sort(compareClaims)
}

/** The same claims, for an artifact that is asked for many. They are grouped by level and slug at the first call. */
function sharedClaims(
  made: Map<IndexEntry, ReadonlyMap<string, SlugClaim[]>>,
  entry: IndexEntry,
  level: SlugLevel,
  folded: string,
): SlugClaim[] {
  let claims = made.get(entry)
  if (!claims) {
    const byKey = new Map<string, SlugClaim[]>()
    for (const [at, slug, since] of slugsOf(entry.names)) {
      const key = `${at}:${keyOfSlug(at, slug)}`
      const same = byKey.get(key)
      if (same) insert(same, { entry, level: at, slug, since })
      else byKey.set(key, [{ entry, level: at, slug, since }])
    }
    made.set(entry, (claims = byKey))
  }
  return claims.get(`${level}:${folded}`) ?? []
}

function insert(claims: SlugClaim[], claim: SlugClaim): void {
  claims.splice(placeOf(claims, claim), 0, claim)
}

/** Where in the order a claim is, or would be. */
function placeOf(claims: readonly SlugClaim[], claim: SlugClaim): number {
  let [from, to] = [0, claims.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    const there = claims[middle]
    if (there && isOlder(there, claim)) from = middle + 1
    else to = middle
  }
  return from
}

function isSame(a: SlugClaim | undefined, b: SlugClaim): boolean {
  return a?.entry === b.entry && a.slug === b.slug
}

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

/** Does the same for the slug of a revision, which is a tag. */
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
