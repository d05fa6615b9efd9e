import { membersOf } from '../../api/json.ts'
import { textOf } from '../text/text.tsx'
import type { Message } from './conversation.tsx'

/** The messages of an input or output, and its other members. */
export interface FoundMessages {
  readonly messages: readonly Message[]
  readonly rest: Readonly<Record<string, unknown>>
}

/** The messages of a value: a message, a list of them, or its member `messages`; undefined if there are none. */
export function messagesIn(value: unknown): FoundMessages | undefined {
  if (isMessages(value)) return { messages: value, rest: {} }
  if (isMessage(value)) return { messages: [value], rest: {} }
  const { messages, ...rest } = membersOf(value)
  return isMessages(messages) ? { messages, rest } : undefined
}

/** An output as text: of a chat, what was said; texts as they are, other values as JSON. */
export function saidIn(value: unknown): string {
  const found = messagesIn(value)
  if (!found || Object.keys(found.rest).length > 0) return textOf(value)
  return found.messages.map(saidBy).join('\n')
}

/** The text of a message; without any, the names of the tools that it calls. */
function saidBy({ content, tool_calls: calls }: Message): string {
  if (typeof content === 'string' && content !== '') return content
  if (Array.isArray(content)) {
    return content
      .map((part: unknown) => {
        const { text } = membersOf(part)
        return typeof text === 'string' ? text : textOf(part)
      })
      .join(' ')
  }
  return Array.isArray(calls) ? calls.map(nameOfCall).join('\n') : textOf(content ?? '')
}

function nameOfCall(call: unknown): string {
  const { name, arguments: sent } = membersOf(membersOf(call)['function'])
  return typeof name === 'string' ? `${name}(${textOf(sent ?? '')})` : textOf(call)
}

function isMessages(value: unknown): value is readonly Message[] {
  return Array.isArray(value) && value.length > 0 && value.every(isMessage)
}

function isMessage(value: unknown): value is Message {
  return typeof membersOf(value)['role'] === 'string'
}
