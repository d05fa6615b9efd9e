import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonObject,
  type JsonObject,
  keysOf,
  type PlainObject,
  withKey,
} from '../../../base/json.ts'
import {
  Fields,
  type LlmConfig,
  MOST_MODELS,
  readLlmConfig,
  readMessages,
} from '../../templates/prompt-object.ts'
import { renderMessages } from '../../templates/render-prompt.ts'
import { RenderBudget } from '../../templates/render-budget.ts'
import { TEMPLATE_FORMATS } from '../../templates/template-format.ts'
import { chosenSchema } from '../chosen-schema.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { HandlerFailure, invalidParameter } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest, HandlerResult } from '../handler.ts'
import { type ChatReply, ModelFailure } from '../../models/models.ts'
import { type BuiltInSchemas, closedObject, openObject } from '../../../registry/workflows.ts'
import { messageList } from './prompt-schemas.ts'

const anyObject: PlainObject = { type: 'object', additionalProperties: true }

/** The schemas of the llm handler. */
const llmSchemas: BuiltInSchemas = {
  parameters: llmParameters(),
  inputs: llmInputs(),
  outputs: llmOutputs(),
}

function llmParameters(): PlainObject {
  return closedObject({
    llms: {
      type: 'array',
      minItems: 1,
      'x-svc-type-ref': 'llms',
      title: 'Models',
      description: 'Models, tried in this order.',
    },
    loop: {
      type: ['object', 'null'],
      'x-svc-type-ref': 'loop',
      title: 'Loop',
      description: 'Limits of a tool loop; without it the model is called once.',
    },
    files: {
      type: 'array',
      items: anyObject,
      title: 'Files',
      description: 'What the internal file tools may read.',
    },
    tools: {
      type: 'object',
      'x-svc-type-ref': 'tools',
      title: 'Tools',
      description: 'The tools under external are offered to the model; the caller runs them.',
    },
    messages: {
      ...messageList,
      default: [],
      title: 'Messages',
      description: 'Sent before the messages of the request.',
    },
    context: {
      type: 'object',
      'x-svc-type-ref': 'context',
      title: 'Context',
      description: 'Answered as it is, together with the context of the request.',
    },
    permissions: {
      type: 'object',
      'x-svc-type-ref': 'permissions',
      title: 'Permissions',
      description: 'Kept for the caller: a single call of a model needs none.',
    },
    response: {
      type: 'object',
      'x-svc-type-ref': 'response',
      title: 'Response',
      description: 'With format json, its schema says what the outputs are.',
    },
  })
}

function llmInputs(): PlainObject {
  return openObject({
    messages: messageList,
    message: { type: 'object', 'x-svc-type-ref': 'message' },
    content: { type: 'string' },
    context: { type: 'object', 'x-svc-type-ref': 'context' },
    permissions: { type: 'object', 'x-svc-type-ref': 'permissions' },
  })
}

function llmOutputs(): PlainObject {
  const status = {
    type: 'object',
    properties: { code: { type: 'integer' }, type: { type: 'string' }, message: { type: 'string' } },
    required: ['code', 'type', 'message'],
    additionalProperties: false,
  }
  const nullableObject = { type: ['object', 'null'] }
  return closedObject(
    {
      status,
      messages: messageList,
      context: nullableObject,
      consent: nullableObject,
      usage: nullableObject,
    },
    ['status', 'messages', 'context', 'consent', 'usage'],
  )
}

/**
 * Calls models in order until one answers (interface 11.18). Moves on when a model refuses or lacks the key,
 * has no capacity, is unavailable or unknown; throws any other `ModelFailure`. If all fail, the failure
 * contains each one's message.
 */
async function askInTurn(
  configs: readonly LlmConfig[],
  messages: readonly JsonObject[],
  { models, span, untilGone }: HandlerContext,
): Promise<ChatReply> {
  const failures: string[] = []
  for (const config of configs) {
    try {
      return await models.chat({ ...config, messages, signal: untilGone() }, span)
    } catch (error) {
      if (!(error instanceof ModelFailure) || !isUnavailable(error)) throw error
      failures.push(error.message)
    }
  }
  throw new HandlerFailure(
    'v0:workflows:llm-unavailable',
    ['No model of llms could be called:', ...failures].join('\n'),
  )
}

function isUnavailable({ kind, upstreamStatus }: ModelFailure): boolean {
  return upstreamStatus === 404 || UNAVAILABLE.includes(kind)
}

const UNAVAILABLE: readonly string[] = ['access', 'credential', 'capacity', 'availability']

