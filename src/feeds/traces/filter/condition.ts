import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  numberOf,
  stringifyJson,
} from '../../../base/json.ts'
import {
  formatValueForPeople,
  type ProblemCollector,
  type ConditionOperator,
} from '../../../registry/reading.ts'
import { readTime } from '../span-time.ts'
import { readSpanId, readTraceId } from '../trace-ids.ts'

/** A valid condition: the field exists, it takes the operator, and the value has the right type. */
export interface Condition {
  readonly field: string
  readonly kind: FieldKind
  /** The path in the attributes; empty for other fields. */
  readonly path: readonly string[]
  readonly operator: ConditionOperator
  /** Normalised: ids as stored, times in microseconds, the values of `in` as a list; undefined for `exists`. */
  readonly value: Json | undefined
  readonly isCaseSensitive: boolean
  /** For text: whether the whole text must equal or match the value. */
  readonly isWhole: boolean
  /** For lists: whether all values are required, not just one. */
  readonly wantsAll: boolean
}

/**
 * Reads a condition whose form was checked (`readFiltering`). An invalid condition is reported as a problem and answers undefined; a filter
 * is never silently ignored (interface 2.15).
 */
export function readCondition(condition: JsonObject, problems: ProblemCollector): Condition | undefined {
  const field = textOf(getKey(condition, 'field')) ?? ''
  const kind = FILTER_FIELDS.get(field)
  if (kind === undefined) {
    const fields = [...FILTER_FIELDS.keys()].join(', ')
    return problem(problems, 'field', `there is no field ${stringifyJson(field)}; the fields are ${fields}`)
  }
  // Checked before, with the form.
  const operator = (textOf(getKey(condition, 'operator')) ??
    (kind === 'content' ? 'contains' : 'is')) as ConditionOperator
  if (!FIELD_OPERATORS[kind].includes(operator)) {
    const allowed = FIELD_OPERATORS[kind].join(', ')
    return problem(problems, 'operator', `${field} takes no operator ${operator}; it takes ${allowed}`)
  }
  const key = textOf(getKey(condition, 'key'))
  if (kind === 'attribute' && !key) {
    return problem(
      problems,
      'key',
      'attributes need a key, the path of one with dots, such as svc.type.trace',
      'missing',
    )
  }
  const path = kind === 'attribute' && key ? key.split('.') : []
  if (path.length > MOST_SEGMENTS) {
    return problem(problems, 'key', `must have at most ${MOST_SEGMENTS} segments, but it has ${path.length}`)
  }
  const options = getKey(condition, 'options')
  const option = (name: string): boolean => isJsonObject(options) && getKey(options, name) === true
  const shape = {
    field,
    kind,
    path,
    operator,
    isCaseSensitive: option('case_sensitive'),
    isWhole: option('exact_match'),
    wantsAll: option('all'),
  }
  if (operator === 'exists' || operator === 'not_exists') return { ...shape, value: undefined }
  const sent = getKey(condition, 'value')
  if (sent === undefined) {
    return problem(
      problems,
      'value',
      `${operator} needs a value; for what is absent there are exists and not_exists`,
      'missing',
    )
  }
  const value = problems.below('value', () => readValue(shape, sent, problems))
  if (value === undefined) return undefined
  return { ...shape, value: isVersion(path) ? versionsAsNumbers(value) : value }
}

const MOST_SEGMENTS = 100

