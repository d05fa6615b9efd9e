import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../../json/json.ts'
import type { ConditionOperator } from '../../../resources/queries/filter-words.ts'
import type { Condition } from './condition.ts'
import { allOf, anyOf, MOST_SQL_VALUES, type SqlCondition } from './sql-condition.ts'

/**
 * What in SQL is true of every span of which the condition is: what an index or a look at the text can tell without reading the
 * record. Undefined when there is no such thing.
 */
export function sqlOfCondition(condition: Condition): SqlCondition | undefined {
  const { field, kind, operator, value = null } = condition
  const text = textOf(condition)
  if (NEGATIVE.includes(operator)) return undefined
  const values = operator === 'in' || operator === 'has' ? listOf(value) : [value]
  switch (kind) {
    case 'time':
      return field === 'start_time' ? timeCondition(condition) : undefined
    case 'list':
      return operator === 'exists' ? undefined : anyOf(values.map((it) => textCondition(text, it)))
    case 'attribute':
      return allOf([
        keyCondition(text, condition),
        IDENTICAL.includes(operator) ? anyOf(values.map((it) => textCondition(text, it))) : undefined,
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
  return typeof value === 'number' ? { sql: `s.start_time ${sign} ?`, values: [value] } : undefined
}

const COMPARISONS: ReadonlyMap<string, string> = new Map([
  ['is', '='],
  ['eq', '='],
  ['gt', '>'],
  ['gte', '>='],
  ['lt', '<'],
  ['lte', '<='],
])

/** A text in SQL that has what a condition is about; mostly what of the record the span shares with no other. */
function textOf({ field, path: [first, second] }: Condition): string {
  if (field === 'references') return 'coalesce(r.list, s.record)'
  const mayBeShared = first === 'svc' && (second === undefined || second === 'references')
  return mayBeShared ? 'coalesce(s.record || r.members, s.record)' : 's.record'
}

/** Every text within the value stands in the text that holds it, written the same way. */
function textCondition(text: string, value: Json): SqlCondition | undefined {
  return allOf(textsIn(value).map((it) => ({ sql: `instr(${text}, ?) > 0`, values: [JSON.stringify(it)] })))
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (isJsonArray(value)) return value.flatMap(textsIn)
  return isJsonObject(value) ? entriesOf(value).flatMap(([, member]) => textsIn(member)) : []
}

/** What is at a path has its last segment for a key, or for the end of one; unless it is in a list. */
function keyCondition(text: string, { path }: Condition): SqlCondition | undefined {
  const last = path.at(-1) ?? ''
  if (/^[0-9]*$/.test(last)) return undefined
  return { sql: `instr(${text}, ?) > 0`, values: [`${JSON.stringify(last).slice(1)}:`] }
}

function columnCondition(field: string, values: readonly Json[]): SqlCondition | undefined {
  const column = COLUMNS.get(field)
  const texts = values.filter((it) => typeof it === 'string')
  if (column === undefined || texts.length === 0 || texts.length > MOST_SQL_VALUES) return undefined
  const list = texts.map(() => '?').join()
  return { sql: column.replace('?', list), values: texts }
}

/** What says that a field is one of a list. For traces it is put so that SQLite begins with them, in whichever order they are walked. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['trace_id', 's.trace IN (SELECT id FROM traces WHERE trace_id IN (?))'],
  ...['trace_type', 'span_id', 'parent_id', 'span_type', 'span_name', 'status_code', 'session_id'].map(
    (name) => [name, `s.${name} IN (?)`] as const,
  ),
])
