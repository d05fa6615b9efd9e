import { setTimeout as pause } from 'node:timers/promises'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { invalidInputs, missingParameter } from '../handler-failure.ts'
import { type HandlerContext, type HandlerRequest, type HandlerResult, StreamedOutputs } from '../handler.ts'
import {
  canonicalJson,
  entriesOf,
  fromEntries,
  getKey,
  hasKey,
  type Json,
  type JsonObject,
  keysOf,
  withoutKey,
} from '../../../base/json.ts'
import type { ChatCall, ChatReply } from '../../models/models.ts'
import { callByPolicies } from '../../models/call-policies.ts'
import { type LlmConfig, type Prompt, readPrompt } from '../../templates/prompt-object.ts'
import { promptVariables, renderJson, renderMessages, unwrapInputs } from '../../templates/render-prompt.ts'
import { RenderBudget } from '../../templates/render-budget.ts'

/** A prompt that is ready to be sent. */
export interface PreparedPrompt extends Pick<Prompt, 'fallbackPolicy' | 'retries'> {
  readonly messages: readonly JsonObject[]
  /** The models to call, in this order, as far as the policy allows. */
  readonly configs: readonly [LlmConfig, ...LlmConfig[]]
  /** The unwrapped inputs; undefined when there are none. */
  readonly inputs: JsonObject | undefined
}

/**
 * Reads and renders the prompt of a request (interface 11.18). The inputs `reserved` are not variables of it. Without inputs it is not
 * rendered, unless it lists the inputs that it needs. Throws a `HandlerFailure`, a `PromptProblem` or a `TemplateFailure`.
 */
export function preparedPrompt(request: HandlerRequest, reserved: readonly string[] = []): PreparedPrompt {
  const written = getKey(request.parameters, 'prompt') ?? undefined
  if (written === undefined) throw missingParameter('prompt')
  const prompt = readPrompt(written)
  const inputs = request.inputs && unwrapInputs(request.inputs)
  requireKeys(prompt.inputKeys ?? [], inputs, reserved)
  const { fallbackPolicy, retries } = prompt
  const rest = { inputs, fallbackPolicy, retries }
  if (!inputs)
    return { ...rest, messages: prompt.messages, configs: [prompt.llmConfig, ...prompt.fallbackConfigs] }
  const variables = promptVariables(reserved.reduce<JsonObject>(withoutKey, inputs))
  const budget = new RenderBudget()
  const rendered = (config: LlmConfig, place: string): LlmConfig => ({
    ...config,
    responseFormat: renderFormat(prompt, config, place, variables, budget),
  })
  return {
    ...rest,
    messages: renderMessages(prompt.templateFormat, prompt.messages, variables, budget),
    configs: [
      rendered(prompt.llmConfig, 'llm_config'),
      ...prompt.fallbackConfigs.map((config, index) => rendered(config, `fallback_configs[${index}]`)),
    ],
  }
}

function requireKeys(
  required: readonly string[],
  inputs: JsonObject | undefined,
  reserved: readonly string[],
): void {
  const provided = inputs ?? {}
  if (required.every((key) => reserved.includes(key) || hasKey(provided, key))) return
  const needed = required.filter((key) => !reserved.includes(key))
  throw invalidInputs(canonicalJson([...needed].sort()), keysOf(provided).sort())
}

function renderFormat(
  { templateFormat }: Prompt,
  { responseFormat }: LlmConfig,
  place: string,
  variables: JsonObject,
  budget: RenderBudget,
): JsonObject | undefined {
  if (!responseFormat) return undefined
  const rendered: Json = renderJson(
    templateFormat,
    responseFormat,
    `${place}.response_format`,
    variables,
    budget,
  )
  // An object renders to an object.
  return rendered as JsonObject
}

/**
 * Sends a prompt's messages and answers the outputs that `outputsOf` makes of the reply: whole, or in pieces if the caller wants a stream.
 */
export async function answerPrompt(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  request: HandlerRequest,
  context: HandlerContext,
  outputsOf: (reply: ChatReply) => Json,
): Promise<HandlerResult> {
  if (request.wantsStream) return streamPrompt(prompt, messages, context, outputsOf)
  return outputsOf(
    await callPrompt(prompt, messages, context, (call) => context.models.chat(call, context.span)),
  )
}

/**
 * Sends a prompt's messages and streams the reply (interface 12.5): `message_start`, a `message_delta` for each piece of text,
 * `message_end`, `usage`, `done`. Resolves at the first text or the whole reply. Until then, the prompt's policies apply, and a failure has
 * its own status; a later failure is thrown between pieces.
 */
async function streamPrompt(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  { models, span, untilGone }: HandlerContext,
  outputsOf: (reply: ChatReply) => Json,
): Promise<StreamedOutputs> {
  const begun = await callPrompt(prompt, messages, { untilGone }, async (call) => {
    const stream = models.streamChat(call, span)
    return { stream, first: await stream.next() }
  })
  let reply = NOTHING_YET
  const pieces = piecesOf(begun, (complete) => (reply = complete))
  return new StreamedOutputs(pieces, () => outputsOf(reply))
}

type ReplyStream = AsyncGenerator<string, ChatReply, undefined>

interface BegunStream {
  readonly stream: ReplyStream
  readonly first: IteratorResult<string, ChatReply>
}

const NOTHING_YET: ChatReply = {
  message: { role: 'assistant', content: '' },
  usage: { tokens: { prompt: 0, completion: 0, total: 0 } },
  finishReason: 'other',
}

async function* piecesOf(
  { stream, first }: BegunStream,
  complete: (reply: ChatReply) => void,
): AsyncGenerator<JsonObject, void, undefined> {
  try {
    yield { type: 'message_start', data: { role: 'assistant' } }
    let step = first
    for (; !step.done; step = await stream.next())
      yield { type: 'message_delta', data: { content: step.value } }
    const reply = step.value
    complete(reply)
    yield { type: 'message_end', data: endOf(reply) }
    const { tokens, costs } = reply.usage
    yield { type: 'usage', data: { ...tokens, ...(costs ? { costs } : {}) } }
    yield { type: 'done', data: {} }
  } catch (error) {
    throw failureOfPrompt(error)
  } finally {
    // If the reader stops early, this ends the call; otherwise it does nothing.
    await stream.return(NOTHING_YET)
  }
}

/** Why the reply ended, and its parts that are not text. */
function endOf({ message, finishReason }: ChatReply): JsonObject {
  const others = entriesOf(message).filter(([key]) => key === 'refusal' || key === 'tool_calls')
  return fromEntries([['finish_reason', finishReason], ...others])
}

/**
 * Makes the call of a prompt, with retries and fallbacks by its policies (interface 11.20). `make` gets the call of each attempt. Throws
 * the last `ModelFailure`.
 */
export function callPrompt<T>(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  { untilGone }: Pick<HandlerContext, 'untilGone'>,
  make: (call: ChatCall) => Promise<T>,
): Promise<T> {
  const signal = untilGone()
  // If the client is gone, the next attempt reports it at once.
  const wait = (milliseconds: number): Promise<void> =>
    pause(milliseconds, undefined, { signal }).catch(() => undefined)
  return callByPolicies(prompt.configs, prompt, (config) => make({ ...config, messages, signal }), wait)
}
