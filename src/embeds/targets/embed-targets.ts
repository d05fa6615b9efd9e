import type { JsonObject } from '../../json/json.ts'
import type { EmbedLookup } from './embed-lookup.ts'

/** A revision that an embed points at (interface 10.6). */
export interface EmbedTarget {
  /** Of the revision: what cycles are told by. */
  readonly id: string
  /** The revision's slug, for sentences. */
  readonly slug: string
  /** The revision's `data` as a reader sees it, its tokens not resolved. */
  readonly data: JsonObject
  /** What an environment runs: its `data.references`, by key. */
  readonly pins?: JsonObject
}

/** Where the targets of embeds come from. */
export interface EmbedTargets {
  /** The revision that is looked for. Refuses with an `EmbedRefusal` if there is none. */
  find(lookup: EmbedLookup): Promise<EmbedTarget>
}
