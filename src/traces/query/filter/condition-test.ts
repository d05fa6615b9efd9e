import { containsJson } from '../../../json/diff/contains-json.ts'
import { equalJson } from '../../../json/diff/equal-json.ts'
import type { Json, JsonObject } from '../../../json/json.ts'
import {
  entriesOf,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  numberOf,
  withKey,
} from '../../../json/json.ts'
import type { ConditionOperator } from '../../../resources/queries/filter-words.ts'
import { readTime } from '../../span-time.ts'
import type { Condition } from './condition.ts'
import { isVersion, versionAsNumber } from './condition.ts'
import { isLike } from './is-like.ts'

/** Whether a span's record fulfils a condition. */
export type RecordTest = (record: JsonObject) => boolean

/**
 * The test that a condition is. `is` on attributes is containment, as deep as the value goes; the tests of text ignore case unless told
 * otherwise; a negation is true of every span that its positive is not true of, one without the field included.
 */
export function conditionTest(condition: Condition): RecordTest {
  const negated = NEGATIONS.get(condition.operator)
  if (negated !== undefined) {
    const test = conditionTest({ ...condition, operator: negated })
    return (record) => !test(record)
  }
  const { kind, path, field } = condition
  if (kind === 'content') return contentTest(condition)
  if (kind === 'list') return listTest(condition)
  const test = valueTest(condition)
  if (kind === 'time') return (record) => test(microsecondsIn(record, field))
  if (kind === 'attribute') {
    const compared = isVersion(path) ? versionAsNumber : (value: Json): Json => value
    return (record) => {
      const value = valueAt(getKey(record, 'attributes'), path)
      return test(value === undefined ? undefined : compared(value))
    }
  }
  return (record) => test(getKey(record, field))
}

const NEGATIONS: ReadonlyMap<ConditionOperator, ConditionOperator> = new Map([
  ['is_not', 'is'],
  ['neq', 'eq'],
  ['not_in', 'in'],
  ['has_not', 'has'],
  ['not_exists', 'exists'],
])

type ValueTest = (value: Json | undefined) => boolean

/** Null is absent (interface 2.13), and of what is absent no positive test is true. */
function valueTest(condition: Condition): ValueTest {
  const { operator, value: wanted = null } = condition
  const test = presentTest(condition, operator, wanted)
  return (value) => value !== undefined && value !== null && test(value)
}

function presentTest(
  condition: Condition,
  operator: ConditionOperator,
  wanted: Json,
): (value: Json) => boolean {
  const items = isJsonArray(wanted) ? wanted : [wanted]
  switch (operator) {
    case 'exists':
      return () => true
    case 'is':
      return (value) => holds(value, wanted)
    case 'eq':
      return (value) => equalJson(value, wanted)
    case 'in':
      return inTest(items, condition.wantsAll)
    case 'has':
      return hasTest(items, condition.wantsAll)
    case 'btwn':
      return (value) => {
        const [least, greatest] = [order(value, items[0]), order(value, items[1])]
        return least !== undefined && least >= 0 && greatest !== undefined && greatest <= 0
      }
    case 'gt':
      return ordered(wanted, (sign) => sign > 0)
    case 'gte':
      return ordered(wanted, (sign) => sign >= 0)
    case 'lt':
      return ordered(wanted, (sign) => sign < 0)
    case 'lte':
      return ordered(wanted, (sign) => sign <= 0)
    default:
      return textTest(condition, String(wanted))
  }
}

/** Containment: of objects member by member, of lists each wanted item in some item. */
function holds(value: Json, wanted: Json): boolean {
  if (!isJsonArray(wanted) || !isJsonArray(value)) return containsJson(value, wanted)
  return wanted.every((part) => value.some((item) => holds(item, part)))
}

/** A list has as its values what it holds. */
function inTest(wanted: readonly Json[], wantsAll: boolean): (value: Json) => boolean {
  return (value) => {
    const values = isJsonArray(value) ? value : [value]
    const isThere = (item: Json): boolean => values.some((one) => equalJson(one, item))
    return wantsAll ? wanted.every(isThere) : wanted.some(isThere)
  }
}

