import { getKey, isJsonArray, isJsonObject, type JsonObject } from '../../json/json.ts'
import { textAt } from '../calls/members.ts'
import type { CallOptions, LanguageModel } from '../language-model.ts'
import { ModelFailure } from '../models.ts'

/** What the provider `mock` has. */
const EXAMPLES = 'examples'

/** Why there is no such model of the provider `mock`, in a sentence. */
export function mockProblem(id: string): string | undefined {
  return id === EXAMPLES ? undefined : `The provider 'mock' has no model '${id}': it has mock/${EXAMPLES}.`
}

/**
 * `mock/examples`: a model without a key and without a network, for a first try and for tests. It looks for the last message of the user
 * among the user's messages before, white space at the ends aside, and answers with the assistant's message behind the newest equal one;
 * where there is none it says the last message again. Equal conversations have equal answers. Throws a `ModelFailure` for any other name,
 * and for a conversation without a user.
 */
export function mockModel(id: string, messages: readonly JsonObject[]): LanguageModel {
  const problem = mockProblem(id)
  if (problem !== undefined) throw new ModelFailure('request', problem)
  const text = answerTo(messages)
  const usage = usageOf(messages, text)
  const finishReason = { unified: 'stop', raw: 'stop' } as const
  return {
    specificationVersion: 'v3',
    provider: 'mock',
    modelId: id,
    supportedUrls: {},
    doGenerate: async ({ abortSignal }) => {
      abortSignal?.throwIfAborted()
      return { content: [{ type: 'text', text }], usage, finishReason, warnings: [] }
    },
    doStream: async (options) => ({
      stream: streamOf(parts(text, { type: 'finish', usage, finishReason }), options),
    }),
  }
}

type Part =
  Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Each> ? Each : never

/** The answer word by word, each with the white space before it. */
function* parts(text: string, finish: Part): Generator<Part> {
  for (const [delta] of text.matchAll(/\s*\S+|\s+/g)) yield { type: 'text-delta', id: 'text', delta }
  yield finish
}

function streamOf(from: Iterator<Part>, { abortSignal }: CallOptions): ReadableStream<Part> {
  return new ReadableStream<Part>(
    {
      pull: (controller) => {
        abortSignal?.throwIfAborted()
        const { done, value } = from.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    // A word is made when it is asked for.
    { highWaterMark: 0 },
  )
}

function answerTo(messages: readonly JsonObject[]): string {
  const last = messages.findLastIndex(isBy('user'))
  const asked = messages[last]
  if (!asked)
    throw new ModelFailure(
      'request',
      `mock/${EXAMPLES} answers the last message of a user, and this conversation has none. Add a message with the role user.`,
    )
  const question = textsOf(asked)
  const example = messages.findLastIndex((message, at) => {
    const next = messages[at + 1]
    const isAnswered = at < last && next !== undefined && isBy('assistant')(next)
    return isAnswered && isBy('user')(message) && textsOf(message).trim() === question.trim()
  })
  return textsOf((example < 0 ? asked : messages[example + 1]) ?? asked)
}

function isBy(role: string): (message: JsonObject) => boolean {
  return (message) => textAt(message, 'role') === role
}

/** The texts of a message, whether it has one or parts. */
function textsOf(message: JsonObject): string {
  const content = getKey(message, 'content')
  if (typeof content === 'string') return content
  const parts = isJsonArray(content) ? content : []
  return parts.map((part) => (isJsonObject(part) ? (textAt(part, 'text') ?? '') : '')).join('')
}

/** Words in place of tokens. */
function usageOf(
  messages: readonly JsonObject[],
  text: string,
): Awaited<ReturnType<LanguageModel['doGenerate']>>['usage'] {
  const input = messages.reduce((sum, message) => sum + wordsIn(textsOf(message)), 0)
  const output = wordsIn(text)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  }
}

function wordsIn(text: string): number {
  let words = 0
  for (const _ of text.matchAll(/\S+/g)) words++
  return words
}
