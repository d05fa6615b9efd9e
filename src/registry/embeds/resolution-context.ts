import type { EmbedTarget } from './targets/embed-targets.ts'
import type { EmbedLocation } from './syntax/embed-token.ts'

/** A revision whose data is being resolved. */
export interface Ancestor {
  readonly id: string
  readonly slug: string
}

/** Counts of a run: embeds resolved, including inner runs, and the maximum depth. */
export interface ResolutionCounts {
  resolved: number
  deepest: number
}

/** The resolving of one document: the host's, or a target's for an embed of form B or C. */
export interface Run {
  /** The slug of the target; undefined for the host. */
  readonly target: string | undefined
  readonly tally: ResolutionCounts
}

/** Where tokens are. */
export interface ResolutionContext {
  readonly run: Run
  /** The revisions from the host to here; each embeds the next. */
  readonly chain: readonly Ancestor[]
  /** The depth of tokens here; 1 in the host (interface 10.13). */
  readonly depth: number
  /** The place in the run's data. */
  readonly location: EmbedLocation
}

/** The context of tokens in data that a target inserts at `from`. */
export function enter({ id, slug }: EmbedTarget, from: ResolutionContext): ResolutionContext {
  return { ...from, chain: [...from.chain, { id, slug }], depth: from.depth + 1 }
}
