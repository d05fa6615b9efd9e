import type { JsonObject } from '../../json/json.ts'
import { entriesOf, fromEntries, getKey, isJsonObject, keysOf, withKey } from '../../json/json.ts'
import { Fields } from '../../prompts/fields.ts'
import type { LlmConfig } from '../../prompts/llm-config.ts'
import { MOST_MODELS, readLlmConfig } from '../../prompts/llm-config.ts'
import { readMessages } from '../../prompts/prompt-messages.ts'
import { renderMessages } from '../../prompts/render-messages.ts'
import { RenderBudget } from '../../prompts/templates/render-budget.ts'
import { TEMPLATE_FORMATS } from '../../prompts/templates/template-format.ts'
import { chosenSchema, parameterAt } from '../chosen-schema.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { HandlerFailure, invalidParameter } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest, HandlerResult } from '../handler.ts'
import { askInTurn } from './ask-in-turn.ts'
import { llmSchemas } from './llm-schemas.ts'

/**
 * One call of the first model of a list that answers (`svc:builtin:llm:v0`, interface 11.18). Answers the whole conversation
 * with what it ended as. Neither a loop nor tools of ours are there: a request for them is refused.
 */
export const llm: HandlerDefinition = {
  key: 'llm',
  kind: 'builtin',
  schemas: llmSchemas,
  computedOutputs: (parameters) =>
    parameterAt(parameters, 'response', 'format') === 'json'
      ? chosenSchema(parameters, 'response', 'schema')
      : undefined,
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
    const { prompt, completion, total } = reply.usage
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

/** The messages of the parameters, then those of the inputs, rendered when there is anything to render them with. */
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

/** The members of both objects; where both have one, the second's. */
export function mergedMembers(first: JsonObject = {}, second: JsonObject = {}): JsonObject {
  return fromEntries([...entriesOf(first), ...entriesOf(second)])
}

/** The same for consent, whose `decisions` are merged as well (interface 11.18). */
export function mergedConsent(first: JsonObject = {}, second: JsonObject = {}): JsonObject {
  const [before, after] = [getKey(first, 'decisions'), getKey(second, 'decisions')]
  const merged = mergedMembers(first, second)
  if (!isJsonObject(before) || !isJsonObject(after)) return merged
  return withKey(merged, 'decisions', mergedMembers(before, after))
}

/**
 * The models of the parameters, in their order, each with the external tools; those that name no model are left out. Throws a
 * `PromptProblem`, or a `HandlerFailure` when none is left.
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
