import { JSONPathEnvironment, JSONPathError } from 'json-p3'
import {
  type Json,
  ExactNumber,
  getKey,
  hasKey,
  isJsonArray,
  keysOf,
  type JsonObject,
} from '../../base/json.ts'
import { tooManyVisited } from './embed-budget.ts'
import { EmbedRefusal } from './embed-refusal.ts'

/** Maximum number of values one query visits: it cannot be interrupted, and other work waits for it. */
const MOST_VISITED_AT_ONCE = 50_000

/** Queries are parsed recursively, so the length bounds the depth. */
const LONGEST_QUERY = 1000

const environment = new JSONPathEnvironment({ maxRecursionDepth: 1000 })
// their regular expressions backtrack, so one query could block the server
environment.functionRegister.delete('match')
environment.functionRegister.delete('search')

/**
 * The locations that an RFC 9535 query selects. `spend` receives the number of values visited and may throw.
 * Throws `embed_path_not_found` for an invalid query; `match()` and `search()` are not supported.
 */
export function queryJsonPath(
  value: Json,
  query: string,
  spend: (values: number) => void,
): (string | number)[][] {
  if (query.length > LONGEST_QUERY) {
    throw new EmbedRefusal(
      'embed_path_not_found',
      `The JSONPath has ${query.length} characters; at most ${LONGEST_QUERY} are read.`,
    )
  }
  let visited = 0
  const spendHere = (values: number): void => {
    visited += values
    if (visited > MOST_VISITED_AT_ONCE) throw tooManyVisited(MOST_VISITED_AT_ONCE)
    spend(values)
  }
  try {
    return environment.query(query, jsonView(value, spendHere)).locations()
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error
    throw new EmbedRefusal(
      'embed_path_not_found',
      `${JSON.stringify(query)} is not a JSONPath that can be followed: ${error.message}.`,
    )
  }
}

/** A value as plain JavaScript. */
type PlainValue = null | boolean | number | string | PlainValue[] | { [key: string]: PlainValue }

/** A long text costs as much as many values. */
const CHARACTERS_PER_VALUE = 256

/**
 * Shows exact JSON as plain objects and arrays to a library that knows only these: without copying, with own
 * members in text order, and numbers as the nearest doubles. `spend` receives the amount visited and may
 * throw.
 */
function jsonView(value: Json, spend: (values: number) => void): PlainValue {
  if (typeof value === 'string') spend(1 + value.length / CHARACTERS_PER_VALUE)
  else spend(1)
  if (value instanceof ExactNumber) return Number(value.literal)
  if (isJsonArray(value)) return new Proxy<PlainValue[]>([], arrayHandler(value, spend))
  if (typeof value === 'object' && value !== null) return new Proxy({}, objectHandler(value, spend))
  return value
}

function arrayHandler(items: readonly Json[], spend: (values: number) => void): ProxyHandler<PlainValue[]> {
  const itemAt = (key: string | symbol) =>
    typeof key === 'string' && isIndex(key) ? items[Number(key)] : undefined
  return {
    get: (target, key) => {
      if (key === 'length') return items.length
      const item = itemAt(key)
      // array methods are those of the empty target
      return item === undefined ? Reflect.get(target, key) : jsonView(item, spend)
    },
    has: (target, key) => itemAt(key) !== undefined || Reflect.has(target, key),
  }
}

function objectHandler(
  object: JsonObject,
  spend: (values: number) => void,
): ProxyHandler<{ [key: string]: PlainValue }> {
  const memberAt = (key: string | symbol) => {
    const member = typeof key === 'string' ? getKey(object, key) : undefined
    return member === undefined ? undefined : jsonView(member, spend)
  }
  return {
    get: (_target, key) => memberAt(key),
    has: (_target, key) => typeof key === 'string' && hasKey(object, key),
    ownKeys: () => {
      const keys = keysOf(object)
      spend(keys.length)
      return keys
    },
    getOwnPropertyDescriptor: (_target, key) => {
      spend(1)
      if (typeof key !== 'string' || !hasKey(object, key)) return undefined
      return { value: undefined, enumerable: true, configurable: true, writable: true }
    },
  }
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/.test(key)
}
