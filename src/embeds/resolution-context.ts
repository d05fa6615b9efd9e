import type { EmbedTarget } from './targets/embed-targets.ts'
import type { EmbedLocation } from './syntax/embed-token.ts'

/** A revision whose data is being resolved. */
export interface Ancestor {
  readonly id: string
  readonly slug: string
}

/** What was done in a run: embeds resolved, those of inner runs included, and how deep. */
export interface ResolutionCounts {
  resolved: number
  deepest: number
}

/** The resolving of one piece of data: the host's, or a target's for an embed of form B or C. */
export interface Run {
  /** The slug of the target; undefined for the host. */
  readonly target: string | undefined
  readonly tally: ResolutionCounts
}

/** Where tokens stand. */
export interface ResolutionContext {
  readonly run: Run
  /** The revisions on the way from the host to here, whose data embeds the next one's. */
  readonly chain: readonly Ancestor[]
  /** Of tokens here; 1 for those of the host (interface 10.13). */
  readonly depth: number
  /** The place in the run's data. */
  readonly location: EmbedLocation
}

/** Where the tokens of what comes in from a target stand, if it comes in at `from`. */
export function enter({ id, slug }: EmbedTarget, from: ResolutionContext): ResolutionContext {
  return { ...from, chain: [...from.chain, { id, slug }], depth: from.depth + 1 }
}
