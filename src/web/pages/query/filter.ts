/** A filter of traces as `data.filtering` has it: conditions that are joined, which may be filters themselves. */
export interface Filter {
  readonly join: string
  readonly parts: readonly (Filter | Condition)[]
}

/** One condition in words: which field, how it is compared, and with what. */
export interface Condition {
  readonly field: string
  readonly relation: string
  readonly value: string | undefined
}

/** A filter to be read by people. What is stored may have been pushed, so nothing of its shape is taken for granted. */
export function filterOf(filtering: unknown): Filter {
  const { operator, conditions } = membersOf(filtering)
  return {
    join: JOINS[String(operator ?? 'and')] ?? String(operator),
    parts: (Array.isArray(conditions) ? conditions : []).map((part: unknown) =>
      'conditions' in membersOf(part) ? filterOf(part) : conditionOf(part),
    ),
  }
}

function conditionOf(part: unknown): Condition {
  const { field, key, operator, value } = membersOf(part)
  const name = [field, key].filter((it) => it !== undefined && it !== null).map(String)
  const relation = String(operator ?? (field === 'content' ? 'contains' : 'is'))
  return {
    field: name.join(' '),
    relation: RELATIONS[relation] ?? relation,
    value: value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value),
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

const JOINS: Readonly<Record<string, string>> = {
  and: 'All of these',
  or: 'At least one of these',
  not: 'Not all of these',
  nand: 'Not all of these',
  nor: 'None of these',
}

const RELATIONS: Readonly<Record<string, string>> = {
  is: 'is',
  is_not: 'is not',
  eq: '=',
  neq: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  btwn: 'lies between',
  in: 'is one of',
  not_in: 'is none of',
  has: 'has',
  has_not: 'does not have',
  exists: 'is there',
  not_exists: 'is not there',
  startswith: 'begins with',
  endswith: 'ends with',
  contains: 'contains',
  matches: 'matches',
  like: 'is like',
}
