import { ExactNumber, entriesOf, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { isLight } from '../../json/is-light.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'

/**
 * The text of a value inside a string (interface 10.3): a string as it is; anything else as JSON with a space after
 * every comma and colon, characters past ASCII escaped, every number digit for digit. A heavy one's is made in slices.
 */
export async function embedText(value: Json): Promise<string> {
  if (typeof value === 'string') return value
  if (isLight(value)) return jsonText(value)
  const pieces: string[] = []
  await write(value, pieces, new TimeSlice())
  return pieces.join('')
}

/** What is light is written in one go. */
async function write(value: Json, pieces: string[], slice: TimeSlice): Promise<void> {
  if (typeof value === 'string') {
    pieces.push('"')
    for (let from = 0; from < value.length; from += CHUNK) {
      // A pair that is parted here is two escapes, as it would be in one piece.
      pieces.push(quoted(value.slice(from, from + CHUNK)).slice(1, -1))
      if (slice.isOver) await slice.rest()
    }
    pieces.push('"')
  } else if (isJsonArray(value)) {
    await slice.each(value, (item, index) => {
      pieces.push(index === 0 ? '[' : ', ')
      return writeMember(item, pieces, slice)
    })
    pieces.push(value.length === 0 ? '[]' : ']')
  } else if (isJsonObject(value)) {
    const members = entriesOf(value)
    await slice.each(members, ([key, member], index) => {
      pieces.push(`${index === 0 ? '{' : ', '}${quoted(key)}: `)
      return writeMember(member, pieces, slice)
    })
    pieces.push(members.length === 0 ? '{}' : '}')
  } else {
    pieces.push(jsonText(value))
  }
}

const CHUNK = 32 * 1024

function writeMember(value: Json, pieces: string[], slice: TimeSlice): Promise<void> | undefined {
  if (!isLight(value)) return write(value, pieces, slice)
  pieces.push(jsonText(value))
  return undefined
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
