import { ExactNumber, entriesOf, isJsonArray, isJsonObject, type Json } from '../json/json.ts'

/**
 * The text of a value inside a string (contract/resolve 3.4): a string as it is; anything else as JSON with a space after
 * every comma and colon, characters past ASCII escaped, every number digit for digit.
 */
export function embedText(value: Json): string {
  return typeof value === 'string' ? value : jsonText(value)
}

function jsonText(value: Json): string {
  if (typeof value === 'string') return quoted(value)
  if (value instanceof ExactNumber) return value.literal
  if (isJsonArray(value)) return `[${value.map(jsonText).join(', ')}]`
  if (!isJsonObject(value)) return String(value)
  return `{${entriesOf(value)
    .map(([key, member]) => `${quoted(key)}: ${jsonText(member)}`)
    .join(', ')}}`
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
