import { HelpfulRefusal } from '../../base/suggestions.ts'
import { Refusal } from '../../errors.ts'
import { assertWhole, type ProjectStore } from '../../git/store.ts'
import type { ArtifactView } from './artifact-view.ts'
import { viewArtifact } from './artifact-view.ts'
import { damageOf } from '../index/damaged-repositories.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from '../store/ids.ts'
import type { SlugLevel } from '../index/slug-table.ts'
import { namesOf } from '../index/index-entry.ts'
import { keyOfSlug, type SlugClaim, slugsOf, type WantedSlug } from '../index/slug-table.ts'
import type { RevisionCache } from '../revisions/stored-revision.ts'
import { foldSlug } from '../slugs/slug.ts'

/** Days after which the trash is purged. */
const KEPT_DAYS = 30

/** The record of a removal, as JSON in the repository. */
export interface TrashStamp {
  readonly trashed_at: string
  readonly trashed_by_id: string
}

/** A removed artifact in the trash. */
export interface Trashed extends TrashStamp {
  readonly artifact: ArtifactView
  /** When it is purged. */
  readonly until: string
}

/** One reading of a family's trash; artifacts in it do not change, they are only added and removed. */
interface Look {
  readonly slugs: readonly string[]
  readonly found: ReadonlyMap<string, Trashed>
  /** By level and lower-case slug: the artifacts that have it, the oldest claim first. */
  readonly bySlug: ReadonlyMap<string, readonly TrashedClaim[]>
}

/** A slug that an artifact in the trash keeps. */
export interface TrashedClaim extends Omit<SlugClaim, 'entry'> {
  readonly holder: Trashed
}

const NOTHING: Look = { slugs: [], found: new Map(), bySlug: new Map() }

/**
 * The trash of a project, read again for every query. An artifact in the trash keeps its id and all its slugs until it is restored or
 * purged, and no other list has it.
 */
export class Trash {
  readonly #store: ProjectStore
  readonly #families: readonly Family[]
  readonly #revisions: (family: Family) => RevisionCache
  readonly #looks = new Map<Family, Look>()

  /** `revisions` answers the cache of decoded revisions of a family, for the views. */
  constructor(
    store: ProjectStore,
    families: readonly Family[],
    revisions: (family: Family) => RevisionCache,
  ) {
    this.#store = store
    this.#families = families
    this.#revisions = revisions
  }

