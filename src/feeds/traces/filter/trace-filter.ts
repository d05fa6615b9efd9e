import {
  entriesOf,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  numberOf,
  withKey,
  equalJson,
} from '../../../base/json.ts'
import {
  ProblemCollector,
  type ConditionOperator,
  type FilteringOperator,
  isWithinBound,
  readFiltering,
} from '../../../registry/reading.ts'
import { type Condition, isVersion, readCondition, versionAsNumber } from './condition.ts'
import { allOf, anyOf, MOST_HINT_VALUES, type SpanHint } from './span-hint.ts'
import { readTime } from '../span-time.ts'
import { isoOf } from '../span-record.ts'
import { containsJson } from '../../../base/diff.ts'

/** A filtering (interface 12.12), ready for use. */
export interface TraceFilter {
  /** Whether a span's record matches. */
  readonly matches: RecordTest
  /** A condition with which a database can skip spans; undefined if there is none. */
  readonly hint: SpanHint | undefined
  /** Whether the filter only names traces; then windowing is ignored (interface 12.12). */
  readonly onlyNamesTraces: boolean
}

/** Reads a filtering. Refuses with `invalid_request`, listing every problem at its place below `loc`. */
export function readTraceFilter(filtering: Json, loc: readonly (string | number)[]): TraceFilter {
  const problems = new ProblemCollector(loc)
  const read = isWithinBound(filtering, problems) ? readFiltering(filtering, problems) : {}
  const malformed = problems.refusal('invalid_request')
  if (malformed) throw malformed
  const filter = filterOf(read, problems)
  const refusal = problems.refusal('invalid_request')
  if (refusal) throw refusal
  return filter
}

/** A filtering without conditions matches everything, whatever its operator. */
function filterOf(filtering: JsonObject, problems: ProblemCollector): TraceFilter {
  // Checked before: a list of objects, and a valid operator.
  const conditions = getKey(filtering, 'conditions') as readonly JsonObject[]
  const operator = getKey(filtering, 'operator') as FilteringOperator
  const parts = conditions.map((item, index) =>
    problems.below('conditions', () =>
      problems.below(index, () =>
        isFiltering(item) ? filterOf(item, problems) : conditionFilter(item, problems),
      ),
    ),
  )
  if (parts.length === 0) return { matches: () => true, hint: undefined, onlyNamesTraces: false }
  const every: RecordTest = (record) => parts.every(({ matches }) => matches(record))
  const some: RecordTest = (record) => parts.some(({ matches }) => matches(record))
  const hints = parts.map(({ hint }) => hint)
  const [only] = parts
  const onlyNamesTraces = parts.length === 1 && only !== undefined && only.onlyNamesTraces
  if (operator === 'and') return { matches: every, hint: allOf(hints), onlyNamesTraces }
  if (operator === 'or') return { matches: some, hint: anyOf(hints), onlyNamesTraces }
  const test = operator === 'nor' ? some : every
  return { matches: (record) => !test(record), hint: undefined, onlyNamesTraces: false }
}

function isFiltering(item: JsonObject): boolean {
  return isJsonArray(getKey(item, 'conditions'))
}

function conditionFilter(item: JsonObject, problems: ProblemCollector): TraceFilter {
  const condition = isJsonObject(item) ? readCondition(item, problems) : undefined
  if (!condition) return { matches: () => false, hint: undefined, onlyNamesTraces: false }
  return {
    matches: conditionTest(condition),
    hint: hintOfCondition(condition),
    onlyNamesTraces: condition.kind === 'trace id' && isNaming(condition),
  }
}

function isNaming({ operator }: Condition): boolean {
  return operator === 'is' || operator === 'eq' || operator === 'in'
}

/** The hint of a condition; undefined if there is none. */
function hintOfCondition(condition: Condition): SpanHint | undefined {
  const { field, kind, operator, value = null } = condition
  if (NEGATIVE.includes(operator)) return undefined
  const values = operator === 'in' || operator === 'has' ? listOf(value) : [value]
  switch (kind) {
    case 'time':
      return field === 'start_time' ? timeCondition(condition) : undefined
    case 'list':
      return operator === 'exists' ? undefined : anyOf(values.map((it) => textCondition(it)))
    case 'attribute':
      return allOf([
        keyCondition(condition),
        IDENTICAL.includes(operator) ? anyOf(values.map((it) => textCondition(it))) : undefined,
      ])
    default:
      return IDENTICAL.includes(operator) ? columnCondition(field, values) : undefined
  }
}

const NEGATIVE: readonly ConditionOperator[] = ['is_not', 'neq', 'not_in', 'has_not', 'not_exists']

