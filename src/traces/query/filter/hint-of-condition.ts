import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../../json/json.ts'
import type { ConditionOperator } from '../../../resources/queries/filter-words.ts'
import { isoOf } from '../../span-time.ts'
import type { Condition } from './condition.ts'
import { allOf, anyOf, MOST_HINT_VALUES, type SpanHint } from './span-hint.ts'

/** The hint that a condition gives; undefined when it gives none. */
export function hintOfCondition(condition: Condition): SpanHint | undefined {
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

/** Of which the texts in the value stand in the record as they are. */
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

/** Every text within the value stands in the text that holds it, written the same way. */
function textCondition(value: Json): SpanHint | undefined {
  return allOf(textsIn(value).map((it) => ({ kind: 'text', text: JSON.stringify(it) })))
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (isJsonArray(value)) return value.flatMap(textsIn)
  return isJsonObject(value) ? entriesOf(value).flatMap(([, member]) => textsIn(member)) : []
}

/** What is at a path has its last segment for a key, or for the end of one; unless it is in a list. */
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

/** The fields that are columns, too. */
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
