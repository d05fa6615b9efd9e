import { type Json, type JsonObject, getKey, isJsonArray, isJsonObject, withKey } from '../json/json.ts'
import { RenderBudget } from './templates/render-budget.ts'
import { renderAt } from './render-at.ts'
import { TemplateFailure, type TemplateFormat } from './templates/template-format.ts'

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
