import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { EmbedLocation, EmbedToken } from './embed-token.ts'
import { type FoundInText, longEmbeds } from './long-embeds.ts'
import { isMixedEmbed, isObjectEmbed, readObjectEmbed } from './read-object-embed.ts'
import { shortEmbeds } from './short-embeds.ts'

/** This module, for a thread that looks through a document which is too large here. */
export const EMBED_SEARCH = new URL(import.meta.url)

/**
 * Every embed token of a document with its location, in document order (interface 10.1, 10.2). Keys are never looked at,
 * nor is anything inside an object embed; malformed tokens are not tokens, and `onInert` hears of objects that look like one.
 * Linear in the document, however deep it is, and in slices where it is large.
 */
export async function findEmbeds(document: Json, onInert?: OnInert): Promise<EmbedToken[]> {
  const found: EmbedToken[] = []
  const slice = new TimeSlice()
  await slice.each(embedsIn(document, onInert), (token) => {
    if (token) found.push(token)
  })
  return found
}

/** Whether a document has a token; looks no further than the first. */
export async function holdsEmbed(document: Json): Promise<boolean> {
  let steps = 0
  const slice = new TimeSlice()
  for (const token of embedsIn(document)) {
    if (token) return true
    if (++steps % STEPS === 0 && slice.isOver) await slice.rest()
  }
  return false
}

const STEPS = 64

/** Members that are neither containers nor texts with a token are passed by, so many at a time. */
const STRETCH = 512

type OnInert = (location: EmbedLocation) => void

/** The tokens, and undefined wherever the search may be interrupted. */
export function* embedsIn(document: Json, onInert?: OnInert): Generator<EmbedToken | undefined> {
  const members = [[undefined, document] as const].values() as Open['members']
  const open: Open[] = [{ place: { value: document }, members }]
  let looked = 0
  for (let last = open.at(-1); last; last = open.at(-1)) {
    const { value: member, done } = last.members.next()
    if (done) {
      open.pop()
      continue
    }
    if (++looked % STRETCH === 0) yield undefined
    const [key, value] = member
    if (typeof value === 'string') {
      if (!value.includes('@')) continue
      const location = locationOf({ value, key, parent: last.place })
      for (const token of yield* embedsOfText(value)) yield { ...token, location }
    } else if (typeof value === 'object' && value !== null) {
      yield undefined
      const place = { value, key, parent: last.place }
      if (!isObjectEmbed(value)) {
        if (onInert && isMixedEmbed(value)) onInert(locationOf(place))
        open.push({ place, members: membersOf(value) })
        continue
      }
      const embed = readObjectEmbed(value)
      if (embed) yield { ...embed, location: locationOf(place) }
      else onInert?.(locationOf(place))
    }
  }
}

/** A container whose members are looked at one by one. */
interface Open {
  readonly place: Place
  readonly members: Iterator<readonly [string | number | undefined, Json], undefined>
}

interface Place {
  readonly value: Json
  readonly key?: string | number | undefined
  readonly parent?: Place
}

function membersOf(value: Json): Open['members'] {
  if (isJsonArray(value)) return value.entries() as Open['members'] // iterators of arrays return nothing
  return (isJsonObject(value) ? entriesOf(value) : []).values() as Open['members']
}

function locationOf(place: Place): EmbedLocation {
  const keys: (string | number)[] = []
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) keys.push(at.key)
  return keys.reverse()
}

/** The tokens of a string from left to right. A form C token that overlaps one of form B is a part of that. */
function* embedsOfText(text: string): Generator<undefined, readonly FoundInText[]> {
  const long = yield* collected(longEmbeds(text))
  const short = yield* collected(shortEmbeds(text))
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

function* collected(
  tokens: Generator<FoundInText | undefined>,
): Generator<undefined, readonly FoundInText[]> {
  const found: FoundInText[] = []
  for (const token of tokens) {
    if (token) found.push(token)
    yield undefined
  }
  return found
}
