import { Refusal } from '../errors.ts'
import { parseJson } from '../json/parse-json.ts'

/** Reads the query-string parameters of these names, as strings. */
export function queryParameters(
  names: readonly string[],
): (query: URLSearchParams) => Record<string, unknown> {
  return (query) => {
    const read: Record<string, unknown> = {}
    for (const name of names) {
      const value = query.get(name)
      if (value !== null) read[name] = value
    }
    return read
  }
}

/**
 * Reads the filters that existing clients send in the query string beside an empty body (contract/workflows 6.2): `X_id`,
 * `X_slug`, the repeatable `X_ids` and `X_slugs`, header fields, flags, tags and meta as JSON text, and windowing. Answers the
 * same members a body would have. `filterName` is the member for header fields, `levels` the singulars of references.
 */
export function queryFilters(
  filterName: string,
  levels: readonly string[],
): (query: URLSearchParams) => Record<string, unknown> {
  return (query) => {
    const body: Record<string, unknown> = {}
    const filter = collect(query, FILTER_FIELDS)
    if (Object.keys(filter).length > 0) body[filterName] = filter
    const windowing = collect(query, WINDOWING_FIELDS)
    if (Object.keys(windowing).length > 0) body['windowing'] = windowing
    const archived = query.get('include_archived')
    if (archived !== null) body['include_archived'] = toBoolean('include_archived', archived)
    for (const level of levels) {
      const references = referencesIn(query, level)
      if (references.length > 0) body[`${level}_refs`] = references
    }
    return body
  }
}

/**
 * Reads a GET form: dotted parameters as nested members (`workflow_variant_ref.slug=a`), `true` and `false` as booleans
 * where `booleans` names them.
 */
export function dottedParameters(
  booleans: readonly string[],
): (query: URLSearchParams) => Record<string, unknown> {
  return (query) => {
    const body: Record<string, unknown> = {}
    for (const [name, value] of query) {
      const dot = name.indexOf('.')
      if (dot < 0) body[name] = booleans.includes(name) ? toBoolean(name, value) : value
      else {
        const [outer, inner] = [name.slice(0, dot), name.slice(dot + 1)]
        if (outer === '__proto__' || inner === '__proto__') continue
        const member = Object.hasOwn(body, outer) ? body[outer] : undefined
        body[outer] = { ...(typeof member === 'object' ? member : {}), [inner]: value }
      }
    }
    return body
  }
}

type Reader = (name: string, text: string) => unknown

const asText: Reader = (_name, text) => text
const asJson: Reader = (name, text) => {
  try {
    return parseJson(text)
  } catch {
    throw invalidParameter(name, text, 'JSON text, such as {"team":"support"}')
  }
}
const asNumber: Reader = (name, text) => {
  if (!/^-?[0-9]{1,15}$/.test(text)) throw invalidParameter(name, text, 'a whole number')
  return Number(text)
}

const FILTER_FIELDS: Readonly<Record<string, Reader>> = {
  name: asText,
  description: asText,
  message: asText,
  author: asText,
  date: asText,
  flags: asJson,
  tags: asJson,
  meta: asJson,
}

const WINDOWING_FIELDS: Readonly<Record<string, Reader>> = {
  limit: asNumber,
  order: asText,
  next: asText,
  newest: asText,
  oldest: asText,
}

function collect(query: URLSearchParams, fields: Readonly<Record<string, Reader>>): Record<string, unknown> {
  const read: Record<string, unknown> = {}
  for (const [name, reader] of Object.entries(fields)) {
    const text = query.get(name)
    if (text !== null) read[name] = reader(name, text)
  }
  return read
}

function referencesIn(query: URLSearchParams, level: string): Record<string, string>[] {
  const ids = [...query.getAll(`${level}_id`), ...query.getAll(`${level}_ids`)]
  const slugs = [...query.getAll(`${level}_slug`), ...query.getAll(`${level}_slugs`)]
  return [...ids.map((id) => ({ id })), ...slugs.map((slug) => ({ slug }))]
}

function toBoolean(name: string, text: string): boolean {
  if (text !== 'true' && text !== 'false') throw invalidParameter(name, text, 'true or false')
  return text === 'true'
}

function invalidParameter(name: string, text: string, wanted: string): Refusal {
  const msg = `${JSON.stringify(text.slice(0, 80))} is not ${wanted}`
  return new Refusal('invalid_request', `query.${name}: ${msg}.`, {
    errors: [{ loc: ['query', name], msg, type: 'query_parameter' }],
  })
}
