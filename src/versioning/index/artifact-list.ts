import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { IndexEntry } from './index-entry.ts'

/** Artifacts in order of creation. Of very many most are only passed by, so each view is made when it is asked for. */
export class ArtifactList implements Iterable<ArtifactView> {
  readonly #entries: readonly IndexEntry[]

  /** The entries never change places. */
  constructor(entries: readonly IndexEntry[]) {
    this.#entries = entries
  }

  get length(): number {
    return this.#entries.length
  }

  at(index: number): ArtifactView | undefined {
    return this.#entries[index]?.view
  }

  /** Where the artifact of this id stands; -1 if it is none of these. */
  indexOfId(id: string): number {
    return this.#entries.findIndex((entry) => entry.id === id)
  }

  /** The slugs of all, whose views are not made for that. */
  *slugs(): Generator<string, void, undefined> {
    for (const { slug } of this.#entries) yield slug
  }

  *[Symbol.iterator](): Generator<ArtifactView, void, undefined> {
    for (const { view } of this.#entries) yield view
  }
}
