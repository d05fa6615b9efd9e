import { EmbedRefusal } from './embed-refusal.ts'

/** Limits on the embeds resolved for one request, and on their depth (interface 10.10). */
export interface EmbedLimits {
  /** The depth of nested embeds must stay below this: 10 allows chains of 9. */
  readonly maxDepth: number
  /** The number of embeds, including nested ones, may equal this. */
  readonly maxEmbeds: number
}

/** Upper bounds for the limits of any request. */
export const MOST_EMBEDS = 10_000
export const MOST_DEPTH = 100
/** Maximum JSON text that all embeds together insert, in UTF-16 units. */
export const MOST_INSERTED = 16 * 1024 * 1024
/** Maximum number of failed embeds under a policy that tolerates failures. */
export const MOST_FAILURES = 1000
/** Maximum levels of arrays and objects around an embed. */
export const MOST_EMBED_LEVELS = 256
/** Maximum number of values that all JSONPath queries visit. */
export const MOST_VISITED = 250_000

/**
 * The budget of one request, shared by all nested embeds, so that the work is bounded for any targets
 * (interface 10.10). Spent budget is never returned.
 */
export class EmbedBudget {
  readonly #maxDepth: number
  readonly #maxEmbeds: number
  #embeds = 0
  #failures = 0
  #inserted = 0
  #visited = 0

  constructor({ maxDepth, maxEmbeds }: EmbedLimits) {
    this.#maxDepth = Math.min(maxDepth, MOST_DEPTH)
    this.#maxEmbeds = Math.min(maxEmbeds, MOST_EMBEDS)
  }

  /** Checks that one more embed fits, at a depth counted from 1. */
  beginEmbed(depth: number): void {
    if (depth >= this.#maxDepth) {
      throw new EmbedRefusal(
        'embed_depth_exceeded',
        `It is level ${depth} of embeds inside embeds, and max_depth is ${this.#maxDepth}: levels must stay below it.`,
        'run',
      )
    }
    if (this.#embeds >= this.#maxEmbeds) throw this.#oneTooMany()
  }

  /** Counts a resolved embed, after its nested embeds. */
  spendEmbed(): void {
    if (++this.#embeds > this.#maxEmbeds) throw this.#oneTooMany()
  }

  spendFailure(): void {
    if (++this.#failures > MOST_FAILURES) throw tooMuch(`More than ${MOST_FAILURES} embeds failed.`)
  }

  spendInserted(length: number): void {
    this.#inserted += length
    if (this.#inserted > MOST_INSERTED) {
      throw tooMuch(`Embeds bring in more than ${MOST_INSERTED} characters of JSON.`)
    }
  }

  spendLevels(levels: number): void {
    if (levels > MOST_EMBED_LEVELS)
      throw tooMuch(`It stands inside more than ${MOST_EMBED_LEVELS} arrays and objects.`)
  }

  spendVisits(values: number): void {
    this.#visited += values
    if (this.#visited > MOST_VISITED) throw tooManyVisited(MOST_VISITED)
  }

  #oneTooMany(): EmbedRefusal {
    return new EmbedRefusal(
      'embed_limit_exceeded',
      `It is one more than the ${this.#maxEmbeds} that max_embeds allows; embeds inside embeds count too.`,
    )
  }
}

export function tooManyVisited(most: number): EmbedRefusal {
  return tooMuch(`JSONPath queries have to look at more than ${most} values.`)
}

function tooMuch(why: string): EmbedRefusal {
  return new EmbedRefusal('embed_too_large', `${why} Embed less, or select smaller parts.`, 'request')
}
