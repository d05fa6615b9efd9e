import type { Message } from '../../parts/conversation/conversation.tsx'
import { membersOf } from '../../api/members-of.ts'

/** A value as messages, with what stands beside them; undefined where it holds none. */
export function messagesIn(
  value: unknown,
): { readonly messages: readonly Message[]; readonly rest: Readonly<Record<string, unknown>> } | undefined {
  if (isMessages(value)) return { messages: value, rest: {} }
  if (isMessage(value)) return { messages: [value], rest: {} }
  const { messages, ...rest } = membersOf(value)
  return isMessages(messages) ? { messages, rest } : undefined
}

function isMessages(value: unknown): value is readonly Message[] {
  return Array.isArray(value) && value.length > 0 && value.every(isMessage)
}

function isMessage(value: unknown): value is Message {
  return typeof membersOf(value)['role'] === 'string'
}
