import type { Repository } from '../../git/repository.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits } from '../ids.ts'

/** What keeps an artifact's place in the index: known of every one, whether or not it was looked at. */
export interface ArtifactNames {
  readonly slug: string
  readonly variants: readonly string[]
  readonly tags: readonly string[]
}

/** What an artifact's row in the index file says of it, whose view is made when somebody asks for it. */
export interface RestoredArtifact {
  readonly id: string
  readonly createdAt: string
  readonly names: () => ArtifactNames
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

/** One artifact of the index, and the view it was last seen in. */
export class IndexEntry {
  readonly path: string
  readonly family: Family
  readonly slug: string
  #from: ArtifactView | RestoredArtifact
  #isAsRestored: boolean

  constructor(family: Family, slug: string, from: ArtifactView | RestoredArtifact) {
    this.path = pathOf(family, slug)
    this.family = family
    this.slug = slug
    this.#from = from
    this.#isAsRestored = !isSeen(from)
  }

  get view(): ArtifactView {
    const from = this.#from
    if (isSeen(from)) return from
    const view = from.view()
    this.#from = view
    return view
  }

  set view(view: ArtifactView) {
    this.#isAsRestored = false
    this.#from = view
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

  /** Whether it is as its row in the index file says, which it was restored from. */
  get isAsRestored(): boolean {
    return this.#isAsRestored
  }

  /** Of one that nobody asked for since the start, what it was restored from. */
  get restored(): RestoredArtifact | undefined {
    return isSeen(this.#from) ? undefined : this.#from
  }
}

/** Every slug that the artifact of a view has. */
export function namesOf({ slug, variants, tags }: ArtifactView): ArtifactNames {
  return { slug, variants: variants.map((variant) => variant.slug), tags: [...tags.keys()] }
}

function isSeen(from: ArtifactView | RestoredArtifact): from is ArtifactView {
  return 'record' in from
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
