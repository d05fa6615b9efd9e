import { templateFormat, variableNames } from '../../../parts/template/template-variables.ts'
import {
  type JsonPath,
  changeOf,
  itemsAt,
  type JsonChange,
  keysAt,
  lengthAt,
  problemOfJson,
  stringAt,
  textAt,
  withoutAt,
  withTextAt,
} from '../../../parts/json-text/json-text.ts'
import { prettyJson } from '../../../parts/json/json-view.tsx'

/** The revision that an edit begins at. */
export interface Base {
  readonly revisionId: string
  readonly version: number
  readonly variantId: string
  /** Its `data` as the server sent it. */
  readonly text: string
}

/** What an edit has made of its base so far. */
export interface Editing {
  /** The `data` to be, as JSON text: what the form did not touch is written as it was. */
  readonly text: string
  /** The parameters as somebody types them; undefined while the form alone has changed them. */
  readonly typed: string | undefined
  /** Of each message: which one it is, however they are ordered. */
  readonly ids: readonly number[]
}

/** Where a prompt has its parts, from the top of `data`. */
export interface PromptPlaces {
  readonly messages: JsonPath
  readonly format: JsonPath | undefined
  readonly model: JsonPath
  /** Where temperature and the like are; undefined where a handler takes none. */
  readonly settings: JsonPath | undefined
}

/** Where the messages and the model are; undefined of what is no prompt. */
export function promptPlaces(text: string): PromptPlaces | undefined {
  const uri = stringAt(text, ['uri']) ?? ''
  const prompt = ['parameters', 'prompt']
  if (/\b(?:completion|chat)\b/.test(uri) || lengthAt(text, [...prompt, 'messages']) !== undefined) {
    const settings = [...prompt, 'llm_config']
    return {
      messages: [...prompt, 'messages'],
      format: [...prompt, 'template_format'],
      model: [...settings, 'model'],
      settings,
    }
  }
  if (lengthAt(text, ['parameters', 'prompt_template']) !== undefined) {
    const parameters = ['parameters']
    return {
      messages: [...parameters, 'prompt_template'],
      format: [...parameters, 'template_format'],
      model: [...parameters, 'model'],
      settings: undefined,
    }
  }
  return undefined
}

/** Where a script is, and what it is written in; undefined of what has none. */
export function scriptPlace(
  text: string,
): { readonly script: JsonPath; readonly runtime: string } | undefined {
  const isJudge = stringAt(text, ['parameters', 'code']) !== undefined
  const script = isJudge ? ['parameters', 'code'] : ['script']
  const isCode = /\bcode\b/.test(stringAt(text, ['uri']) ?? '') || stringAt(text, script) !== undefined
  if (!isCode) return undefined
  return { script, runtime: stringAt(text, isJudge ? ['parameters', 'runtime'] : ['runtime']) ?? 'python' }
}

/** An edit that has changed nothing yet. */
export function beginAt({ text }: Base): Editing {
  return { text, typed: undefined, ids: freshIds(text) }
}

/** The edit with a value, itself JSON text, at a place; without a value, with nothing there. */
export function put(editing: Editing, path: JsonPath, value: string | undefined): Editing {
  const text = value === undefined ? withoutAt(editing.text, path) : withTextAt(editing.text, path, value)
  return { ...editing, text, typed: undefined }
}

/** The edit with parameters as they were typed. Where they are no JSON object yet, they are kept beside the last ones that were. */
export function typeParameters(editing: Editing, typed: string): Editing {
  if (problemOfParameters(typed) !== undefined) return { ...editing, typed }
  const text = withTextAt(editing.text, ['parameters'], typed.trim())
  return { text, typed, ids: freshIds(text) }
}

/** Why these are no parameters; undefined if they are. */
export function problemOfParameters(typed: string | undefined): string | undefined {
  if (typed === undefined) return undefined
  const problem = problemOfJson(typed)
  if (problem !== undefined) return `This is not JSON yet: ${problem}`
  return /^\s*\{/.test(typed) ? undefined : 'Parameters must be a JSON object: { … }.'
}

/** The parameters, to be edited by hand. */
export function shownParameters({ text, typed }: Editing): string {
  return typed ?? prettyJson(textAt(text, ['parameters']) ?? '{}')
}

/** The edit with the message at `from` moved to `to`. */
export function moveMessage(editing: Editing, path: JsonPath, from: number, to: number): Editing {
  return { ...editing, ...reordered(editing, path, (list) => moved(list, from, to)) }
}

/** The edit without a message. */
export function removeMessage(editing: Editing, path: JsonPath, at: number): Editing {
  return { ...editing, ...reordered(editing, path, (list) => list.filter((_, index) => index !== at)) }
}

/** The edit with one more message, without text. */
export function addMessage(editing: Editing, path: JsonPath, role: string): Editing {
  const items = [...itemsAt(editing.text, path), JSON.stringify({ role, content: '' })]
  return {
    text: withTextAt(editing.text, path, `[${items.join(',')}]`),
    typed: undefined,
    ids: [...editing.ids, editing.ids.reduce((most, id) => Math.max(most, id), -1) + 1],
  }
}

/** What the commit of an edit says; undefined where it changed nothing. */
export function changeIn(base: Base, { text }: Editing): JsonChange {
  return changeOf(base.text, text)
}

/** Whether there is anything that would be lost. */
export function isChanged(base: Base, editing: Editing): boolean {
  return problemOfParameters(editing.typed) !== undefined || changeIn(base, editing) !== undefined
}

/** The inputs that the messages of a prompt ask for, and the form of its answer. */
export function promptInputs(text: string): readonly string[] {
  const places = promptPlaces(text)
  if (!places) return []
  const format = templateFormat(places.format && stringAt(text, places.format))
  const count = lengthAt(text, places.messages) ?? 0
  // Of the whole text, which is parsed once; each message by itself would be parsed anew.
  const texts = Array.from(
    { length: count },
    (_, at) => stringAt(text, [...places.messages, at, 'content']) ?? '',
  )
  const answerForm = places.settings ? [...places.settings, 'response_format'] : ['parameters', 'json_schema']
  return variableNames([...texts, ...textsIn(valueAt(text, answerForm))], format)
}

/** Every text and every key of a value: all of them are templates. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member)])
}

/** For eyes: numbers of it may have lost digits. */
function valueAt(text: string, path: JsonPath): unknown {
  const written = textAt(text, path)
  return written === undefined || problemOfJson(written) !== undefined ? undefined : JSON.parse(written)
}

/** The inputs that the schema of a workflow names. */
export function namedInputs(text: string): readonly string[] {
  return keysAt(text, ['schemas', 'inputs', 'properties'])
}

function reordered(
  { text, ids }: Editing,
  path: JsonPath,
  order: <T>(list: readonly T[]) => readonly T[],
): Omit<Editing, never> {
  return {
    text: withTextAt(text, path, `[${order(itemsAt(text, path)).join(',')}]`),
    typed: undefined,
    ids: order(ids),
  }
}

function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const item = list.slice(from, from + 1)
  const rest = list.filter((_, at) => at !== from)
  return [...rest.slice(0, to), ...item, ...rest.slice(to)]
}

function freshIds(text: string): readonly number[] {
  const place = promptPlaces(text)
  return Array.from({ length: place ? (lengthAt(text, place.messages) ?? 0) : 0 }, (_, at) => at)
}
