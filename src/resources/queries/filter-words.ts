/** The operators of a condition of a query of traces (interface 12.12). */
export const CONDITION_OPERATORS = [
  'is',
  'is_not',
  'eq',
  'neq',
  'gt',
  'lt',
  'gte',
  'lte',
  'btwn',
  'startswith',
  'endswith',
  'contains',
  'matches',
  'like',
  'in',
  'not_in',
  'has',
  'has_not',
  'exists',
  'not_exists',
] as const

export type ConditionOperator = (typeof CONDITION_OPERATORS)[number]

/** What joins the conditions of a filtering. */
export const FILTERING_OPERATORS = ['and', 'or', 'not', 'nand', 'nor'] as const

export type FilteringOperator = (typeof FILTERING_OPERATORS)[number]
