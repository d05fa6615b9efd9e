import { Refusal, type RefusalCode, type RefusalData } from '../errors.ts'

/** The codes of embeds that cannot be resolved (interface 10.12). */
export type EmbedRefusalCode = Extract<RefusalCode, `embed_${string}`>

/**
 * How far a failure goes. `embed`: the error policy may put something in the embed's place. `run`: the data that the embed
 * stands in cannot be resolved; where that was being resolved for an embed of forms B or C, this one fails. `request`:
 * nothing can be answered, whatever the policy (interface 10.12).
 */
export type Reach = 'embed' | 'run' | 'request'

/** An embed that cannot be resolved: what, where and why. */
export class EmbedRefusal extends Refusal {
  declare readonly code: EmbedRefusalCode
  readonly reach: Reach

  constructor(code: EmbedRefusalCode, message: string, reach: Reach = 'embed', data: RefusalData = {}) {
    super(code, message, data)
    this.reach = reach
  }

  /** The same as the failure of one embed: that for which a run was made that failed. */
  asFailedEmbed(): EmbedRefusal {
    return new EmbedRefusal(this.code, this.message, 'embed', this.data)
  }
}

/** What stands in the place of an embed that failed, under the policy `placeholder`. */
export function placeholderOf({ code }: EmbedRefusal): string {
  return `<error:${NAMES[code]}>`
}

/** The names that clients know the failures by (interface 10.12). */
const NAMES: Readonly<Record<EmbedRefusalCode, string>> = {
  embed_not_found: 'EmbedNotFoundError',
  embed_path_not_found: 'PathExtractionError',
  embed_cycle: 'CircularEmbedError',
  embed_limit_exceeded: 'MaxEmbedsExceededError',
  embed_depth_exceeded: 'MaxDepthExceededError',
  embed_too_large: 'MaxEmbedsExceededError',
  embed_mixed_entities: 'MixedEntityTypesError',
  embed_unsupported_entity: 'UnsupportedReferenceTypeError',
  embed_incomplete: 'RetrieveRefsInsufficient',
  embed_contradictory: 'RetrieveRefsInconsistent',
  embed_invalid: 'ValueError',
}
