import { Refusal } from '../../../errors.ts'
import { parseJson } from '../../../base/json.ts'

/** Reads these query-string parameters as strings. */
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
 * Reads the parents a write names beside its record (`parentsBeside`, `parentIdsBeside`): ids under these
 * names, and dotted references (`testset_variant_ref.slug=try`).
 */
export function queryParents(
  ids: readonly string[],
  references: readonly string[],
): (query: URLSearchParams) => Record<string, unknown> {
  const readIds = queryParameters(ids)
  return (query) => {
    const read = readIds(query)
    for (const name of references) {
      const parts = ['id', 'slug'].map((part) => [part, query.get(`${name}.${part}`)] as const)
      const given = parts.filter(([, value]) => value !== null)
      if (given.length > 0) read[name] = Object.fromEntries(given)
    }
    return read
  }
}

/** Reads a list of ids as the member `X_ids`: repeatable `X_ids`, comma-separated, and repeatable `X_id`. */
export function queryIds(
  singular: string,
): (query: URLSearchParams) => Readonly<Record<string, readonly string[]>> {
  return (query) => ({
    [`${singular}_ids`]: [
      ...query.getAll(`${singular}_id`),
      ...query.getAll(`${singular}_ids`).flatMap((list) => list.split(',')),
    ].flatMap((id) => id.trim() || []),
  })
}

/**
 * Reads the filters that existing clients send in the query string beside an empty body (interface 2.15):
 * `X_id`, `X_slug`, `X_version`, the repeatable `X_ids`, `X_slugs` and `X_versions`, the fields of the filter
 * object (its lists repeatable; flags, tags and meta as JSON text), and windowing. Returns the members that a
 * body would have, except those in `body`. `filterNames` are the spellings of the filter object, `levels` the
 * spellings of each kind of reference.
 */
export function queryFilters(
  filterNames: readonly string[],
  levels: readonly (readonly string[])[],
): (query: URLSearchParams, body: Readonly<Record<string, unknown>>) => Record<string, unknown> {
  return (query, body) => {
    const read: Record<string, unknown> = {}
    const put = (names: readonly string[], value: unknown): void => {
      if (names.every((name) => body[name] === undefined)) read[names[0] ?? ''] = value
    }
    const filter = {
      ...collect(query, FILTER_FIELDS),
      ...collectLists(query, FILTER_LISTS),
      ...collect(query, FOLDER_FIELDS),
    }
    if (Object.keys(filter).length > 0) put(filterNames, filter)
    Object.assign(read, queryWindowing(query, body))
    const archived = query.get('include_archived')
    if (archived !== null) put(['include_archived'], toBoolean('include_archived', archived))
    for (const singulars of levels) {
      const references = singulars.flatMap((singular) => referencesIn(query, singular))
      if (references.length > 0)
        put(
          singulars.map((singular) => `${singular}_refs`),
          references,
        )
    }
    return read
  }
}

/** Reads a windowing, unless `body` has one. */
export function queryWindowing(
  query: URLSearchParams,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const windowing = collect(query, WINDOWING_FIELDS)
  return Object.keys(windowing).length > 0 && body['windowing'] === undefined ? { windowing } : {}
}

/**
 * Reads which parts of payloads to return: `flags`, and the page if payloads are paged
 * (`ROW_PAGE_PARAMETERS`). Skips members that `body` has.
 */
export function queryReading(
  flags: readonly string[],
  isPaged: boolean,
): (query: URLSearchParams, body: Readonly<Record<string, unknown>>) => Record<string, unknown> {
  return (query, body) => {
    const read = collect(query, Object.fromEntries(flags.map((name) => [name, toBoolean])))
    const windowing = isPaged ? collect(query, ROW_PAGE_FIELDS) : {}
    if (Object.keys(windowing).length > 0) read['windowing'] = windowing
    return Object.fromEntries(Object.entries(read).filter(([name]) => body[name] === undefined))
  }
}

/**
 * Reads a GET form: dotted parameters become nested members (`workflow_variant_ref.slug=a`); `true` and
 * `false` become booleans for the names in `booleans`.
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

/** Reads `if_changed`, unless `body` has it. */
export const ifChangedInQuery = queryReading(['if_changed'], false)

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
  slug: asText,
  name: asText,
  description: asText,
  text: asText,
  message: asText,
  author: asText,
  date: asText,
  flags: asJson,
  tags: asJson,
  meta: asJson,
}

const FOLDER_FIELDS: Readonly<Record<string, Reader>> = { folder: asText, recursive: toBoolean }

const FILTER_LISTS: readonly string[] = ['slugs', 'authors', 'dates', 'scopes']

const PAGE_FIELDS: Readonly<Record<string, Reader>> = { limit: asNumber, order: asText, next: asText }

const ROW_PAGE_FIELDS: Readonly<Record<string, Reader>> = {
  ...PAGE_FIELDS,
  offset: asNumber,
  count_total: toBoolean,
}

/** The parameters that select rows of a payload. */
export const ROW_PAGE_PARAMETERS: readonly string[] = Object.keys(ROW_PAGE_FIELDS)

const WINDOWING_FIELDS: Readonly<Record<string, Reader>> = {
  ...PAGE_FIELDS,
  newest: asText,
  oldest: asText,
  count_total: toBoolean,
}

function collect(query: URLSearchParams, fields: Readonly<Record<string, Reader>>): Record<string, unknown> {
  const read: Record<string, unknown> = {}
  for (const [name, reader] of Object.entries(fields)) {
    const text = query.get(name)
    if (text !== null) read[name] = reader(name, text)
  }
  return read
}

function collectLists(query: URLSearchParams, names: readonly string[]): Record<string, readonly string[]> {
  const given = names.filter((name) => query.has(name))
  return Object.fromEntries(given.map((name) => [name, query.getAll(name)]))
}

/** Pairs the first version with the first slug, and so on. */
function referencesIn(query: URLSearchParams, singular: string): object[] {
  const all = (field: string): string[] => [
    ...query.getAll(`${singular}_${field}`),
    ...query.getAll(`${singular}_${field}s`),
  ]
  const [slugs, versions] = [all('slug'), all('version')]
  const bySlug = Array.from({ length: Math.max(slugs.length, versions.length) }, (_, index) => ({
    slug: slugs[index],
    version: versions[index],
  }))
  return [...all('id').map((id) => ({ id })), ...bySlug]
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
