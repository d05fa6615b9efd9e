import type { LanguageModel } from '../language-model.ts'
import type { AnswerFacts } from '../model-span.ts'
import { ModelFailure } from '../models.ts'
import { modelRefusalOf } from './refusal-of.ts'
import type { SdkAnswer } from './reply-of.ts'

type StreamResult = Awaited<ReturnType<LanguageModel['doStream']>>
type Part = StreamResult['stream'] extends ReadableStream<infer Each> ? Each : never
type ToolCall = Extract<Part, { type: 'tool-call' }>
type Finish = Extract<Part, { type: 'finish' }>

/** Puts an answer together of the pieces it comes in. */
export class StreamGatherer {
  /** Which answer it is, once that is known. */
  facts: AnswerFacts = {}
  readonly #texts: string[] = []
  readonly #calls: ToolCall[] = []
  #refusal = ''
  #finish: Finish | undefined

  /** Takes the next part and answers the text it adds. Throws what the provider says went wrong. */
  take(part: Part): string {
    if (part.type === 'error') throw part.error
    if (part.type === 'response-metadata') this.facts = { id: part.id, model: part.modelId }
    if (part.type === 'raw') this.#refusal += modelRefusalOf(part.rawValue)
    if (part.type === 'tool-call') this.#calls.push(part)
    if (part.type === 'finish') this.#finish = part
    if (part.type !== 'text-delta') return ''
    this.#texts.push(part.delta)
    return part.delta
  }

  /** Whether nothing of an answer has come yet. */
  get isEmpty(): boolean {
    return this.#texts.length === 0 && this.#calls.length === 0 && this.#refusal === '' && !this.#finish
  }

  /** The whole answer, once there are no more parts. */
  answer(): SdkAnswer {
    if (!this.#finish)
      throw new ModelFailure('answer', 'The answer of the model ended before it was complete.')
    return this.soFar()
  }

  /** As much of the answer as has come. */
  soFar(): SdkAnswer {
    return {
      content: [{ type: 'text', text: this.#texts.join('') }, ...this.#calls],
      usage: this.#finish?.usage ?? UNKNOWN_USAGE,
      finishReason: this.#finish?.finishReason ?? { unified: 'other', raw: undefined },
      refusal: this.#refusal,
    }
  }
}

const UNKNOWN_USAGE: Finish['usage'] = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}
