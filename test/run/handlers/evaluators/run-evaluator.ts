import { builtInHandlers } from '../../../../src/run/handlers/built-in-handlers.ts'
import { type FailureId, HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import {
  ReasonedVerdict,
  StreamedOutputs,
  type HandlerContext,
  type HandlerRequest,
} from '../../../../src/run/handlers/handler.ts'
import { isJsonObject, type Json, type JsonObject, withKey } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { ModelFailure, type EmbeddingCall } from '../../../../src/run/models/models.ts'
import { handlerContext, handlerRequest } from '../handler-context.ts'

/** What an evaluator is given; a member that is left out is absent. */
export type Given = Partial<Pick<HandlerRequest, 'parameters' | 'inputs' | 'outputs' | 'trace'>>

export type Embed = (call: EmbeddingCall) => Promise<readonly (readonly number[])[]>

/** What the evaluator `key` answers. Texts of embeddings are made vectors by `embed`; there is no model unless one is given. */
export async function runEvaluator(key: string, given: Given, embed: Embed = noModel): Promise<Json> {
  const handler = builtInHandlers.get(key)
  if (!handler) throw new Error(`there is no evaluator ${key}`)
  const result = await handler(handlerRequest(given), contextOf(embed))
  if (result instanceof ReasonedVerdict) return withKey(result.outputs, 'reason', result.reason)
  if (result instanceof StreamedOutputs) throw new Error('an evaluator does not stream')
  return result
}

/** The id and message that it fails with. */
export async function failureOf(
  key: string,
  given: Given,
  embed?: Embed,
): Promise<{ readonly id: FailureId; readonly message: string }> {
  try {
    await runEvaluator(key, given, embed)
  } catch (error) {
    if (error instanceof HandlerFailure) return { id: error.id, message: error.message }
    throw error
  }
  throw new Error(`${key} did not fail`)
}

/** A value as the text of a request brings it, with numbers such as `1.0`. */
export function exact(text: string): Json {
  return parseJson(text)
}

/** The same, an object. */
export function exactObject(text: string): JsonObject {
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new Error(`${text} is no object`)
  return value
}

/** A provider outside this process, as far as evaluators see one. */
function contextOf(embed: Embed): HandlerContext {
  const unasked = (): never => {
    throw new Error('evaluators do not ask for this')
  }
  return handlerContext({}, { models: { chat: unasked, streamChat: unasked, embed, problemOf: unasked } })
}

const noModel: Embed = ({ model }) =>
  Promise.reject(new ModelFailure('credential', `No API key found for model '${model}'.`))
