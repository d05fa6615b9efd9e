import type { PlainObject } from '../../../base/json.ts'
import { nullable, objectType } from './object-type.ts'

/** A message of a conversation in the chat-completions protocol. */
export const messageType: PlainObject = objectType(
  {
    role: { type: 'string', enum: ['developer', 'system', 'user', 'assistant', 'tool', 'function'] },
    content: contentOfMessage(),
    name: nullable({ type: 'string' }),
    tool_calls: nullable({ type: 'array', items: toolCall() }),
    tool_call_id: nullable({ type: 'string' }),
  },
  ['role'],
  { title: 'Message', 'x-svc-type': 'message' },
)

/** A conversation, oldest message first. */
export const messagesType: PlainObject = {
  type: 'array',
  items: messageType,
  title: 'Messages',
  'x-svc-type': 'messages',
}

function contentOfMessage(): PlainObject {
  return {
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { oneOf: [textPart(), imagePart(), filePart()] } },
      { type: 'null' },
    ],
    default: null,
  }
}

function textPart(): PlainObject {
  return part('text', { type: 'string' })
}

function imagePart(): PlainObject {
  const detail = nullable({ type: 'string', enum: ['auto', 'low', 'high'] })
  return part('image_url', objectType({ url: { type: 'string' }, detail }, ['url']))
}

function filePart(): PlainObject {
  const fields = ['file_id', 'file_data', 'file_url', 'file_name', 'format', 'mime_type']
  const text = nullable({ type: 'string' })
  return part('file', objectType(Object.fromEntries(fields.map((name) => [name, text]))))
}

/** A part of a message's content gives its kind, and holds its value under that name. */
function part(kind: string, value: PlainObject): PlainObject {
  return objectType({ type: { type: 'string', const: kind }, [kind]: value }, ['type', kind])
}

function toolCall(): PlainObject {
  return objectType(
    {
      id: { type: 'string' },
      type: { type: 'string', const: 'function', default: 'function' },
      function: objectType(
        { name: { type: 'string' }, arguments: { type: 'string', description: 'JSON text.' } },
        ['name', 'arguments'],
      ),
    },
    ['id', 'function'],
  )
}
