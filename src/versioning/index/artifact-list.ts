import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Rows } from '../pagination.ts'
import type { IndexEntry } from './index-entry.ts'

/** What lists show of an artifact. Its view is made when it is asked for, its record only read. */
export type ListedArtifact = Pick<
  IndexEntry,
  'family' | 'slug' | 'id' | 'createdAt' | 'record' | 'mayHold' | 'mayHaveRef' | 'view'
>

/** Artifacts in order of creation. Of very many most are only passed by, so each view is made when it is asked for. */
export class ArtifactList implements Iterable<ArtifactView> {
  readonly #entries: readonly IndexEntry[]
  /** The same artifacts without their views, each as it is when it is asked. */
  readonly rows: Rows<ListedArtifact>

  /** The entries never change places. */
  constructor(entries: readonly IndexEntry[]) {
    this.#entries = entries
    this.rows = entries
  }

  get length(): number {
    return this.#entries.length
  }

  at(index: number): ArtifactView | undefined {
    return this.#entries[index]?.view
  }

  /** The slugs of all, whose views are not made for that. */
  *slugs(): Generator<string, void, undefined> {
    for (const { slug } of this.#entries) yield slug
  }

  *[Symbol.iterator](): Generator<ArtifactView, void, undefined> {
    for (const { view } of this.#entries) yield view
  }
}
