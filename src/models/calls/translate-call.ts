import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { plainJson } from '../../json/plain-json.ts'
import type { CallOptions } from '../language-model.ts'
import { objectAt, textAt } from './members.ts'
import type { ChatCall } from '../models.ts'
import { translateMessages } from './translate-messages.ts'

/**
 * A call of the chat-completions protocol in the words of the AI SDK, for providers with a protocol of their own. They have nothing
 * that `chat_template_kwargs` could be; `reasoning_effort` becomes a budget of tokens. Throws a `ModelFailure` for messages that
 * cannot be said.
 */
export function translateCall(call: ChatCall, sdkProvider: 'anthropic' | 'google'): CallOptions {
  const tools = (call.tools ?? []).map(toolOf)
  return {
    prompt: translateMessages(call.messages),
    ...given('maxOutputTokens', call.maxTokens),
    ...given('temperature', call.temperature),
    ...given('topP', call.topP),
    ...given('frequencyPenalty', call.frequencyPenalty),
    ...given('presencePenalty', call.presencePenalty),
    ...given('responseFormat', formatOf(call.responseFormat)),
    ...(tools.length > 0 ? { tools, ...given('toolChoice', choiceOf(call.toolChoice)) } : {}),
    ...given('providerOptions', reasoning(call.reasoningEffort, sdkProvider)),
  }
}

type Tool = NonNullable<CallOptions['tools']>[number]
type Schema = Extract<Tool, { type: 'function' }>['inputSchema']
type Format = NonNullable<CallOptions['responseFormat']>
type Choice = NonNullable<CallOptions['toolChoice']>

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  // A computed key is typed as any string.
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: Value }
}

function toolOf(tool: JsonObject): Tool {
  const definition = objectAt(tool, 'function') ?? tool
  return {
    type: 'function',
    name: textAt(definition, 'name') ?? '',
    ...given('description', textAt(definition, 'description')),
    inputSchema: schemaOf(objectAt(definition, 'parameters') ?? { type: 'object', properties: {} }),
  }
}

function choiceOf(choice: string | JsonObject | undefined): Choice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  const named = isJsonObject(choice) ? objectAt(choice, 'function') : undefined
  const toolName = named && textAt(named, 'name')
  return toolName === undefined ? undefined : { type: 'tool', toolName }
}

function formatOf(format: JsonObject | undefined): Format | undefined {
  const type = format && textAt(format, 'type')
  if (!format || (type !== 'json_object' && type !== 'json_schema')) return undefined
  const described = objectAt(format, 'json_schema') ?? {}
  const schema = objectAt(described, 'schema')
  return {
    type: 'json',
    ...given('schema', schema && schemaOf(schema)),
    ...given('name', textAt(described, 'name')),
    ...given('description', textAt(described, 'description')),
  }
}

/** Providers know a JSON Schema when they see one; here it is any object. */
function schemaOf(schema: JsonObject): Schema {
  return plainJson(schema) as Schema
}

function reasoning(
  effort: string | undefined,
  sdkProvider: 'anthropic' | 'google',
): CallOptions['providerOptions'] {
  const budget = effort === undefined ? undefined : BUDGETS.get(effort)
  if (budget === undefined) return undefined
  if (sdkProvider === 'google') return { google: { thinkingConfig: { thinkingBudget: budget } } }
  const thinking = budget === 0 ? { type: 'disabled' } : { type: 'enabled', budgetTokens: budget }
  return { anthropic: { thinking } }
}

/** The least that anthropic takes is 1024. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['low', 1024],
  ['medium', 2048],
  ['high', 4096],
])
