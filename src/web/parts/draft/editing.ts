import { templateFormat, variableNames } from '../../../run/templates/template-variables.ts'
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
} from '../json-text/json-text.ts'
import { prettyJson } from '../json/json-view.tsx'
import type { Making } from '../drafts/new-drafts.ts'

/** The revision that the edit started from. */
export interface Base {
  readonly revisionId: string
  readonly version: number
  readonly variantId: string
  /** Its `data` as the server sent it. */
  readonly text: string
  /** What the first save creates, if there is no revision yet. */
  readonly making?: Making
}

/** The current state of an edit. */
export interface Editing {
  /** The new `data` as JSON text; what the form did not touch is unchanged. */
  readonly text: string
  /** The parameters as typed; undefined while only the form has changed them. */
  readonly typed: string | undefined
  /** An id for each message, which it keeps when messages are reordered. */
  readonly ids: readonly number[]
}

/** The paths of a prompt's parts in `data`. */
export interface PromptPlaces {
  readonly messages: JsonPath
  readonly format: JsonPath | undefined
  readonly model: JsonPath
  /** The path of temperature and the like; undefined if the handler takes none. */
  readonly settings: JsonPath | undefined
}

/** The paths of the messages and the model; undefined if it is not a prompt. */
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

/** The path of the script and its language; undefined if there is none. */
export function scriptPlace(
  text: string,
): { readonly script: JsonPath; readonly runtime: string } | undefined {
  const isJudge = stringAt(text, ['parameters', 'code']) !== undefined
  const script = isJudge ? ['parameters', 'code'] : ['script']
  const isCode = /\bcode\b/.test(stringAt(text, ['uri']) ?? '') || stringAt(text, script) !== undefined
  if (!isCode) return undefined
  return { script, runtime: stringAt(text, isJudge ? ['parameters', 'runtime'] : ['runtime']) ?? 'python' }
}

/** An edit without changes. */
export function beginAt({ text }: Base): Editing {
  return { text, typed: undefined, ids: freshIds(text) }
}

/** Sets a value (JSON text) at a path, or removes it. */
export function put(editing: Editing, path: JsonPath, value: string | undefined): Editing {
  const text = value === undefined ? withoutAt(editing.text, path) : withTextAt(editing.text, path, value)
  return { ...editing, text, typed: undefined }
}

/** Sets the parameters as typed. While the text is not a JSON object, it is kept beside the last valid parameters. */
export function typeParameters(editing: Editing, typed: string): Editing {
  if (problemOfParameters(typed) !== undefined) return { ...editing, typed }
  const text = withTextAt(editing.text, ['parameters'], typed.trim())
  return { text, typed, ids: freshIds(text) }
}

/** Why the text cannot be parameters; undefined if it can. */
export function problemOfParameters(typed: string | undefined): string | undefined {
  if (typed === undefined) return undefined
  const problem = problemOfJson(typed)
  if (problem !== undefined) return `This is not JSON yet: ${problem}`
  return /^\s*\{/.test(typed) ? undefined : 'Parameters must be a JSON object: { … }.'
}

/** The parameters as text to edit. */
export function shownParameters({ text, typed }: Editing): string {
  return typed ?? prettyJson(textAt(text, ['parameters']) ?? '{}')
}

/** Moves the message at `from` to `to`. */
export function moveMessage(editing: Editing, path: JsonPath, from: number, to: number): Editing {
  return { ...editing, ...reordered(editing, path, (list) => moved(list, from, to)) }
}

/** Removes a message. */
export function removeMessage(editing: Editing, path: JsonPath, at: number): Editing {
  return { ...editing, ...reordered(editing, path, (list) => list.filter((_, index) => index !== at)) }
}

/** Adds an empty message. */
export function addMessage(editing: Editing, path: JsonPath, role: string): Editing {
  const items = [...itemsAt(editing.text, path), JSON.stringify({ role, content: '' })]
  return {
    text: withTextAt(editing.text, path, `[${items.join(',')}]`),
    typed: undefined,
    ids: [...editing.ids, editing.ids.reduce((most, id) => Math.max(most, id), -1) + 1],
  }
}

/** The change to commit; undefined if there is none. */
export function changeIn(base: Base, { text }: Editing): JsonChange {
  return changeOf(base.text, text)
}

/** Whether there are unsaved changes. */
export function isChanged(base: Base, editing: Editing): boolean {
  return problemOfParameters(editing.typed) !== undefined || changeIn(base, editing) !== undefined
}

/** The inputs used in the messages of a prompt and in its response format. */
export function promptInputs(text: string): readonly string[] {
  const places = promptPlaces(text)
  if (!places) return []
  const format = templateFormat(places.format && stringAt(text, places.format))
  const count = lengthAt(text, places.messages) ?? 0
  // Read from the whole text, which is parsed once.
  const texts = Array.from(
    { length: count },
    (_, at) => stringAt(text, [...places.messages, at, 'content']) ?? '',
  )
  const answerForm = places.settings ? [...places.settings, 'response_format'] : ['parameters', 'json_schema']
  return variableNames([...texts, ...textsIn(valueAt(text, answerForm))], format)
}

/** All texts and keys of a value: each may be a template. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member)])
}

/** For display only: numbers may have lost digits. */
function valueAt(text: string, path: JsonPath): unknown {
  const written = textAt(text, path)
  return written === undefined || problemOfJson(written) !== undefined ? undefined : JSON.parse(written)
}

/** The inputs named in the workflow's schema. */
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
