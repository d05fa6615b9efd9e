import { EmbedRefusal } from './embed-refusal.ts'

/** How many embeds may be resolved for one request, and how deep (interface 10.10). */
export interface EmbedLimits {
  /** Embeds inside embeds stay below it: 10 allows chains of 9. */
  readonly maxDepth: number
  /** The number of embeds may equal it, embeds inside embeds included. */
  readonly maxEmbeds: number
}

/** Past these no request goes, whatever limits it names. */
export const MOST_EMBEDS = 10_000
export const MOST_DEPTH = 100
/** UTF-16 units of JSON text that embeds bring in, all together. */
export const MOST_INSERTED = 16 * 1024 * 1024
/** Embeds that may fail under a policy that lets them. */
export const MOST_FAILURES = 1000
/** Levels of arrays and objects around an embed. */
export const MOST_EMBED_LEVELS = 256
/** Values that JSONPath queries look at, all together. */
export const MOST_VISITED = 250_000

/**
 * What one request may still do: one budget, however its embeds are nested, so that the work is bounded whatever they point
 * at (interface 10.10). Nothing that was spent comes back.
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

  /** Whether there is room for one more embed, at a depth that counts from 1. */
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

  /** One more embed is resolved, after those inside it. */
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
