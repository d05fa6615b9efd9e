import {
  type Json,
  type JsonObject,
  entriesOf,
  getKey,
  hasKey,
  isJsonObject,
  keysOf,
  membersAt,
  numberOf,
} from '../../../base/json.ts'
import {
  isReferenceField,
  REFERENCE_FIELDS,
  type ReferenceField,
  referenceOfFields,
} from '../reference-of-fields.ts'
import type {
  EmbedLocation,
  EmbedReference,
  EmbedReferences,
  EmbedSelector,
  EmbedToken,
  ObjectEmbed,
  StringEmbed,
} from './embed-token.ts'

/** The path of this module, for a thread that searches documents that are too large for this one. */
export const EMBED_SEARCH = new URL(import.meta.url)

/** The embeds of a document. */
export interface FoundEmbeds {
  /** The tokens with their locations, in document order; those of one string share one location. */
  readonly tokens: readonly EmbedToken[]
  /** The locations of objects that look like an embed but are not one. */
  readonly inert: readonly EmbedLocation[]
}

const known = new WeakMap<object, FoundEmbeds>()

/**
 * Every embed token of a document (interface 10.1, 10.2). Keys are not searched, nor is the inside of an object embed; malformed tokens are
 * not tokens. Takes linear time; a document is searched only once, because values do not change.
 */
export function findEmbeds(document: Json): FoundEmbeds {
  const isObject = typeof document === 'object' && document !== null
  const seen = isObject ? known.get(document) : undefined
  if (seen) return seen
  const found: { readonly tokens: EmbedToken[]; readonly inert: EmbedLocation[] } = { tokens: [], inert: [] }
  const place: (string | number)[] = []
  look(document)
  if (isObject) known.set(document, found)
  return found

  function look(value: Json): void {
    if (typeof value === 'string') {
      if (value.includes('@')) for (const token of embedsOfText(value, [...place])) found.tokens.push(token)
    } else if (typeof value === 'object' && !(isLikeEmbed(value) && takeIn(value, [...place], found))) {
      for (const [key, member] of membersAt(value)) {
        place.push(key)
        look(member)
        place.pop()
      }
    }
  }
}

function isLikeEmbed(value: Json): value is JsonObject {
  return isJsonObject(value) && (hasKey(value, MARK) || hasKey(value, OBJECT_REFERENCES))
}

/** Adds an object that looks like an embed to what was found, and says whether it claims to be one. */
function takeIn(
  object: JsonObject,
  location: EmbedLocation,
  { tokens, inert }: { readonly tokens: EmbedToken[]; readonly inert: EmbedLocation[] },
): boolean {
  const isEmbed = isObjectEmbed(object)
  const embed = isEmbed ? readObjectEmbed(object) : undefined
  if (embed) tokens.push({ ...embed, location })
  else inert.push(location)
  return isEmbed
}

/** Whether a document has a token. */
export function holdsEmbed(document: Json): boolean {
  return findEmbeds(document).tokens.length > 0
}

const MARK = '@svc.embed'
const OBJECT_REFERENCES = '@svc.references'
const OBJECT_SELECTOR = '@svc.selector'

/**
 * Whether an object is a form A embed or the inner object of one (interface 10.2): references, with at most a selector beside them. The
 * inside of such an object is not searched.
 */
export function isObjectEmbed(value: Json): value is JsonObject {
  return isJsonObject(value) && (hasKey(value, MARK) || (hasKey(value, OBJECT_REFERENCES) && isBare(value)))
}

function isBare(object: JsonObject): boolean {
  return keysOf(object).every((key) => key === OBJECT_REFERENCES || key === OBJECT_SELECTOR)
}

/**
 * The content of a form A embed without its place (interface 10.2): `{"@svc.embed": {"@svc.references": {…}, "@svc.selector"?: {"key"?,
 * "path"?}}}`, or the inner object alone. Undefined if it is malformed; then it is inert and stays unchanged.
 */
export function readObjectEmbed(object: JsonObject): Omit<ObjectEmbed, 'location'> | undefined {
  const embed = hasKey(object, MARK) ? getKey(object, MARK) : object
  if (!isJsonObject(embed) || entriesOf(embed).length === 0) return undefined
  const sent = getKey(embed, OBJECT_REFERENCES)
  // A user's own data may contain this key; alone, it only counts with references.
  if (embed === object && !(isJsonObject(sent) && entriesOf(sent).length > 0)) return undefined
  const references = readMembers(sent)
  const selector = readSelectorObject(getKey(embed, OBJECT_SELECTOR))
  return references && selector && { form: 'object', references, selector }
}

/** Skips members that are not objects; a malformed reference makes the whole embed inert. */
function readMembers(value: Json | undefined): EmbedReferences | undefined {
  const references = new Map<string, EmbedReference>()
  if (!isJsonObject(value)) return references
  for (const [type, member] of entriesOf(value)) {
    if (!isJsonObject(member)) continue
    const reference = readReference(member)
    if (!reference) return undefined
    references.set(type, reference)
  }
  return references
}

