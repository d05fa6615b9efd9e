import {
  ExactNumber,
  entriesOf,
  fromEntries,
  isJsonArray,
  type Json,
  type JsonObject,
} from '../../../src/base/json/json.ts'
import { longToken, objectToken, shortToken } from './tokens.ts'

/**
 * Documents with embeds as they are meant, not as they are spelt, and what they resolve to: a model that knows nothing of
 * tokens, passes, places or budgets.
 */
export type Doc =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'list'; readonly items: readonly Doc[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, Doc])[] }
  | { readonly kind: 'embed'; readonly embed: ModelEmbed }
  | { readonly kind: 'text'; readonly pieces: readonly (string | ModelEmbed)[] }

/** An embed of another document, by its number. */
export interface ModelEmbed {
  readonly form: 'object' | 'long' | 'short'
  readonly target: number
  /** Of the target's data; undefined for all of it. */
  readonly path: readonly string[] | undefined
  readonly notation: 'dot' | 'pointer' | 'jsonpath'
}

/** What a document says on the wire. */
export function spelt(doc: Doc): Json {
  if (doc.kind === 'value') return doc.value
  if (doc.kind === 'list') return doc.items.map(spelt)
  if (doc.kind === 'map') return fromEntries(doc.entries.map(([key, member]) => [key, spelt(member)]))
  if (doc.kind === 'embed') return token(doc.embed)
  return doc.pieces.map((piece) => (typeof piece === 'string' ? piece : String(token(piece)))).join('')
}

/** The model could not follow a path. */
export class NothingThere extends Error {}

/** Resolves documents that embed one another, counting. */
export class Model {
  readonly documents: readonly Doc[]
  embeds = 0
  deepest = 0

  constructor(documents: readonly Doc[]) {
    this.documents = documents
  }

  resolved(doc: Doc, depth = 1): Json {
    if (doc.kind === 'value') return doc.value
    if (doc.kind === 'list') return doc.items.map((item) => this.resolved(item, depth))
    if (doc.kind === 'map')
      return fromEntries(doc.entries.map(([key, member]) => [key, this.resolved(member, depth)]))
    if (doc.kind === 'embed') return this.resolved(this.stored(doc.embed, depth), depth + 1)
    return doc.pieces
      .map((piece) => (typeof piece === 'string' ? piece : text(this.selected(piece, depth))))
      .join('')
  }

  /** What an object embed selects from its target as it is stored. */
  stored(embed: ModelEmbed, depth: number): Doc {
    this.count(depth)
    return (embed.path ?? []).reduce(member, this.target(embed))
  }

  /** What a string embed selects: a path goes through embeds, and JSONPath sees everything resolved. */
  selected(embed: ModelEmbed, depth: number): Json {
    this.count(depth)
    let doc = this.target(embed)
    let at = depth + 1
    const path = [...(embed.path ?? [])]
    const [first] = path
    if (embed.notation === 'jsonpath' && embed.path) {
      if (embed.form === 'short' && first !== undefined) doc = member(doc, path.shift() ?? '')
      return path.reduce(jsonMember, this.resolved(doc, at))
    }
    for (const key of path) {
      while (doc.kind === 'embed') {
        doc = this.stored(doc.embed, at)
        at++
      }
      doc = member(doc, key)
    }
    return this.resolved(doc, at)
  }

  target({ target }: ModelEmbed): Doc {
    const doc = this.documents[target]
    if (!doc) throw new Error(`there is no document ${target}`)
    return doc
  }

  count(depth: number): void {
    this.embeds++
    this.deepest = Math.max(this.deepest, depth)
  }
}

function token({ form, target, path, notation }: ModelEmbed): string | JsonObject {
  const slug = `s${target}`
  if (form === 'short') return shortToken(slug, path === undefined ? '' : written(path.slice(1), notation))
  const whole = path && written(path, notation)
  if (form === 'long') return longToken(slug, whole)
  return objectToken(slug, whole === undefined ? {} : { path: whole })
}

function written(path: readonly string[], notation: ModelEmbed['notation']): string {
  if (notation === 'dot') return path.join('.')
  return notation === 'pointer' ? `/${path.join('/')}` : `$${path.map((key) => `.${key}`).join('')}`
}

function member(doc: Doc, key: string): Doc {
  const found = doc.kind === 'map' ? doc.entries.findLast(([other]) => other === key) : undefined
  if (!found) throw new NothingThere()
  return found[1]
}

function jsonMember(value: Json, key: string): Json {
  const isMap =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  const found = isMap ? entriesOf(value as JsonObject).find(([other]) => other === key) : undefined
  if (!found) throw new NothingThere()
  return found[1]
}

function text(value: Json): string {
  return typeof value === 'string' ? value : json(value)
}

function json(value: Json): string {
  if (value instanceof ExactNumber) return value.literal
  if (typeof value === 'string') {
    const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at))
    return `"${units.map(escaped).join('')}"`
  }
  if (isJsonArray(value)) return '[' + value.map(json).join(', ') + ']'
  if (typeof value !== 'object' || value === null) return `${value}`
  return (
    '{' +
    entriesOf(value)
      .map(([key, it]) => json(key) + ': ' + json(it))
      .join(', ') +
    '}'
  )
}

const SHORT: Readonly<Record<number, string>> = {
  8: '\\b',
  9: '\\t',
  10: '\\n',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}

function escaped(unit: number): string {
  const short = SHORT[unit]
  if (short !== undefined) return short
  if (unit >= 32 && unit < 127) return String.fromCharCode(unit)
  return '\\u' + unit.toString(16).padStart(4, '0')
}
