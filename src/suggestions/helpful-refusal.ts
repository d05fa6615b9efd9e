import { Refusal, type RefusalCode, type RefusalData } from '../errors.ts'

/** Who is told of a refusal. */
export interface Audience {
  /** How the surface that was asked calls the things of a family: "application" for "workflow". */
  word(family: string): string
  /** Whether the names of things that the request did not name may be told. */
  readonly mayRead: boolean
}

/** What helps who was refused: a sentence more, and what it says for programs. */
export interface Help {
  readonly sentence: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** What makes a refusal. `help` is worked out only where the refusal becomes an answer: looking for names may take a while. */
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

  /** The same under another code, or with a sentence and data more. */
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

  /** As it is told to this audience. */
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
