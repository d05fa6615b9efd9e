import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  withKey,
  withoutKey,
} from '../../base/json.ts'
import { RenderBudget } from './render-budget.ts'
import { renderTemplate } from './render-template.ts'
import { TemplateFailure, type TemplateFormat } from './template-format.ts'

/** Unwraps inputs (interface 11.18): `{"inputs": {…}}`, with or without `messages` beside it, stands for its content. */
export function unwrapInputs(inputs: JsonObject): JsonObject {
  const inner = getKey(inputs, 'inputs')
  const wrapped = isJsonObject(inner) && keysOf(inputs).every((key) => key === 'inputs' || key === 'messages')
  if (!wrapped) return inputs
  return entriesOf(withoutKey(inputs, 'inputs')).reduce(
    (all, [key, value]) => withKey(all, key, value),
    inner,
  )
}

/**
 * The variables of templates (interface 11.18): every input, and all of them as `inputs`. `inputs` are already unwrapped; chat removes
 * `messages` first.
 */
export function promptVariables(inputs: JsonObject): JsonObject {
  return withKey(inputs, 'inputs', inputs)
}

/**
 * Renders the contents of messages (interface 11.23): texts, and the `text` parts of contents with parts. Roles, names, tool calls and
 * other parts stay unchanged. Throws a `TemplateFailure` that begins with the place: `messages[0].content: …`; `at` is the name of the
 * messages there.
 */
export function renderMessages(
  format: TemplateFormat,
  messages: readonly JsonObject[],
  variables: JsonObject,
  budget: RenderBudget = new RenderBudget(),
  at = 'messages',
): readonly JsonObject[] {
  if (messages.length === 0) return []
  let place = at
  const render = (message: JsonObject, index: number): JsonObject => {
    const content = getKey(message, 'content')
    place = `${at}[${index}].content`
    if (typeof content === 'string') {
      return withKey(message, 'content', renderAt(place, format, content, variables, budget))
    }
    if (!isJsonArray(content)) return message
    const parts = content.map((part, position) =>
      renderPart(`${place}[${position}]`, format, part, variables, budget),
    )
    return withKey(message, 'content', parts)
  }
  return budget.timed(
    () => messages.map(render),
    () => place,
  )
}

/** Kinds of parts without text to render. */
const UNTOUCHED: readonly (Json | undefined)[] = ['image_url', 'file', 'input_audio', 'refusal']

function renderPart(
  at: string,
  format: TemplateFormat,
  part: Json,
  variables: JsonObject,
  budget: RenderBudget,
): Json {
  const type = isJsonObject(part) ? getKey(part, 'type') : undefined
  if (UNTOUCHED.includes(type)) return part
  const text = isJsonObject(part) ? getKey(part, 'text') : undefined
  if (type !== 'text' || !isJsonObject(part) || typeof text !== 'string') {
    throw new TemplateFailure(
      `${at}: A part is {"type": "text", "text": …} or of type ${UNTOUCHED.join(', ')}.`,
    )
  }
  return withKey(part, 'text', renderAt(`${at}.text`, format, text, variables, budget))
}

/**
 * Renders every string and key in a value, at any depth (interface 11.23: `response_format`, `json_schema`). Throws a `TemplateFailure`
 * that begins with the place, also if two keys become equal.
 */
export function renderJson(
  format: TemplateFormat,
  value: Json,
  at: string,
  variables: JsonObject,
  budget: RenderBudget = new RenderBudget(),
): Json {
  let current = at
  const render = (inner: Json, place: string): Json => {
    current = place
    if (typeof inner === 'string') return renderAt(place, format, inner, variables, budget)
    if (isJsonArray(inner)) return inner.map((item, index) => render(item, `${place}[${index}]`))
    if (!isJsonObject(inner)) return inner
    const members = new Map<string, Json>()
    for (const [key, member] of entriesOf(inner)) {
      const name = renderAt(`${place}.${key}`, format, key, variables, budget)
      if (members.has(name))
        throw new TemplateFailure(`${place}: Two keys become '${name}'; give each another name.`)
      members.set(name, render(member, `${place}.${key}`))
    }
    return fromEntries(members)
  }
  return budget.timed(
    () => render(value, at),
    () => current,
  )
}

/** `renderTemplate` with the template's place before the message of a failure (interface 11.23). */
export function renderAt(
  at: string,
  format: TemplateFormat,
  template: string,
  variables: JsonObject,
  budget: RenderBudget,
): string {
  try {
    return renderTemplate(format, template, variables, budget)
  } catch (error) {
    throw error instanceof TemplateFailure ? new TemplateFailure(`${at}: ${error.message}`) : error
  }
}
