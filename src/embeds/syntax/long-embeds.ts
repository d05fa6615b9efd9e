import type { EmbedReferences, EmbedSelector, StringEmbed } from './embed-token.ts'
import { mergeReferenceItems, type ReferenceItem } from '../merge-reference-items.ts'
import { isReferenceField } from '../reference-of-fields.ts'

const OPEN = '@svc.embed['
const REFERENCES = '@svc.references['
const SELECTOR = '@svc.selector['

/** A string token without the way to its string. */
export type FoundInText = Omit<StringEmbed, 'location'>

/** More characters than any that means something: a longer one is mere text. */
export const LONGEST_TOKEN = 10_000

/**
 * The form B tokens of a text, in order, and undefined for what only looks like one: `@svc.embed[@svc.references[workflow_revision.slug=a,
 * …], @svc.selector[path=b]]` (interface 10.3). Brackets are balanced by counting, so one that is never closed swallows the rest of
 * the text. Each character is looked at a few times at most, whatever the text.
 */
export function* longEmbeds(text: string): Generator<FoundInText | undefined> {
  let offset = text.indexOf(OPEN)
  while (offset >= 0) {
    const end = closingBracket(text, offset + OPEN.length)
    if (end < 0) break
    const isShort = end - offset < LONGEST_TOKEN
    const read = isShort ? readContent(text.slice(offset + OPEN.length, end)) : undefined
    yield read && { form: 'long', ...read, text: text.slice(offset, end + 1), offset }
    offset = text.indexOf(OPEN, end + 1)
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

function readContent(content: string): Pick<FoundInText, 'references' | 'selector'> | undefined {
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