/** With these operators, texts in the value occur unchanged in the record. */
const IDENTICAL: readonly ConditionOperator[] = ['is', 'eq', 'in']

function listOf(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : [value]
}

function timeCondition({ operator, value }: Condition): SpanHint | undefined {
  if (operator === 'btwn' && isJsonArray(value)) {
    const [least, greatest] = value
    return allOf([comparison('>=', least), comparison('<=', greatest)])
  }
  const sign = COMPARISONS.get(operator)
  return sign === undefined ? undefined : comparison(sign, value)
}

function comparison(sign: Sign, value: Json | undefined): SpanHint | undefined {
  return typeof value === 'number'
    ? { kind: 'column', column: 'start_time', sign, values: [isoOf(value)] }
    : undefined
}

type Sign = Extract<SpanHint, { kind: 'column' }>['sign']

const COMPARISONS: ReadonlyMap<ConditionOperator, Sign> = new Map<ConditionOperator, Sign>([
  ['is', '='],
  ['eq', '='],
  ['gt', '>'],
  ['gte', '>='],
  ['lt', '<'],
  ['lte', '<='],
])

/** Every text in the value occurs in the record in the same JSON form. */
function textCondition(value: Json): SpanHint | undefined {
  return allOf(textsIn(value).map((it) => ({ kind: 'text', text: JSON.stringify(it) })))
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (isJsonArray(value)) return value.flatMap(textsIn)
  return isJsonObject(value) ? entriesOf(value).flatMap(([, member]) => textsIn(member)) : []
}

/** The last segment of the path is the key, or the end of the key, of the value in the record; except in a list. */
function keyCondition({ path }: Condition): SpanHint | undefined {
  const last = path.at(-1) ?? ''
  if (/^[0-9]*$/.test(last)) return undefined
  return { kind: 'text', text: `${JSON.stringify(last).slice(1)}:` }
}

function columnCondition(field: string, values: readonly Json[]): SpanHint | undefined {
  const texts = values.filter((it) => typeof it === 'string')
  if (!COLUMNS.has(field) || texts.length === 0 || texts.length > MOST_HINT_VALUES) return undefined
  return { kind: 'column', column: field, sign: '=', values: texts }
}

/** The fields that are also columns. */
const COLUMNS: ReadonlySet<string> = new Set([
  ...[
    'trace_id',
    'trace_type',
    'span_id',
    'parent_id',
    'span_type',
    'span_name',
    'status_code',
    'session_id',
  ],
])

/** Whether a span's record fulfils a condition. */
type RecordTest = (record: JsonObject) => boolean

/**
 * The test of a condition. `is` on attributes tests containment at any depth. Text tests ignore case by default. A negated operator is true
 * for every span for which the positive one is false, including spans without the field.
 */
function conditionTest(condition: Condition): RecordTest {
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

/** Null counts as absent (interface 2.13); positive tests are false for absent values. */
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

/** Containment: objects are compared member by member; of a list, some item must match each wanted item. */
function holds(value: Json, wanted: Json): boolean {
  if (!isJsonArray(wanted) || !isJsonArray(value)) return containsJson(value, wanted)
  return wanted.every((part) => value.some((item) => holds(item, part)))
}

/** The values of a list are its items. */
function inTest(wanted: readonly Json[], wantsAll: boolean): (value: Json) => boolean {
  return (value) => {
    const values = isJsonArray(value) ? value : [value]
    const isThere = (item: Json): boolean => values.some((one) => equalJson(one, item))
    return wantsAll ? wanted.every(isThere) : wanted.some(isThere)
  }
}

/** A list has its items, an object its keys. */
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

/** Compares numbers by value and texts by code unit; other values have no order. */
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

/** Tests conditions on references, links, events and hashes against their items. */
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

/** Searches the span's name, its message, and all texts in its attributes and events. */
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

/** The value at a path. A segment is a key of an object or an index of a list. Keys with dots are found too. */
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

/** Whether a text matches an SQL pattern: `%` is any text, `_` is one character. Takes at most the product of the lengths. */
export function isLike(text: string, pattern: string): boolean {
  let at = 0
  let wanted = 0
  // The position of the last %, and where the rest of the pattern was last tried.
  let star = -1
  let tried = 0
  while (at < text.length) {
    const char = pattern[wanted]
    if (char === '%') {
      star = wanted++
      tried = at
    } else if (char === '_' || (char !== undefined && char === text[at])) {
      wanted++
      at++
    } else if (star >= 0) {
      wanted = star + 1
      at = ++tried
    } else return false
  }
  while (pattern[wanted] === '%') wanted++
  return wanted === pattern.length
}
