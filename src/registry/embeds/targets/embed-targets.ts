import type { JsonObject } from '../../../base/json.ts'
import type { EmbedLookup } from './embed-lookup.ts'

/** A revision that an embed points at (interface 10.6). */
export interface EmbedTarget {
  /** The revision's id; cycles are detected by it. */
  readonly id: string
  /** The revision's slug, for sentences. */
  readonly slug: string
  /** The revision's `data` as a reader sees it, with unresolved tokens. */
  readonly data: JsonObject
  /** An environment's pins: its `data.references`, by key. */
  readonly pins?: JsonObject
}

/** The source of embed targets. */
export interface EmbedTargets {
  /** Finds a revision. Throws an `EmbedRefusal` if there is none. */
  find(lookup: EmbedLookup): Promise<EmbedTarget>
}
