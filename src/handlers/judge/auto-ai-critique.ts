import { type Json, type JsonObject, entriesOf, fromEntries, getKey } from '../../json/json.ts'
import type { ChatReply } from '../../models/models.ts'
import { promptVariables, unwrapInputs } from '../../prompts/prompt-variables.ts'
import { renderJson } from '../../prompts/render-json.ts'
import { renderMessages } from '../../prompts/render-messages.ts'
import { RenderBudget } from '../../prompts/templates/render-budget.ts'
import { chosenSchema } from '../chosen-schema.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { HandlerFailure, invalidOutputs } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { jsonIn } from '../scoring/document-in.ts'
import { judgedOutputs } from '../scoring/judged-outputs.ts'
import { type JudgeParameters, readJudgeParameters } from './judge-parameters.ts'
import { judgePresets } from './judge-presets.ts'
import { judgeSchemas } from './judge-schemas.ts'

/**
 * `svc:builtin:auto_ai_critique:v0` (interface 11.17): a model grades outputs by a prompt. Its reply is read as JSON: a number or
 * a boolean is the score, an object is the outputs as it is. Throws a `HandlerFailure`.
 */
export const autoAiCritique: HandlerDefinition = {
  key: 'auto_ai_critique',
  kind: 'builtin',
  schemas: judgeSchemas,
  computedOutputs: (parameters) => chosenSchema(parameters, 'json_schema', 'schema'),
  template: {
    name: 'LLM-as-a-judge',
    description: 'Has a language model judge the output, in the form that you ask for.',
    roles: 'evaluator',
    categories: ['ai_llm'],
    callsModels: true,
  },
  presets: judgePresets,
  run,
}

async function run(request: HandlerRequest, { models, span, signal }: HandlerContext): Promise<Json> {
  try {
    const parameters = readJudgeParameters(request.parameters)
    const { model, connection, threshold } = parameters
    const rendered = render(parameters, variablesOf(request, parameters.correctAnswerKey))
    return outputsOf(await models.chat({ model, connection, ...rendered, signal }, span), threshold)
  } catch (error) {
    // a judge's message begins with where it is (interface 11.17)
    throw failureOfPrompt(error, '')
  }
}

/** What the prompt may name (interface 11.17); of two with one name the later counts. */
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

function render(
  { templateFormat, messages, responseType, jsonSchema }: JudgeParameters,
  variables: JsonObject,
): { readonly messages: readonly JsonObject[]; readonly responseFormat: JsonObject } {
  const budget = new RenderBudget()
  const rendered = renderMessages(templateFormat, messages, variables, budget)
  if (!jsonSchema) return { messages: rendered, responseFormat: { type: responseType } }
  const schema = renderJson(templateFormat, jsonSchema, 'json_schema', variables, budget)
  return { messages: rendered, responseFormat: { type: responseType, json_schema: schema } }
}

/** Of the reply's text; of its refusal, or nothing, where it has none. */
function outputsOf({ message }: ChatReply, threshold: number): Json {
  const reply = getKey(message, 'content') ?? getKey(message, 'refusal')
  const answer = typeof reply === 'string' ? jsonIn(reply.trim()) : reply
  const outputs = judgedOutputs(answer, threshold)
  if (outputs === undefined) throw nonsense(reply)
  return outputs
}

/** A reply that is no verdict blames the model, not the request (interface 3.9). */
function nonsense(reply: Json | undefined): HandlerFailure {
  const { id, message } = invalidOutputs('dict | float | bool', reply)
  const hint =
    'The model has to reply with a number, a boolean or an object in JSON; ask for that in prompt_template.'
  return new HandlerFailure(id, `${message}\n${hint}`, undefined, 424)
}
