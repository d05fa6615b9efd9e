import {
  countValues,
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  withKey,
} from '../../base/json.ts'
import { type MemberReader, readClosedObject } from '../documents/closed-object.ts'
import { formatValueForPeople, type ProblemCollector, typeName } from '../documents/problems.ts'

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

/** The operators that join the conditions of a filtering. */
export const FILTERING_OPERATORS = ['and', 'or', 'not', 'nand', 'nor'] as const

export type FilteringOperator = (typeof FILTERING_OPERATORS)[number]

/**
 * Parses a filtering for storing (interface 13.4): conditions and nested filterings. A missing operator
 * becomes `and`; nothing else is filled in, and a condition's value is kept exactly. It may be nested as
 * deeply as a body.
 */
export function readFiltering(value: Json, problems: ProblemCollector): JsonObject {
  const filtering = readClosedObject(value, 'a filtering', FILTERING, problems)
  if (isJsonObject(value) && (getKey(value, 'conditions') ?? null) === null) {
    problems.add('a filtering needs "conditions", a list; it may be empty', 'missing')
  }
  return hasKey(filtering, 'operator') ? filtering : withKey(filtering, 'operator', 'and')
}

const FILTERING: ReadonlyMap<string, MemberReader> = new Map<string, MemberReader>([
  ['operator', oneOfWords('the operator of a filtering', FILTERING_OPERATORS)],
  ['conditions', readConditions],
])

function readConditions(value: Json, problems: ProblemCollector): Json | undefined {
  if (!isJsonArray(value)) {
    problems.add(`conditions must be a list, but it is ${typeName(value)}`, 'list_type')
    return undefined
  }
  return value.map((item, index) =>
    problems.below(index, () =>
      isFiltering(item) ? readFiltering(item, problems) : readCondition(item, problems),
    ),
  )
}

/** Only `conditions` distinguish a nested filtering from a condition. */
function isFiltering(item: Json): boolean {
  return isJsonObject(item) && (getKey(item, 'conditions') ?? null) !== null
}

function readCondition(value: Json, problems: ProblemCollector): JsonObject {
  const condition = readClosedObject(value, 'a condition', CONDITION, problems)
  if (isJsonObject(value) && (getKey(value, 'field') ?? null) === null) {
    problems.add('a condition needs "field", a string; a nested filtering needs "conditions"', 'missing')
  }
  return condition
}

const OPTIONS: ReadonlyMap<string, MemberReader> = new Map(
  ['case_sensitive', 'exact_match', 'all'].map((name) => [name, ofType(name, 'boolean')]),
)

const CONDITION: ReadonlyMap<string, MemberReader> = new Map<string, MemberReader>([
  ['field', ofType('field', 'string')],
  ['key', ofType('key', 'string')],
  ['value', (value) => value],
  ['operator', oneOfWords('the operator of a condition', CONDITION_OPERATORS)],
  ['options', (value, problems) => readClosedObject(value, 'options', OPTIONS, problems)],
])

function ofType(name: string, type: 'string' | 'boolean'): MemberReader {
  return (value, problems) => {
    if (typeof value !== type)
      problems.add(`${name} must be a ${type}, but it is ${typeName(value)}`, `${type}_type`)
    return value
  }
}

/** Maximum number of conditions and nested filterings in a filtering. */
export const MOST_CONDITIONS = 1000

/** Maximum number of values in all `value`s of its conditions, such as the list of `in`. */
export const MOST_FILTER_VALUES = 10_000

/** Maximum number of characters in all its regular expressions: each costs more to compile than to send. */
export const MOST_PATTERN = 100_000

/**
 * Checks that a filtering of any shape is within the size limits, and adds the problem if not. Reads only as
 * much as this takes: the cost of a filter, from its check to its search, grows with its size.
 */
export function isWithinBound(filtering: Json, problems: ProblemCollector): boolean {
  const problem = problemOf(filtering)
  if (problem !== undefined) problems.add(problem, 'too_long')
  return problem === undefined
}

function problemOf(filtering: Json): string | undefined {
  let conditions = 0
  let values = 0
  let pattern = 0
  const groups = [filtering]
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const items = isJsonObject(group) ? getKey(group, 'conditions') : undefined
    if (!isJsonArray(items)) continue
    conditions += items.length
    if (conditions > MOST_CONDITIONS) {
      return `must have at most ${MOST_CONDITIONS} conditions and nested filterings in all; ask in several requests`
    }
    for (const item of items) {
      if (!isJsonObject(item)) continue
      groups.push(item)
      values += countValues(getKey(item, 'value'), MOST_FILTER_VALUES - values)
      if (values > MOST_FILTER_VALUES) {
        return `the values of its conditions must hold at most ${MOST_FILTER_VALUES} values in all; ask in several requests`
      }
      pattern += patternLength(item)
      if (pattern > MOST_PATTERN) {
        return `its regular expressions must have at most ${MOST_PATTERN} characters in all; send shorter ones`
      }
    }
  }
  return undefined
}

function patternLength(condition: JsonObject): number {
  const value = getKey(condition, 'value')
  return getKey(condition, 'operator') === 'matches' && typeof value === 'string' ? value.length : 0
}

/** Reads a member that must be one of these words; `name` is its name in sentences. */
export function oneOfWords(name: string, words: readonly string[]): MemberReader {
  return (value, problems) => {
    if (typeof value === 'string' && words.includes(value)) return value
    problems.add(
      `${name} must be one of ${words.join(', ')}, but it is ${formatValueForPeople(value)}`,
      'enum',
    )
    return undefined
  }
}
