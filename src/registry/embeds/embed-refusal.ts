import { Refusal, type RefusalCode, type RefusalData } from '../../errors.ts'

/** The codes of embeds that cannot be resolved (interface 10.12). */
export type EmbedRefusalCode = Extract<RefusalCode, `embed_${string}`>

/**
 * How far a failure reaches. `embed`: the error policy may replace the embed. `run`: the data around the
 * embed cannot be resolved; if an embed of form B or C caused that run, it fails. `request`: the request
 * fails under any policy (interface 10.12).
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

  /** The same as a failure of the one embed that caused the failed run. */
  asFailedEmbed(): EmbedRefusal {
    return new EmbedRefusal(this.code, this.message, 'embed', this.data)
  }
}

/** The replacement for a failed embed under the policy `placeholder`. */
export function placeholderOf({ code }: EmbedRefusal): string {
  return `<error:${NAMES[code]}>`
}

/** The failures' names for clients (interface 10.12). */
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