  /** All readable artifacts in the trash, the last removed first. */
  async list(): Promise<readonly Trashed[]> {
    assertWhole(this.#store)
    const all: Trashed[] = []
    for (const family of this.#families)
      for (const trashed of (await this.#look(family)).found.values()) all.push(trashed)
    return all.sort((a, b) => (a.trashed_at > b.trashed_at ? -1 : 1))
  }

  /** The artifact whose id ends in the same digits as `id`. */
  async withDigits(id: string): Promise<Trashed | undefined> {
    const digits = repositoryDigits(id)
    for (const family of this.#families) {
      for (const trashed of (await this.#look(family)).found.values())
        if (trashed.artifact.digits === digits) return trashed
    }
    return undefined
  }

  /** The artifact that has a slug of this level, ignoring case. */
  async holderOf(level: SlugLevel, family: Family, slug: string): Promise<Trashed | undefined> {
    return (await this.#look(family)).bySlug.get(keyOf(level, slug))?.[0]?.holder
  }

  /** The oldest claim of one of these slugs. */
  async oldestOf(family: Family, wanted: readonly WantedSlug[]): Promise<TrashedClaim | undefined> {
    const { bySlug } = await this.#look(family)
    let oldest: TrashedClaim | undefined
    for (const [level, slug] of wanted) {
      const claim = bySlug.get(keyOf(level, slug))?.find((it) => it.slug === slug)
      if (claim && !(oldest && oldest.since <= claim.since)) oldest = claim
    }
    return oldest
  }

  /** Refuses a slug whose artifact in the trash cannot be read. */
  assertFolderFree(family: Family, slug: string): void {
    const rival = this.#store.trashedSlugs(family.folder).find((it) => foldSlug(it) === foldSlug(slug))
    if (rival === undefined) return
    throw new Refusal(
      'slug_taken',
      `The ${family.name} slug "${slug}" is taken: something of that slug lies in the trash and cannot be read. Choose another one.`,
      { conflict: { slug: rival } },
    )
  }

  async #look(family: Family): Promise<Look> {
    const slugs = this.#store.trashedSlugs(family.folder)
    const before = this.#looks.get(family) ?? NOTHING
    return slugs === before.slugs ? before : this.#lookAnew(family, slugs, before)
  }

  async #lookAnew(family: Family, slugs: readonly string[], before: Look): Promise<Look> {
    const found = new Map<string, Trashed>()
    for (const slug of slugs) {
      const known = before.found.get(slug)
      const trashed =
        known && this.#isStill(known) ? known : await unlessUnreadable(() => this.#read(family, slug))
      if (trashed) found.set(slug, trashed)
    }
    const bySlug = new Map<string, TrashedClaim[]>()
    for (const holder of found.values())
      for (const [level, slug, since] of slugsOf(namesOf(holder.artifact))) {
        const key = `${level} ${keyOfSlug(level, slug)}`
        bySlug.set(key, [...(bySlug.get(key) ?? []), { holder, level, slug, since }])
      }
    for (const claims of bySlug.values()) claims.sort((a, b) => (a.since < b.since ? -1 : 1))
    const look = { slugs, found, bySlug }
    this.#looks.set(family, look)
    return look
  }

  /** Whether it was not restored and removed again meanwhile. */
  #isStill({ artifact, trashed_at: at }: Trashed): boolean {
    return stampIn(this.#store, artifact.family, artifact.slug)?.trashed_at === at
  }

  async #read(family: Family, slug: string): Promise<Trashed | undefined> {
    const stamp = stampIn(this.#store, family, slug)
    if (!stamp) return undefined
    const repository = this.#store.trash.repository(family.folder, slug)
    const artifact = await viewArtifact(this.#revisions(family), slug, repository, repository.refs.shared())
    return { artifact, ...stamp, until: untilOf(stamp) }
  }
}

/** The sentence and data of a refusal for something in the trash. */
export function inTrash({ artifact, trashed_at: at, until }: Trashed): {
  readonly sentence: string
  readonly when: { readonly trashed_at: string; readonly until: string }
} {
  const { family, slug, id } = artifact
  const sentence = `The ${family.name} "${slug}" (${id}) was trashed at ${at} and lies in the trash until ${until}; undelete brings it back.`
  return { sentence, when: { trashed_at: at, until } }
}

/** The refusal of something missing; if it is in the trash, the refusal says so. */
export function saidTrashed(refusal: Refusal, trashed: Trashed | undefined): Refusal {
  if (!trashed) return refusal
  const { code, message, data } = refusal
  const { sentence, when } = inTrash(trashed)
  if (refusal instanceof HelpfulRefusal) return refusal.again({ more: sentence, data: when })
  return new Refusal(code, `${message} ${sentence}`, { ...data, ...when })
}

/** The bytes of a stamp. */
export function stampText(stamp: TrashStamp): string {
  return `${JSON.stringify(stamp)}\n`
}

function stampIn(store: ProjectStore, { folder }: Family, slug: string): TrashStamp | undefined {
  try {
    const stamp = JSON.parse(store.trash.stamp(folder, slug) ?? '{}') as Partial<TrashStamp> // read with care
    const { trashed_at: at, trashed_by_id: by } = stamp
    if (typeof at !== 'string' || typeof by !== 'string' || Number.isNaN(Date.parse(at))) return undefined
    return { trashed_at: at, trashed_by_id: by }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function untilOf({ trashed_at: at }: TrashStamp): string {
  return new Date(Date.parse(at) + KEPT_DAYS * 24 * 60 * 60 * 1000).toISOString()
}

function keyOf(level: SlugLevel, slug: string): string {
  return `${level} ${foldSlug(slug)}`
}

async function unlessUnreadable(read: () => Promise<Trashed | undefined>): Promise<Trashed | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!damageOf(error, '')) throw error
    return undefined
  }
}
