import type { ConditionOperator } from '../../../resources/queries/filter-words.ts'

/** What the value of a field is, which decides the operators and how they compare. */
export type FieldKind = 'trace id' | 'span id' | 'word' | 'text' | 'time' | 'attribute' | 'list' | 'content'

/** The fields of a condition (interface 12.12): the members of a span's record, and all of its text. */
export const FILTER_FIELDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
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

/** The operators that a field of each kind takes. */
export const FIELD_OPERATORS: Readonly<Record<FieldKind, readonly ConditionOperator[]>> = {
  'trace id': EQUALITY,
  'span id': EQUALITY,
  word: EQUALITY,
  text: [...EQUALITY, ...TEXT],
  time: [...EQUALITY, ...ORDER],
  attribute: [...EQUALITY, ...ORDER, ...TEXT, ...MEMBERSHIP],
  list: ['in', 'not_in', ...MEMBERSHIP, 'exists', 'not_exists'],
  content: ['contains'],
}
