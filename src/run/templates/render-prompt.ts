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

/**
 * Inputs as they are meant (interface 11.18): `{"inputs": {…}}`, with `messages` beside it or not, stands for what is inside.
 */
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
 * What templates may name (interface 11.18): every input, and all of them as `inputs`. `inputs` are unwrapped already; chat
 * leaves `messages` out of them first.
 */
export function promptVariables(inputs: JsonObject): JsonObject {
  return withKey(inputs, 'inputs', inputs)
}

/**
 * Messages with their contents rendered (interface 11.23): texts, and the `text` parts of contents that have parts. Roles, names,
 * tool calls and other parts stay as they are. Throws a `TemplateFailure` that begins with where: `messages[0].content: …`; `at` is
 * what the messages are called there.
 */
export function renderMessages(
  format: TemplateFormat,
  messages: readonly JsonObject[],
  variables: JsonObject,
  budget: RenderBudget = new RenderBudget(),
  at = 'messages',
): readonly JsonObject[] {
  return messages.map((message, index) => {
    const content = getKey(message, 'content')
    const place = `${at}[${index}].content`
    if (typeof content === 'string') {
      return withKey(message, 'content', renderAt(place, format, content, variables, budget))
    }
    if (!isJsonArray(content)) return message
    const parts = content.map((part, position) =>
      renderPart(`${place}[${position}]`, format, part, variables, budget),
    )
    return withKey(message, 'content', parts)
  })
}

/** Parts that hold no text to render. */
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
 * A value with each string and each key in it rendered, however deep (interface 11.23: `response_format`, `json_schema`). Throws
 * a `TemplateFailure` that begins with where, and for keys that become the same.
 */
export function renderJson(
  format: TemplateFormat,
  value: Json,
  at: string,
  variables: JsonObject,
  budget: RenderBudget = new RenderBudget(),
): Json {
  const render = (inner: Json, place: string): Json => {
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
  return render(value, at)
}

/** `renderTemplate`, with the place of the template before the message of its failure (interface 11.23). */
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