/** A list has items, an object has keys. */
function hasTest(wanted: readonly Json[], wantsAll: boolean): (value: Json) => boolean {
  return (value) => {
    const isThere = (part: Json): boolean =>
      isJsonArray(value)
        ? value.some((item) => containsJson(item, part))
        : isJsonObject(value) && typeof part === 'string' && hasKey(value, part)
    return wantsAll ? wanted.every(isThere) : wanted.some(isThere)
  }
}

function ordered(wanted: Json, isRight: (sign: number) => boolean): (value: Json) => boolean {
  return (value) => {
    const sign = order(value, wanted)
    return sign !== undefined && isRight(sign)
  }
}

/** Numbers by what they are, texts by code unit; nothing else has an order. */
function order(value: Json, other: Json | undefined): number | undefined {
  const [a, b] = [numberOf(value), numberOf(other)]
  if (a !== undefined && b !== undefined) return Math.sign(a - b)
  if (typeof value !== 'string' || typeof other !== 'string') return undefined
  return value === other ? 0 : value < other ? -1 : 1
}

function textTest(
  { operator, isCaseSensitive, isWhole }: Condition,
  wanted: string,
): (value: Json) => boolean {
  const fold = (text: string): string => (isCaseSensitive ? text : text.toLowerCase())
  const part = fold(wanted)
  const test = foldedTest(operator, part, isWhole)
  if (operator === 'matches') {
    const pattern = new RegExp(isWhole ? `^(?:${wanted})$` : wanted, isCaseSensitive ? '' : 'i')
    return (value) => typeof value === 'string' && pattern.test(value)
  }
  return (value) => typeof value === 'string' && test(fold(value))
}

function foldedTest(operator: ConditionOperator, part: string, isWhole: boolean): (text: string) => boolean {
  if (operator === 'like') return (text) => isLike(text, part)
  if (isWhole) return (text) => text === part
  if (operator === 'startswith') return (text) => text.startsWith(part)
  if (operator === 'endswith') return (text) => text.endsWith(part)
  return (text) => text.includes(part)
}

/** Conditions on references, links, events and hashes: parts of what they list. */
function listTest({ field, operator, value, wantsAll }: Condition): RecordTest {
  const parts = isJsonArray(value) ? value : []
  return (record) => {
    const listed = getKey(record, field)
    if (!isJsonArray(listed) || listed.length === 0) return false
    const items = field === 'references' ? listed.map(withNumber) : listed
    const isThere = (part: Json): boolean => items.some((item) => containsJson(item, part))
    if (operator === 'exists') return true
    return wantsAll ? parts.every(isThere) : parts.some(isThere)
  }
}

/** A reference with its version as a number. */
function withNumber(item: Json): Json {
  const version = isJsonObject(item) ? getKey(item, 'version') : undefined
  return typeof version === 'string' && isJsonObject(item)
    ? withKey(item, 'version', versionAsNumber(version))
    : item
}

/** The text of a span is its name, its message and every text in its attributes and events. */
function contentTest({ value, isCaseSensitive }: Condition): RecordTest {
  const fold = (text: string): string => (isCaseSensitive ? text : text.toLowerCase())
  const part = fold(String(value))
  const isIn = (json: Json | undefined): boolean => {
    if (typeof json === 'string') return fold(json).includes(part)
    if (isJsonArray(json)) return json.some(isIn)
    return isJsonObject(json) && entriesOf(json).some(([, member]) => isIn(member))
  }
  return (record) => CONTENT.some((field) => isIn(getKey(record, field)))
}

const CONTENT = ['span_name', 'status_message', 'attributes', 'events']

/** What is at a path; a segment is a key of an object or a position in a list. A key that has dots itself is found as well. */
function valueAt(json: Json | undefined, path: readonly string[]): Json | undefined {
  if (path.length === 0 || json === undefined) return json
  const [first = '', ...rest] = path
  if (isJsonArray(json))
    return /^(?:0|[1-9][0-9]*)$/.test(first) ? valueAt(json[Number(first)], rest) : undefined
  if (!isJsonObject(json)) return undefined
  const found = valueAt(getKey(json, first), rest)
  if (found !== undefined || rest.length === 0) return found
  const [second = '', ...others] = rest
  return valueAt(json, [`${first}.${second}`, ...others])
}

function microsecondsIn(record: JsonObject, field: string): number | undefined {
  const value = getKey(record, field)
  return typeof value === 'string' ? readTime(value) : undefined
}
