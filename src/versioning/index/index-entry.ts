import type { LRUCache } from 'lru-cache'
import { recentlyUsed } from '../../cache/recently-used.ts'
import type { Repository } from '../../git/repository.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { ArtifactRecord } from '../artifacts/records.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits } from '../ids.ts'
import { claimDate } from '../slugs/slug.ts'

/** What keeps an artifact's place in the index: known of every one, whether or not it was looked at. */
export interface ArtifactNames {
  readonly slug: string
  /** Since when it is this artifact's: its creation. */
  readonly since: string
  readonly variants: Iterable<DatedSlug>
  readonly tags: Iterable<DatedSlug>
}

/** A slug, and since when it is taken; see ArtifactView.tagsSince. */
export type DatedSlug = readonly [slug: string, since: string]

/** What an artifact's row in the index file says of it, whose view is made when somebody asks for it. */
export interface RestoredArtifact {
  readonly id: string
  readonly createdAt: string
  readonly names: () => ArtifactNames
  /** The record as JSON … */
  readonly recordJson: string
  readonly record: () => ArtifactRecord
  /** … and all else that the view is made of. */
  readonly viewJson: string
  /** As of its view; seen without making that. */
  readonly isUnrecorded: boolean
  /** What `ProjectStore.stamps` answers as long as nothing has changed. */
  readonly stamps: string
  readonly view: () => ArtifactView
}

/** What became of a place in the index: another view, or that nothing is there any more, or nothing that can be read. */
export interface ArtifactChange {
  readonly family: Family
  readonly slug: string
  readonly id: string
  readonly view: ArtifactView | undefined
  /** What was there before, made when it is asked for; undefined where nothing was. */
  readonly before: (() => ArtifactView) | undefined
}

/** The views of artifacts that can be made again: those that were asked for last. */
export type ViewCache = LRUCache<IndexEntry, ArtifactView>

/** A view takes some 7 KB, and with what was read through it more. */
const MOST_VIEWS = 10_000

/** One for each project. */
export function viewCache(most = MOST_VIEWS): ViewCache {
  return recentlyUsed(most, () => 1)
}

/**
 * One artifact of the index, and the view it was last seen in. A view that the index file has, too, is let go of when others were asked
 * for since; as long as somebody holds it, nobody is given another one.
 */
export class IndexEntry {
  readonly path: string
  readonly family: Family
  readonly slug: string
  readonly #views: ViewCache
  #from: ArtifactView | RestoredArtifact
  /** What was made of `#from`. */
  #made: WeakRef<ArtifactView> | undefined
  #isAsRestored: boolean
  #wasLookedAt: boolean

  constructor(family: Family, slug: string, from: ArtifactView | RestoredArtifact, views: ViewCache) {
    this.path = pathOf(family, slug)
    this.family = family
    this.slug = slug
    this.#views = views
    this.#from = from
    this.#isAsRestored = !isSeen(from)
    this.#wasLookedAt = isSeen(from)
  }

  get view(): ArtifactView {
    const from = this.#from
    if (isSeen(from)) return from
    const kept = this.#views.get(this)
    if (kept) return kept
    const view = this.#made?.deref() ?? from.view()
    this.#keep(view)
    return view
  }

  set view(view: ArtifactView) {
    this.#isAsRestored = false
    this.#wasLookedAt = true
    this.#from = view
    this.#made = undefined
    this.#views.delete(this)
  }

  /** The view, if it need not be made. */
  get seen(): ArtifactView | undefined {
    return isSeen(this.#from) ? this.#from : this.#made?.deref()
  }

  /** To be called once the index file has the view, which can be made from there from now on. */
  saved(view: ArtifactView, as: RestoredArtifact): void {
    if (this.#from !== view) return
    this.#from = as
    this.#keep(view)
  }

  #keep(view: ArtifactView): void {
    if (this.#made?.deref() !== view) this.#made = new WeakRef(view)
    this.#views.set(this, view)
  }

  /** Answers the view as it is now, also once there is another one; it is made when it is asked for. */
  asNow(): () => ArtifactView {
    const from = this.#from
    return () => (isSeen(from) ? from : from.view())
  }

  get repository(): Repository {
    return this.view.repository
  }

  get id(): string {
    return this.#from.id
  }

  /** The 12 hex digits that end every id of the artifact. */
  get digits(): string {
    return repositoryDigits(this.#from.id)
  }

  get createdAt(): string {
    const from = this.#from
    return isSeen(from) ? from.record.created_at : from.createdAt
  }

  get names(): ArtifactNames {
    const from = this.#from
    return isSeen(from) ? namesOf(from) : from.names()
  }

  /** Of a view that would have to be made, it is read by itself. */
  get record(): ArtifactRecord {
    const from = this.#from
    return this.seen?.record ?? (isSeen(from) ? from.record : from.record())
  }

  /** False where the record holds this text of JSON nowhere. That is seen without reading the record. */
  mayHold(json: string): boolean {
    return isSeen(this.#from) || this.#from.recordJson.includes(json)
  }

  /** False where the repository has no such ref. */
  mayHaveRef(ref: string): boolean {
    const from = this.#from
    return isSeen(from) ? from.source.refs.refs.has(ref) : from.viewJson.includes(`"${ref}"`)
  }

  /** Whether only this process, or the index file, knows since when some branch or tag is there. */
  get isUnrecorded(): boolean {
    return this.#from.isUnrecorded
  }

  /** Whether it is as its row in the index file says, which it was restored from. */
  get isAsRestored(): boolean {
    return this.#isAsRestored
  }

  /** Whether this process has looked at the whole repository, not at its refs alone. */
  get wasLookedAt(): boolean {
    return this.#wasLookedAt
  }

  /** To be called once it has. */
  lookedAt(): void {
    this.#wasLookedAt = true
  }

  /** Of one whose view would have to be made, what of. */
  get restored(): RestoredArtifact | undefined {
    return this.seen || isSeen(this.#from) ? undefined : this.#from
  }
}

/** Every slug that the artifact of a view has. */
export function namesOf({ slug, record, variants, tagsSince }: ArtifactView): ArtifactNames {
  return {
    slug,
    since: claimDate(record.created_at),
    variants: { [Symbol.iterator]: () => datesOf(variants) },
    tags: tagsSince,
  }
}

function* datesOf(variants: ArtifactView['variants']): Generator<DatedSlug> {
  for (const { slug, since } of variants) yield [slug, since]
}

function isSeen(from: ArtifactView | RestoredArtifact): from is ArtifactView {
  return 'repository' in from
}

/** Where an artifact is in its project: `<family>/<slug>`. */
export function pathOf(family: Family, slug: string): string {
  return `${family.folder}/${slug}`
}

/** Of two repositories with one artifact id, whether the first is the original: its folder has the name it was made with. */
export function isOriginal(view: ArtifactView, rival: ArtifactView): boolean {
  const [mine, theirs] = [view.record.slug === view.slug, rival.record.slug === rival.slug]
  return mine === theirs ? view.slug < rival.slug : mine
}

/** Oldest first. */
export function entriesByCreation(a: IndexEntry, b: IndexEntry): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1
}
