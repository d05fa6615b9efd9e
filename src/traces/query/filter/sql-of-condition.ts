import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../../json/json.ts'
import type { ConditionOperator } from '../../../resources/queries/filter-words.ts'
import { isoOf } from '../../span-time.ts'
import type { Condition } from './condition.ts'
import { allOf, anyOf, MOST_SQL_VALUES, type SqlCondition } from './sql-condition.ts'

/**
 * What in SQL is true of every span of which the condition is: what an index or a look at the text can tell without reading the
 * record. Undefined when there is no such thing.
 */
export function sqlOfCondition(condition: Condition): SqlCondition | undefined {
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

function timeCondition({ operator, value }: Condition): SqlCondition | undefined {
  if (operator === 'btwn' && isJsonArray(value)) {
    const [least, greatest] = value
    return allOf([comparison('>=', least), comparison('<=', greatest)])
  }
  const sign = COMPARISONS.get(operator)
  return sign === undefined ? undefined : comparison(sign, value)
}

function comparison(sign: string, value: Json | undefined): SqlCondition | undefined {
  return typeof value === 'number' ? { sql: `s.start_time ${sign} ?`, values: [isoOf(value)] } : undefined
}

const COMPARISONS: ReadonlyMap<string, string> = new Map([
  ['is', '='],
  ['eq', '='],
  ['gt', '>'],
  ['gte', '>='],
  ['lt', '<'],
  ['lte', '<='],
])

/** Every text within the value stands in the text that holds it, written the same way. */
function textCondition(value: Json): SqlCondition | undefined {
  return allOf(textsIn(value).map((it) => ({ sql: 'instr(s.record, ?) > 0', values: [JSON.stringify(it)] })))
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (isJsonArray(value)) return value.flatMap(textsIn)
  return isJsonObject(value) ? entriesOf(value).flatMap(([, member]) => textsIn(member)) : []
}

/** What is at a path has its last segment for a key, or for the end of one; unless it is in a list. */
function keyCondition({ path }: Condition): SqlCondition | undefined {
  const last = path.at(-1) ?? ''
  if (/^[0-9]*$/.test(last)) return undefined
  return { sql: 'instr(s.record, ?) > 0', values: [`${JSON.stringify(last).slice(1)}:`] }
}

function columnCondition(field: string, values: readonly Json[]): SqlCondition | undefined {
  const texts = values.filter((it) => typeof it === 'string')
  if (!COLUMNS.has(field) || texts.length === 0 || texts.length > MOST_SQL_VALUES) return undefined
  return { sql: `s.${field} IN (${texts.map(() => '?').join()})`, values: texts }
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
