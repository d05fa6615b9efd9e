import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type {
  EmbedLocation,
  EmbedToken,
  EmbedReferences,
  EmbedSelector,
  StringEmbed,
  EmbedReference,
} from './embed-token.ts'
import { isMixedEmbed, isObjectEmbed, readObjectEmbed } from './read-object-embed.ts'
import { isReferenceField, type ReferenceField, referenceOfFields } from '../reference-of-fields.ts'

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

const OPEN = '@{{'
const CLOSE = '}}'
const ENTITY = /^(?:workflow|application|evaluator|environment)(?:_artifact|_variant|_revision)?$/
/** What a token takes that names no path: the first message of a prompt. */
const DEFAULT_PATH = 'prompt.messages.0.content'

/**
 * The form C tokens of a text, in order, and undefined for what only looks like one: `@{{workflow.slug=a, path=b}}` (interface 10.4).
 * A token ends at the first `}}`; one that is never closed swallows the rest of the text. Without a valid reference it is mere text, as
 * `@{{name}}`. Each character is looked at a few times at most, whatever the text.
 */
function* shortEmbeds(text: string): Generator<FoundInText | undefined> {
  let offset = text.indexOf(OPEN)
  while (offset >= 0) {
    const end = text.indexOf(CLOSE, offset + OPEN.length)
    if (end < 0) break
    const isShort = end - offset < LONGEST_TOKEN
    const read = isShort ? readContent(text.slice(offset + OPEN.length, end)) : undefined
    yield read && { form: 'short', ...read, text: text.slice(offset, end + CLOSE.length), offset }
    offset = text.indexOf(OPEN, end + CLOSE.length)
  }
}

function readContent(content: string): Pick<FoundInText, 'references' | 'selector'> | undefined {
  const items: ReferenceItem[] = []
  let key: string | undefined
  let path = DEFAULT_PATH
  for (const item of content.split(/[,&]/)) {
    const [left, value] = splitItem(item)
    if (left === 'key') key = value
    else if (left === 'path') path = value
    else {
      const dot = left.lastIndexOf('.')
      const type = left.slice(0, Math.max(dot, 0)).trim()
      const field = left.slice(dot + 1).trim()
      if (ENTITY.test(type) && isReferenceField(field)) items.push({ type, field, value })
    }
  }
  const references = mergeReferenceItems(items)
  return (
    references && {
      references,
      selector: { ...(key === undefined ? {} : { key }), ...(path === '' ? {} : { path }) },
    }
  )
}

/** Both sides of `=`, else of `:`, trimmed; without either there is no left side. */
function splitItem(item: string): [left: string, value: string] {
  const equals = item.indexOf('=')
  const at = equals < 0 ? item.indexOf(':') : equals
  return at < 0 ? ['', ''] : [item.slice(0, at).trim(), item.slice(at + 1).trim()]
}

const LONG_EMBEDS_OPEN = '@svc.embed['
const REFERENCES = '@svc.references['
const SELECTOR = '@svc.selector['

/** A string token without the way to its string. */
type FoundInText = Omit<StringEmbed, 'location'>

/** More characters than any that means something: a longer one is mere text. */
const LONGEST_TOKEN = 10_000

/**
 * The form B tokens of a text, in order, and undefined for what only looks like one: `@svc.embed[@svc.references[workflow_revision.slug=a,
 * …], @svc.selector[path=b]]` (interface 10.3). Brackets are balanced by counting, so one that is never closed swallows the rest of
 * the text. Each character is looked at a few times at most, whatever the text.
 */
function* longEmbeds(text: string): Generator<FoundInText | undefined> {
  let offset = text.indexOf(LONG_EMBEDS_OPEN)
  while (offset >= 0) {
    const end = closingBracket(text, offset + LONG_EMBEDS_OPEN.length)
    if (end < 0) break
    const isShort = end - offset < LONGEST_TOKEN
    const read = isShort
      ? readContentOfLongEmbeds(text.slice(offset + LONG_EMBEDS_OPEN.length, end))
      : undefined
    yield read && { form: 'long', ...read, text: text.slice(offset, end + 1), offset }
    offset = text.indexOf(LONG_EMBEDS_OPEN, end + 1)
  }
}

/** Where the bracket is closed that was opened before `from`; -1 if nowhere. */
function closingBracket(text: string, from: number): number {
  let open = 1
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === '[') open++
    else if (character === ']' && --open === 0) return at
  }
  return -1
}

function readContentOfLongEmbeds(content: string): Pick<FoundInText, 'references' | 'selector'> | undefined {
  // a token stands on one line
  if (/[\r\n]/.test(content)) return undefined
  const referencesPart = onlyPart(content, REFERENCES)
  const selectorPart = onlyPart(content, SELECTOR)
  if (referencesPart === undefined || selectorPart === undefined) return undefined
  const references = readReferences(referencesPart)
  return references && { references, selector: readSelector(selectorPart) }
}

/** What stands between the part's name and its first `]`; '' if there is no such part, undefined if there are several. */
function onlyPart(content: string, name: string): string | undefined {
  const at = content.indexOf(name)
  if (at < 0) return ''
  const end = content.indexOf(']', at)
  if (end < 0 || content.includes(name, end)) return undefined
  return content.slice(at + name.length, end)
}

function readReferences(part: string): EmbedReferences | undefined {
  const items: ReferenceItem[] = []
  for (const [left, value] of itemsOf(part)) {
    const dot = left.lastIndexOf('.')
    if (dot < 0) continue
    const field = left.slice(dot + 1).trim()
    if (!isReferenceField(field)) return undefined
    items.push({ type: left.slice(0, dot).trim(), field, value })
  }
  return mergeReferenceItems(items)
}

/** An empty key or path says as little as none. */
function readSelector(part: string): EmbedSelector {
  const items = new Map(itemsOf(part))
  const key = items.get('key') ?? ''
  const path = items.get('path') ?? ''
  return { ...(key === '' ? {} : { key }), ...(path === '' ? {} : { path }) }
}

function itemsOf(part: string): [string, string][] {
  return part.split(',').flatMap((item): [string, string][] => {
    const equals = item.indexOf('=')
    return equals < 0 ? [] : [[item.slice(0, equals).trim(), item.slice(equals + 1).trim()]]
  })
}

/** One `<entity type>.<field> = <value>` of a string token. */
interface ReferenceItem {
  readonly type: string
  readonly field: ReferenceField
  readonly value: string
}

/**
 * The references that the items of a string token make: those of one entity type are one reference, a field given twice
 * takes its last value (interface 10.3, 10.4). Undefined if there are none or one is ill-formed: mere text then.
 */
function mergeReferenceItems(items: Iterable<ReferenceItem>): EmbedReferences | undefined {
  const merged = new Map<string, Partial<Record<ReferenceField, string>>>()
  for (const { type, field, value } of items) {
    const fields = merged.get(type) ?? {}
    fields[field] = value
    merged.set(type, fields)
  }
  const references = new Map<string, EmbedReference>()
  for (const [type, fields] of merged) {
    const reference = referenceOfFields(fields)
    if (!reference) return undefined
    references.set(type, reference)
  }
  return references.size === 0 ? undefined : references
}