/**
 * One call of the first model in a list that answers (`svc:builtin:llm:v0`, interface 11.18). Answers the
 * whole conversation with its final status. Requests for a tool loop or internal tools are refused.
 */
export const llm: HandlerDefinition = {
  key: 'llm',
  kind: 'builtin',
  schemas: llmSchemas,
  computedWhere: { path: ['response', 'format'], is: 'json' },
  computedOutputs: (parameters) => chosenSchema(parameters, 'response', 'schema'),
  template: {
    name: 'Builtin LLM',
    description: 'Sends messages to the first of several language models that answers.',
    roles: 'both',
    categories: [],
    callsModels: true,
  },
  run,
}

async function run(request: HandlerRequest, context: HandlerContext): Promise<HandlerResult> {
  if (getKey(request.flags, 'force') === true)
    throw new HandlerFailure(
      'v0:workflows:force-not-supported',
      'The llm handler does not support the flag force.',
    )
  try {
    const parameters = new Fields(request.parameters, '')
    refuseLoop(parameters)
    const inputs = new Fields(request.inputs ?? {}, 'inputs')
    const llms = readLlms(parameters)
    const messages = conversationOf(parameters, inputs)
    const reply = await askInTurn(llms, messages, context)
    const all = [...messages, reply.message]
    const { prompt, completion, total } = reply.usage.tokens
    return {
      status: { code: 200, type: 'success', message: 'completed' },
      messages: getKey(request.flags, 'trim') === true ? [reply.message] : all,
      context: mergedMembers(parameters.object('context'), inputs.object('context')),
      consent: mergedConsent(parameters.object('consent'), inputs.object('consent')),
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total },
    }
  } catch (error) {
    throw failureOfPrompt(error)
  }
}

function refuseLoop(parameters: Fields): void {
  const internal = new Fields(parameters.object('tools') ?? {}, 'tools').list('internal') ?? []
  const asked = parameters.object('loop') ? 'loop' : internal.length > 0 ? 'tools.internal' : undefined
  if (asked === undefined) return
  const sentence = `The llm handler makes a single call and does not implement '${asked}'. Leave it out, and run tools named in tools.external yourself.`
  throw new HandlerFailure('v0:workflows:not-implemented', sentence)
}

/** The messages of the parameters, then those of the inputs, rendered if there are variables. */
function conversationOf(parameters: Fields, inputs: Fields): readonly JsonObject[] {
  const format = parameters.choice('template_format', TEMPLATE_FORMATS) ?? 'curly'
  const written = readMessages(parameters.list('messages') ?? [], 'messages')
  const said = readMessages(inputs.list('messages') ?? [], 'inputs.messages')
  const variables = inputs.object('variables') ?? {}
  if (keysOf(variables).length === 0) return [...written, ...said]
  const budget = new RenderBudget()
  return [
    ...renderMessages(format, written, variables, budget),
    ...renderMessages(format, said, variables, budget, 'inputs.messages'),
  ]
}

/** The members of both objects; the second's take precedence. */
export function mergedMembers(first: JsonObject = {}, second: JsonObject = {}): JsonObject {
  return fromEntries([...entriesOf(first), ...entriesOf(second)])
}

/** The same for consent, whose `decisions` are also merged (interface 11.18). */
export function mergedConsent(first: JsonObject = {}, second: JsonObject = {}): JsonObject {
  const [before, after] = [getKey(first, 'decisions'), getKey(second, 'decisions')]
  const merged = mergedMembers(first, second)
  if (!isJsonObject(before) || !isJsonObject(after)) return merged
  return withKey(merged, 'decisions', mergedMembers(before, after))
}

/**
 * The models in the parameters, in order, each with the external tools; entries without a model are skipped.
 * Throws a `PromptProblem`, or a `HandlerFailure` if none is left.
 */
export function readLlms(parameters: Fields): readonly [LlmConfig, ...LlmConfig[]] {
  const tools = new Fields(parameters.object('tools') ?? {}, 'tools').list('external') ?? []
  const [first, ...others] = (parameters.list('llms', MOST_MODELS) ?? []).flatMap(
    (entry, index): LlmConfig[] => {
      const path = `llms[${index}]`
      if (isJsonObject(entry) && (getKey(entry, 'model') ?? '') === '') return []
      return [readLlmConfig(isJsonObject(entry) ? withKey(entry, 'tools', tools) : entry, path)]
    },
  )
  if (first) return [first, ...others]
  throw invalidParameter('llms', 'list[llm]', parameters.json('llms'))
}
