import { Refusal, type RefusalCode, type RefusalData } from '../../errors.ts'

/** The recipient of a refusal. */
export interface Audience {
  /** The surface's word for a family's artifacts: "application" for "workflow". */
  word(family: string): string
  /** Whether it may see names that the request did not contain. */
  readonly mayRead: boolean
}

/** Help for a refused request: a further sentence, and details for programs. */
export interface Help {
  readonly sentence: string
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * The source of a refusal. `help` is computed only for an actual answer, because searching names takes time.
 */
export interface RefusalSource {
  readonly family: string
  readonly sentenceOf: (word: string) => string
  readonly data?: RefusalData | undefined
  readonly help?: (() => Promise<Help | undefined>) | undefined
}

/** A refusal in the client's words, with suggestions if its key may read them (interface 3.13). */
export class HelpfulRefusal extends Refusal {
  readonly #told: RefusalSource

  constructor(code: RefusalCode, told: RefusalSource) {
    super(code, told.sentenceOf(told.family), told.data)
    this.#told = told
  }

  /** A copy of this refusal with another code, an added sentence or added data. */
  again(change: {
    readonly code?: RefusalCode
    readonly more?: string
    readonly data?: RefusalData
  }): HelpfulRefusal {
    const { sentenceOf, data } = this.#told
    const { code = this.code, more } = change
    return new HelpfulRefusal(code, {
      ...this.#told,
      sentenceOf: (word) => (more === undefined ? sentenceOf(word) : `${sentenceOf(word)} ${more}`),
      data: { ...data, ...change.data },
    })
  }

  /** The refusal for this audience. */
  async toldTo({ word, mayRead }: Audience): Promise<Refusal> {
    const { family, sentenceOf, data = {}, help: findHelp } = this.#told
    const help = mayRead ? await findHelp?.() : undefined
    const sentence = sentenceOf(word(family))
    if (!help) return new Refusal(this.code, sentence, data)
    const { details } = help
    return new Refusal(this.code, `${sentence} ${help.sentence}`.trimEnd(), {
      ...data,
      ...(details ? { details: { ...data.details, ...details } } : {}),
    })
  }
}