/** A version is a number or a numeric string (interface 10.2); null equals absent. */
function readReference(object: JsonObject): EmbedReference | undefined {
  const fields: Partial<Record<ReferenceField, string>> = {}
  for (const field of REFERENCE_FIELDS) {
    const sent = getKey(object, field) ?? undefined
    if (sent === undefined) continue
    const number = field === 'version' ? numberOf(sent) : undefined
    const value = number === undefined ? sent : String(number)
    if (typeof value !== 'string') return undefined
    fields[field] = value
  }
  return referenceOfFields(fields)
}

/** An empty key or path counts as none. */
function readSelectorObject(value: Json | undefined): EmbedSelector | undefined {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) return undefined
  const key = getKey(value, 'key') ?? ''
  const path = getKey(value, 'path') ?? ''
  if (typeof key !== 'string' || typeof path !== 'string') return undefined
  return { ...(key === '' ? {} : { key }), ...(path === '' ? {} : { path }) }
}

/** The tokens of a string, from left to right. */
function embedsOfText(text: string, location: EmbedLocation): readonly EmbedToken[] {
  return tokensIn(text).map((token) => ({ ...token, location }))
}

/** A form C token that overlaps one of form B is a part of it. */
function tokensIn(text: string): readonly FoundInText[] {
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

const OPEN = '@{{'
const CLOSE = '}}'
const ENTITY = /^(?:workflow|application|evaluator|environment)(?:_artifact|_variant|_revision)?$/
/** The path of a token that names none: the first message of a prompt. */
const DEFAULT_PATH = 'prompt.messages.0.content'

/**
 * The form C tokens of a text, in order: `@{{workflow.slug=a, path=b}}` (interface 10.4). A token ends at the first `}}`; an unclosed one
 * extends to the end of the text. Without a valid reference it is plain text, such as `@{{name}}`. The time is linear for any text.
 */
function shortEmbeds(text: string): FoundInText[] {
  const found: FoundInText[] = []
  let offset = text.indexOf(OPEN)
  while (offset >= 0) {
    const end = text.indexOf(CLOSE, offset + OPEN.length)
    if (end < 0) break
    const isShort = end - offset < LONGEST_TOKEN
    const read = isShort ? readContent(text.slice(offset + OPEN.length, end)) : undefined
    if (read) found.push({ form: 'short', ...read, text: text.slice(offset, end + CLOSE.length), offset })
    offset = text.indexOf(OPEN, end + CLOSE.length)
  }
  return found
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

/** The trimmed sides of `=`, else of `:`; without either, there is no left side. */
function splitItem(item: string): [left: string, value: string] {
  const equals = item.indexOf('=')
  const at = equals < 0 ? item.indexOf(':') : equals
  return at < 0 ? ['', ''] : [item.slice(0, at).trim(), item.slice(at + 1).trim()]
}

const LONG_EMBEDS_OPEN = '@svc.embed['
const REFERENCES = '@svc.references['
const SELECTOR = '@svc.selector['

/** A string token without its string's location. */
type FoundInText = Omit<StringEmbed, 'location'>

/** No valid token is longer; a longer one is plain text. */
const LONGEST_TOKEN = 10_000

/**
 * The form B tokens of a text, in order: `@svc.embed[@svc.references[workflow_revision.slug=a, …], @svc.selector[path=b]]` (interface
 * 10.3). Brackets are balanced by counting, so an unclosed one extends to the end of the text. The time is linear for any text.
 */
function longEmbeds(text: string): FoundInText[] {
  const found: FoundInText[] = []
  let offset = text.indexOf(LONG_EMBEDS_OPEN)
  while (offset >= 0) {
    const end = closingBracket(text, offset + LONG_EMBEDS_OPEN.length)
    if (end < 0) break
    const isShort = end - offset < LONGEST_TOKEN
    const read = isShort
      ? readContentOfLongEmbeds(text.slice(offset + LONG_EMBEDS_OPEN.length, end))
      : undefined
    if (read) found.push({ form: 'long', ...read, text: text.slice(offset, end + 1), offset })
    offset = text.indexOf(LONG_EMBEDS_OPEN, end + 1)
  }
  return found
}

/** The position of the bracket that closes the one opened before `from`; -1 if there is none. */
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
  // a token has no line breaks
  if (/[\r\n]/.test(content)) return undefined
  const referencesPart = onlyPart(content, REFERENCES)
  const selectorPart = onlyPart(content, SELECTOR)
  if (referencesPart === undefined || selectorPart === undefined) return undefined
  const references = readReferences(referencesPart)
  return references && { references, selector: readSelector(selectorPart) }
}

/** The text between the part's name and its first `]`; '' if there is no such part, undefined if there are several. */
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

/** An empty key or path counts as none. */
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
 * The references in the items of a string token: items of one entity type form one reference, and of a repeated field the last value counts
 * (interface 10.3, 10.4). Undefined if there are none or one is malformed: then the token is plain text.
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
