import { parseJson } from '../../api/json.ts'
import type { FieldProblem } from '../../api/call.ts'
import { schemaProblems } from '../schema/schema-problems.ts'
import {
  itemsAt,
  keysAt,
  problemOfJson,
  stringAt,
  textAt,
  withoutAt,
  withTextAt,
} from '../json-text/json-text.ts'
import { prettyJson } from '../json/json-view.tsx'
import { promptInputs } from '../draft/editing.ts'

/** An input that a revision takes. */
export interface InputField {
  readonly name: string
  /** How it is typed: text becomes a JSON string, messages are a list of roles and texts, the others are JSON. */
  readonly kind: 'text' | 'number' | 'boolean' | 'json' | 'messages'
  readonly description: string | undefined
  readonly isRequired: boolean
  /** The schema of its values, if any. */
  readonly schema: unknown
}

/** The inputs named in a revision's schema or messages. `data` is JSON text. */
export function inputFields(data: string): readonly InputField[] {
  const schema = ['schemas', 'inputs']
  const required = itemsAt(data, [...schema, 'required'])
  const named = keysAt(data, [...schema, 'properties'])
  const names = [...new Set([...named, ...promptInputs(data), ...(takesMessages(data) ? ['messages'] : [])])]
  return names.map((name) => {
    const place = [...schema, 'properties', name]
    return {
      name,
      kind:
        name === 'messages' && takesMessages(data)
          ? 'messages'
          : named.includes(name)
            ? kindOf(data, place)
            : 'text',
      description: stringAt(data, [...place, 'description']),
      isRequired: required.includes(JSON.stringify(name)),
      schema: parseJson(textAt(data, place) ?? 'null'),
    }
  })
}

/** Sets one input; empty removes it. */
export function withInput(inputs: string, { name, kind }: InputField, typed: string): string {
  if (typed === '' && kind !== 'text') return withoutAt(inputs, [name])
  return withTextAt(inputs, [name], kind === 'text' ? JSON.stringify(typed) : typed.trim())
}

/** The text in the field of an input. */
export function shownInput(inputs: string, { name, kind }: InputField): string {
  const json = textAt(inputs, [name])
  if (json === undefined) return ''
  return kind === 'text' ? (stringAt(inputs, [name]) ?? json) : prettyJson(json)
}

/** Why the text is not a valid value; undefined if it is. */
export function problemOfInput({ kind, isRequired, schema }: InputField, typed: string): string | undefined {
  if (typed.trim() === '' && kind !== 'text') return isRequired ? 'is required' : undefined
  if (kind === 'number' && !(/^-?\d/.test(typed.trim()) && !problemOfJson(typed))) return 'must be a number'
  if (kind === 'boolean' && !/^(?:true|false)$/.test(typed.trim())) return 'must be true or false'
  const problem = kind === 'text' ? undefined : problemOfJson(typed)
  if (problem !== undefined) return `is not JSON yet: ${problem}`
  const [first] = schemaProblems(schema, kind === 'text' ? typed : parseJson(typed))
  return first && [first.path.join('.'), first.msg].filter((it) => it !== '').join(' ')
}

/** The part of a refusal that is about an input; undefined if it is about something else. */
export function refusalOf(
  name: string,
  { message, problems }: { readonly message: string; readonly problems?: readonly FieldProblem[] },
): string | undefined {
  const told = problems?.find(
    ({ loc }) => loc[loc.lastIndexOf('inputs') + 1] === name && loc.includes('inputs'),
  )
  if (told) return told.msg
  // A run that failed on its schema has a line for each place: `inputs.amount must be number`.
  const line = message.split('\n').find((it) => it.startsWith(`inputs.${name} `))
  if (line !== undefined) return line.slice(`inputs.${name} `.length).replace(/\.$/, '')
  return message.includes(`inputs must have required property '${name}'`) ? 'is required' : undefined
}

/** The inputs to send: a text that was not typed is empty, since a template refuses a variable that is missing. */
export function completeInputs(inputs: string, fields: readonly InputField[]): string {
  const given = new Set(keysAt(inputs, []))
  return fields
    .filter(({ kind, name }) => kind === 'text' && !given.has(name))
    .reduce((all, { name }) => withTextAt(all, [name], '""'), inputs)
}

/** Chat inputs with the conversation so far continued: by a reply, and by the next message of the user. */
export function continuedInputs(inputs: string, reply: string, next: string): string {
  const messages = [...itemsAt(inputs, ['messages']), reply, JSON.stringify({ role: 'user', content: next })]
  return withTextAt(inputs, ['messages'], `[${messages.join(',')}]`)
}

/** The inputs in a row, without the testset's own columns. */
export function inputsOfRow(row: string): string {
  return keysAt(row, [])
    .filter((key) => BOOKKEEPING.has(key))
    .reduce((all, key) => withoutAt(all, [key]), row)
}

const BOOKKEEPING: ReadonlySet<string> = new Set(['testcase_dedup_id', '__dedup_id__', '__id__'])

function kindOf(data: string, place: readonly string[]): InputField['kind'] {
  switch (stringAt(data, [...place, 'type'])) {
    case 'string':
      return 'text'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    default:
      return 'json'
  }
}

/** Whether it leads a conversation: the messages so far are its input `messages`. */
export function takesMessages(data: string): boolean {
  return /\bchat\b/.test(stringAt(data, ['uri']) ?? '')
}
