import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { ArtifactRecord } from '../artifacts/records.ts'
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

  /** The same artifacts without their views. */
  get rows(): ListedRows {
    return new ListedRows(this.#entries)
  }

  /** The slugs of all, whose views are not made for that. */
  *slugs(): Generator<string, void, undefined> {
    for (const { slug } of this.#entries) yield slug
  }

  *[Symbol.iterator](): Generator<ArtifactView, void, undefined> {
    for (const { view } of this.#entries) yield view
  }
}

/** The artifacts of a list, of which only what is asked for is read. */
export class ListedRows implements Iterable<ListedArtifact> {
  readonly #entries: readonly IndexEntry[]

  constructor(entries: readonly IndexEntry[]) {
    this.#entries = entries
  }

  get length(): number {
    return this.#entries.length
  }

  at(index: number): ListedArtifact | undefined {
    const entry = this.#entries[index]
    return entry && new ListedArtifact(entry)
  }

  /** Where the artifact of this id stands; -1 if it is none of these. */
  indexOfId(id: string): number {
    return this.#entries.findIndex((entry) => entry.id === id)
  }

  *[Symbol.iterator](): Generator<ListedArtifact, void, undefined> {
    for (const entry of this.#entries) yield new ListedArtifact(entry)
  }
}

/** An artifact in a list. Its record stays what it was when it was first asked for. */
export class ListedArtifact {
  readonly #entry: IndexEntry
  #record: ArtifactRecord | undefined

  constructor(entry: IndexEntry) {
    this.#entry = entry
  }

  get family(): ArtifactView['family'] {
    return this.#entry.family
  }

  get id(): string {
    return this.#entry.id
  }

  get slug(): string {
    return this.#entry.slug
  }

  get createdAt(): string {
    return this.#entry.createdAt
  }

  get record(): ArtifactRecord {
    return (this.#record ??= this.#entry.record)
  }

  /** False where the view holds nowhere what is this text as JSON: that is seen without reading anything. */
  mayHold(json: string): boolean {
    return this.#entry.mayHold(json)
  }

  get view(): ArtifactView {
    return this.#entry.view
  }
}
