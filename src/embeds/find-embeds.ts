import { entriesOf, isJsonArray, isJsonObject, type Json } from '../json/json.ts'
import type { EmbedLocation, EmbedToken, StringEmbed } from './embed-token.ts'
import { longEmbeds } from './long-embeds.ts'
import { isObjectEmbed, readObjectEmbed } from './read-object-embed.ts'
import { shortEmbeds } from './short-embeds.ts'

/**
 * Every embed token of a document with its location, in document order (contract/resolve 2, 3). Keys are never looked at,
 * nor is anything inside an object embed; malformed tokens are not tokens, and `onInert` hears of objects that look like one.
 * Linear in the document, however deep it is.
 */
export function findEmbeds(document: Json, onInert?: (location: EmbedLocation) => void): EmbedToken[] {
  const found: EmbedToken[] = []
  const open: Place[] = [{ value: document }]
  for (let place = open.pop(); place; place = open.pop()) {
    const { value } = place
    if (typeof value === 'string') {
      const tokens = embedsOfText(value)
      if (tokens.length === 0) continue
      const location = locationOf(place)
      for (const token of tokens) found.push({ ...token, location })
    } else if (isObjectEmbed(value)) {
      const embed = readObjectEmbed(value)
      if (embed) found.push({ ...embed, location: locationOf(place) })
      else onInert?.(locationOf(place))
    } else {
      const inside = membersOf(value)
      for (let index = inside.length - 1; index >= 0; index--) {
        const [key, member] = inside[index] ?? []
        if (key !== undefined && member !== undefined) open.push({ value: member, key, parent: place })
      }
    }
  }
  return found
}

interface Place {
  readonly value: Json
  readonly key?: string | number
  readonly parent?: Place
}

/** The members that may hold tokens. */
function membersOf(value: Json): [string | number, Json][] {
  const members: [string | number, Json][] = isJsonArray(value)
    ? value.map((item, index) => [index, item])
    : isJsonObject(value)
      ? entriesOf(value)
      : []
  return members.filter(([, member]) => typeof member === 'string' || typeof member === 'object')
}

function locationOf(place: Place): EmbedLocation {
  const keys: (string | number)[] = []
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) keys.push(at.key)
  return keys.reverse()
}

/** The tokens of a string from left to right. A form C token that overlaps one of form B is a part of that. */
function embedsOfText(text: string): Omit<StringEmbed, 'location'>[] {
  if (!text.includes('@')) return []
  const long = longEmbeds(text)
  const short = shortEmbeds(text)
  if (long.length === 0) return short
  const tokens = [...long]
  let next = 0
  for (const token of short) {
    const end = token.offset + token.text.length
    for (
      let other = long[next];
      other && other.offset + other.text.length <= token.offset;
      other = long[next]
    )
      next++
    const other = long[next]
    if (!other || other.offset >= end) tokens.push(token)
  }
  return tokens.sort((a, b) => a.offset - b.offset)
}
