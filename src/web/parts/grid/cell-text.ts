import { ExactNumber } from '../../api/json.ts'

/** A cell shows so many characters at most; what is longer is opened. */
const MOST = 240

/** A value as one line: texts as they are, everything else as JSON, cut where a cell ends anyway. */
export function cellText(value: unknown): string {
  if (typeof value === 'string') return inOneLine(value.slice(0, MOST))
  return value === undefined ? '' : inOneLine(jsonStart(value, MOST))
}

/** How a value is set: numbers at the right, what is no text in another colour. */
export function cellKind(value: unknown): 'text' | 'number' | 'json' | 'word' {
  if (typeof value === 'string' || value === undefined) return 'text'
  if (typeof value === 'number' || value instanceof ExactNumber) return 'number'
  return typeof value === 'object' && value !== null ? 'json' : 'word'
}

function inOneLine(text: string): string {
  return text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ⏎ ')
}

/** The beginning of a value's JSON: no more of it is looked at than is shown, however large or deep it is. */
function jsonStart(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (value instanceof ExactNumber) return value.text.slice(0, room)
  if (typeof value !== 'object' || value === null) return String(value)
  const isList = Array.isArray(value)
  let text = isList ? '[' : '{'
  let isFirst = true
  for (const key in value) {
    if (text.length >= room) return text
    const member = jsonStart((value as Readonly<Record<string, unknown>>)[key], room - text.length)
    text += `${isFirst ? '' : ', '}${isList ? '' : `${JSON.stringify(key.slice(0, room))}: `}${member}`
    isFirst = false
  }
  return text + (isList ? ']' : '}')
}
