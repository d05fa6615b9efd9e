import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { CallOptions } from '../language-model.ts'
import { textAt } from './members.ts'
import { ModelFailure } from '../models.ts'
import { translatePart, type UserPart } from './translate-part.ts'

type Message = CallOptions['prompt'][number]
type AssistantPart = Extract<Message, { role: 'assistant' }>['content'][number]

/**
 * Messages of the chat-completions protocol as the AI SDK has them. What `system` and `developer` say comes first, wherever it
 * stood: the other protocols have one place for it. Throws a `ModelFailure` that names the message which cannot be said.
 */
export function translateMessages(messages: readonly JsonObject[]): CallOptions['prompt'] {
  const toolNames = new Map<string, string>()
  const translated = messages.map((message, index) => translate(message, `messages[${index}]`, toolNames))
  const isSystem = ({ role }: Message): boolean => role === 'system'
  return [...translated.filter(isSystem), ...translated.filter((it) => !isSystem(it))]
}

/** `toolNames` remembers what calls were of, for the messages that answer them. */
function translate(message: JsonObject, place: string, toolNames: Map<string, string>): Message {
  const role = textAt(message, 'role')
  const content = getKey(message, 'content') ?? null
  if (role === 'system' || role === 'developer') return { role: 'system', content: textOf(content, place) }
  if (role === 'user') return { role, content: partsOf(content, place) }
  if (role === 'assistant') {
    const text = textOf(content, place)
    const said: AssistantPart[] = text === '' ? [] : [{ type: 'text', text }]
    return { role, content: [...said, ...callsOf(message, place, toolNames)] }
  }
  if (role === 'tool') {
    const toolCallId = textAt(message, 'tool_call_id') ?? ''
    const toolName = textAt(message, 'name') ?? toolNames.get(toolCallId) ?? toolCallId
    const output = { type: 'text' as const, value: textOf(content, place) }
    return { role, content: [{ type: 'tool-result', toolCallId, toolName, output }] }
  }
  throw new ModelFailure(
    'request',
    `${place} has the role '${role ?? ''}', which this provider does not know.`,
  )
}

function partsOf(content: Json, place: string): UserPart[] {
  if (isJsonArray(content))
    return content.map((part, index) => translatePart(part, `${place}.content[${index}]`))
  return [{ type: 'text', text: textOf(content, place) }]
}

/** The text of a message that holds nothing else. */
function textOf(content: Json, place: string): string {
  if (content === null) return ''
  if (typeof content === 'string') return content
  const texts = partsOf(content, place).map((part) => (part.type === 'text' ? part.text : undefined))
  if (texts.includes(undefined))
    throw new ModelFailure('request', `${place}.content holds more than text, which only a user may send.`)
  return texts.join('')
}

function callsOf(message: JsonObject, place: string, toolNames: Map<string, string>): AssistantPart[] {
  const calls = getKey(message, 'tool_calls')
  return (isJsonArray(calls) ? calls : []).flatMap((call, index): AssistantPart[] => {
    const called = isJsonObject(call) ? getKey(call, 'function') : undefined
    if (!isJsonObject(call) || !isJsonObject(called)) return []
    const toolCallId = textAt(call, 'id') ?? ''
    const toolName = textAt(called, 'name') ?? ''
    toolNames.set(toolCallId, toolName)
    const input = inputOf(textAt(called, 'arguments') ?? '', `${place}.tool_calls[${index}]`)
    return [{ type: 'tool-call', toolCallId, toolName, input }]
  })
}

function inputOf(text: string, place: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw new ModelFailure('request', `${place}.function.arguments is not the text of a JSON value.`)
  }
}