function problem(problems: ProblemCollector, member: string, msg: string, type = 'value_error'): undefined {
  problems.below(member, () => problems.add(msg, type))
  return undefined
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

type Shape = Omit<Condition, 'value'>

/** The value of an operator, normalised for the comparison. */
function readValue(shape: Shape, value: Json, problems: ProblemCollector): Json | undefined {
  const { kind, operator, field } = shape
  if (kind === 'list') return listOf(value).map((item) => partOf(field, item))
  if (operator === 'in' || operator === 'not_in') {
    if (isJsonArray(value)) return readAll(kind, value, problems)
    problems.add(
      `${operator} needs a list of values, but this is ${formatValueForPeople(value)}`,
      'list_type',
    )
    return undefined
  }
  if (operator === 'btwn') {
    if (isJsonArray(value) && value.length === 2) return readAll(kind, value, problems)
    problems.add(
      `btwn needs a list of two values, the least and the greatest, but this is ${formatValueForPeople(value)}`,
      'list_type',
    )
    return undefined
  }
  if (!isTextOperator(operator)) return readOne(kind, value, problems)
  if (typeof value !== 'string') {
    problems.add(`${operator} needs a text, but this is ${formatValueForPeople(value)}`, 'string_type')
    return undefined
  }
  return operator === 'matches' && !isPattern(value, problems) ? undefined : value
}

function isTextOperator(operator: ConditionOperator): boolean {
  return ['startswith', 'endswith', 'contains', 'matches', 'like'].includes(operator)
}

function isPattern(text: string, problems: ProblemCollector): boolean {
  try {
    new RegExp(text)
    return true
  } catch (error) {
    // RegExp throws only SyntaxErrors, with a message about the problem.
    const why = (error as Error).message
    problems.add(`${stringifyJson(text)} is no regular expression of JavaScript: ${why}`, 'invalid_pattern')
    return false
  }
}

function readAll(kind: FieldKind, values: readonly Json[], problems: ProblemCollector): Json | undefined {
  const read = values.map((value, index) => problems.below(index, () => readOne(kind, value, problems)))
  return read.every((value) => value !== undefined) ? (read as readonly Json[]) : undefined
}

function readOne(kind: FieldKind, value: Json, problems: ProblemCollector): Json | undefined {
  const reader = READERS.get(kind)
  if (reader === undefined) return value
  const read = reader.read(value)
  if (read === undefined)
    problems.add(`must be ${reader.rule}, but it is ${formatValueForPeople(value)}`, 'value_error')
  return read
}

interface ValueReader {
  readonly rule: string
  readonly read: (value: Json) => Json | undefined
}

const READERS: ReadonlyMap<FieldKind, ValueReader> = new Map<FieldKind, ValueReader>([
  [
    'trace id',
    {
      rule: 'a trace id, 32 hex digits',
      read: (value) => (typeof value === 'string' ? readTraceId(value) : undefined),
    },
  ],
  [
    'span id',
    {
      rule: 'a span id, 16 hex digits',
      read: (value) => (typeof value === 'string' ? readSpanId(value) : undefined),
    },
  ],
  ['word', { rule: 'a text', read: textOf }],
  ['text', { rule: 'a text', read: textOf }],
  [
    'time',
    {
      rule: 'a time in RFC 3339, such as 2026-03-01T09:30:00Z, or a number of 10, 13, 16 or 19 digits',
      read: (value) =>
        readTime(
          typeof value === 'string' || numberOf(value) === undefined ? String(value) : stringifyJson(value),
        ),
    },
  ],
])

function listOf(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : [value]
}

/** A part of a reference, link or event, with ids and version in the form of records. */
function partOf(field: string, part: Json): Json {
  if (!isJsonObject(part)) return part
  return fromEntries(entriesOf(part).map(([key, value]) => [key, memberOf(field, key, value)]))
}

/** Versions are compared as numbers; older records have them as texts. */
export function versionAsNumber(value: Json): Json {
  return typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value
}

/** Whether an attribute path leads to the version of a reference. */
export function isVersion([first, second, ...rest]: readonly string[]): boolean {
  return first === 'svc' && second === 'references' && rest.length > 1 && rest.at(-1) === 'version'
}

function versionsAsNumbers(value: Json): Json {
  return isJsonArray(value) ? value.map(versionAsNumber) : versionAsNumber(value)
}

function memberOf(field: string, key: string, value: Json): Json {
  if (field === 'references' && key === 'version') return versionAsNumber(value)
  if (typeof value !== 'string') return value
  if (field === 'references' && key === 'id') return value.toLowerCase()
  if (field === 'links' && key === 'trace_id') return readTraceId(value) ?? value
  if (field === 'links' && key === 'span_id') return readSpanId(value) ?? value
  return value
}

/** The type of a field, which determines its operators and comparisons. */
type FieldKind = 'trace id' | 'span id' | 'word' | 'text' | 'time' | 'attribute' | 'list' | 'content'

/** The fields of a condition (interface 12.12): members of a span's record, and all of its text. */
const FILTER_FIELDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['trace_id', 'trace id'],
  ['trace_type', 'word'],
  ['span_id', 'span id'],
  ['span_type', 'word'],
  ['parent_id', 'span id'],
  ['span_name', 'text'],
  ['span_kind', 'word'],
  ['start_time', 'time'],
  ['end_time', 'time'],
  ['status_code', 'word'],
  ['status_message', 'text'],
  ['attributes', 'attribute'],
  ['events', 'list'],
  ['links', 'list'],
  ['references', 'list'],
  ['hashes', 'list'],
  ['created_at', 'time'],
  ['updated_at', 'time'],
  ['deleted_at', 'time'],
  ['created_by_id', 'word'],
  ['updated_by_id', 'word'],
  ['deleted_by_id', 'word'],
  ['session_id', 'text'],
  ['user_id', 'text'],
  ['agent_id', 'text'],
  ['content', 'content'],
])

const EQUALITY = ['is', 'is_not', 'eq', 'neq', 'in', 'not_in', 'exists', 'not_exists'] as const
const ORDER = ['gt', 'lt', 'gte', 'lte', 'btwn'] as const
const TEXT = ['startswith', 'endswith', 'contains', 'matches', 'like'] as const
const MEMBERSHIP = ['has', 'has_not'] as const

const FIELD_OPERATORS: Readonly<Record<FieldKind, readonly ConditionOperator[]>> = {
  'trace id': EQUALITY,
  'span id': EQUALITY,
  word: EQUALITY,
  text: [...EQUALITY, ...TEXT],
  time: [...EQUALITY, ...ORDER],
  attribute: [...EQUALITY, ...ORDER, ...TEXT, ...MEMBERSHIP],
  list: ['in', 'not_in', ...MEMBERSHIP, 'exists', 'not_exists'],
  content: ['contains'],
}
