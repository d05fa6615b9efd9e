import { embedLookup, type EmbedLookup } from './embed-lookup.ts'
import { EmbedRefusal } from '../embed-refusal.ts'
import type { EmbedTarget, EmbedTargets } from './embed-targets.ts'
import type { EmbedToken } from '../syntax/embed-token.ts'
import { pinToFollow } from '../pinned-references.ts'
import type { Ancestor, ResolutionContext } from '../resolution-context.ts'

/** Finds the targets of one request, each reference once. */
export class TargetFinder {
  readonly #targets: EmbedTargets
  readonly #found = new Map<string, Promise<EmbedTarget>>()

  constructor(targets: EmbedTargets) {
    this.#targets = targets
  }

  /**
   * The revision that an embed points at, through an environment's pin if it names one. Throws `embed_cycle`
   * if that revision's data contains the embed, directly or not.
   */
  async targetOf(
    { form, references, selector }: Pick<EmbedToken, 'form' | 'references' | 'selector'>,
    { chain }: Pick<ResolutionContext, 'chain'>,
  ): Promise<EmbedTarget> {
    const lookup = embedLookup(references)
    let target = await this.#find(lookup)
    const pinned = pinToFollow(form, selector.key, lookup, target.pins)
    if (pinned) target = await this.#find(embedLookup(pinned))
    const again = chain.findIndex(({ id }) => id === target.id)
    if (again >= 0) throw cycle([...chain.slice(again), target])
    return target
  }

  #find(lookup: EmbedLookup): Promise<EmbedTarget> {
    const key = JSON.stringify([lookup.family, ...Object.entries(lookup.references)])
    let found = this.#found.get(key)
    if (!found) this.#found.set(key, (found = this.#targets.find(lookup)))
    return found
  }
}

function cycle(chain: readonly Ancestor[]): EmbedRefusal {
  const revisions = chain.map(({ id, slug }) => ({ id, slug }))
  const names = revisions.map(({ slug }) => slug).join(' -> ')
  return new EmbedRefusal(
    'embed_cycle',
    `It closes a circle: ${names}. Take one of these embeds out.`,
    'embed',
    {
      details: { cycle: revisions },
    },
  )
}
