import { type Json, type JsonObject, entriesOf, fromEntries, isJsonArray } from '../json/json.ts'
import { Fields } from './fields.ts'
import { PromptProblem } from './prompt-problem.ts'

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] as const

/** What a message may have (interface 7.9). */
const KEYS: readonly string[] = ['role', 'content', 'name', 'tool_calls', 'tool_call_id']

/**
 * Reads messages that are at `path` (interface 7.9, `message`): roles, contents and tool calls are checked, unknown keys and
 * nulls left out. Throws a `PromptProblem`.
 */
export function readMessages(value: readonly Json[], path: string): readonly JsonObject[] {
  return value.map((message, index) => readMessage(message, `${path}[${index}]`))
}

function readMessage(message: Json, path: string): JsonObject {
  const fields = new Fields(message, path)
  fields.required('role', fields.choice('role', ROLES), ROLES.join(' | '))
  readContent(fields.json('content'), fields.pathOf('content'))
  fields.text('name')
  fields.text('tool_call_id')
  fields
    .list('tool_calls')
    ?.forEach((call, index) => readToolCall(call, `${fields.pathOf('tool_calls')}[${index}]`))
  // an object, or the first line would have thrown
  const members = entriesOf(message as JsonObject)
  return fromEntries(members.filter(([key, member]) => KEYS.includes(key) && member !== null))
}

function readContent(content: Json | undefined, path: string): void {
  if (content === undefined || typeof content === 'string') return
  if (!isJsonArray(content)) throw new PromptProblem(path, 'str | list', content)
  content.forEach((part, index) => {
    const fields = new Fields(part, `${path}[${index}]`)
    const type = fields.required('type', fields.text('type'), 'str')
    if (type === 'text') fields.required('text', fields.text('text'), 'str')
    if (type === 'image_url') fields.required('image_url', fields.object('image_url'), 'dict')
    if (type === 'file') fields.required('file', fields.object('file'), 'dict')
  })
}

function readToolCall(call: Json, path: string): void {
  const fields = new Fields(call, path)
  fields.required('id', fields.text('id'), 'str')
  const called = new Fields(
    fields.required('function', fields.object('function'), 'dict'),
    fields.pathOf('function'),
  )
  called.required('name', called.text('name'), 'str')
  called.required('arguments', called.text('arguments'), 'str')
}
