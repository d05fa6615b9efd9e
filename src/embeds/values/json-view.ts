import {
  ExactNumber,
  getKey,
  hasKey,
  isJsonArray,
  keysOf,
  type Json,
  type JsonObject,
} from '../../json/json.ts'

/** A value as ordinary JavaScript shows it. */
export type PlainValue = null | boolean | number | string | PlainValue[] | { [key: string]: PlainValue }

/** So many characters of a string cost as much as one value. */
const STRING_UNIT = 256

/**
 * Exact JSON as ordinary objects and arrays, for a library that knows nothing else: nothing is copied, members are their
 * own and in the order of the text, numbers are the nearest doubles. `spend` is told how much is looked at and may throw.
 */
export function jsonView(value: Json, spend: (values: number) => void): PlainValue {
  if (typeof value === 'string') spend(1 + value.length / STRING_UNIT)
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
      // methods of arrays are those of the empty target
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
