import { JsonTextError } from '../../json/json-text-error.ts'
import {
  type Json,
  type JsonObject,
  fromEntries,
  entriesOf,
  getKey,
  isJsonObject,
  numberOf,
} from '../../json/json.ts'
import { parseJson } from '../../json/parse-json.ts'
import { promptVariables, unwrapInputs } from '../../prompts/prompt-variables.ts'
import { RenderBudget } from '../../prompts/render-budget.ts'
import { renderJson } from '../../prompts/render-json.ts'
import { renderMessages } from '../../prompts/render-messages.ts'
import { HandlerFailure, invalidOutputs } from '../handler-failure.ts'
import type { Handler, HandlerContext, HandlerRequest } from '../handler.ts'
import { judgeFailureOf } from './judge-failure.ts'
import { type JudgeParameters, readJudgeParameters } from './judge-parameters.ts'

/**
 * `svc:builtin:auto_ai_critique:v0` (contract/handlers 2.8): a model grades outputs by a prompt. Its reply is read as JSON: a number or
 * a boolean is the score, an object is the outputs as it is. Throws a `HandlerFailure`.
 */
export const autoAiCritique: Handler = async (request, context) => {
  const parameters = readJudgeParameters(request.parameters)
  const rendered = render(parameters, variablesOf(request, parameters.correctAnswerKey))
  const reply = await ask(parameters, rendered, context)
  return outputsOf(reply, parameters.threshold)
}

interface Rendered {
  readonly messages: readonly JsonObject[]
  readonly jsonSchema: Json | undefined
}

function render({ templateFormat, messages, jsonSchema }: JudgeParameters, variables: JsonObject): Rendered {
  const budget = new RenderBudget()
  try {
    return {
      messages: renderMessages(templateFormat, messages, variables, budget),
      jsonSchema: jsonSchema && renderJson(templateFormat, jsonSchema, 'json_schema', variables, budget),
    }
  } catch (error) {
    throw judgeFailureOf(error)
  }
}

/** What the prompt may name (contract/handlers 2.8); of two with one name the later counts. */
function variablesOf(request: HandlerRequest, correctAnswerKey: string | undefined): JsonObject {
  const inputs = unwrapInputs(request.inputs ?? {})
  const answer = correctAnswerKey === undefined ? undefined : getKey(inputs, correctAnswerKey)
  return fromEntries([
    ['parameters', request.parameters],
    ...named(['ground_truth', 'correct_answer', 'reference'], answer),
    // null unless they were sent, or the inputs have some
    ...named(['prediction', 'outputs', 'trace'], null),
    ...entriesOf(promptVariables(inputs)),
    ...named(['prediction', 'outputs'], request.outputs),
    ...named(['trace'], request.trace),
  ])
}

function named(names: readonly string[], value: Json | undefined): [string, Json][] {
  return value === undefined ? [] : names.map((name) => [name, value])
}

/** The reply's text; its refusal, or nothing, where it has none. */
async function ask(
  { model, connection, responseType }: JudgeParameters,
  { messages, jsonSchema }: Rendered,
  { models, span, signal }: HandlerContext,
): Promise<Json | undefined> {
  const responseFormat: JsonObject =
    jsonSchema === undefined ? { type: responseType } : { type: responseType, json_schema: jsonSchema }
  try {
    const { message } = await models.chat({ model, connection, messages, responseFormat, signal }, span)
    return getKey(message, 'content') ?? getKey(message, 'refusal')
  } catch (error) {
    throw judgeFailureOf(error)
  }
}

function outputsOf(reply: Json | undefined, threshold: number): Json {
  const value = typeof reply === 'string' ? parsed(reply.trim()) : reply
  if (value !== undefined && isJsonObject(value)) return value
  const score = typeof value === 'boolean' ? Number(value) : numberOf(value)
  if (value === undefined || score === undefined) throw nonsense(reply)
  return { score: value, success: score >= threshold }
}

/** A reply that is no verdict blames the model, not the request (ruling 1.5). */
function nonsense(reply: Json | undefined): HandlerFailure {
  const { id, message } = invalidOutputs('dict | float | bool', reply)
  const hint =
    'The model has to reply with a number, a boolean or an object in JSON; ask for that in prompt_template.'
  return new HandlerFailure(id, `${message}\n${hint}`, undefined, 424)
}

/** Undefined for what is no JSON. */
function parsed(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonTextError) return undefined
    throw error
  }
}
