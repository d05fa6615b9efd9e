import { countValues } from '../../json/count-values.ts'
import {
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  withKey,
} from '../../json/json.ts'
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

/** What joins the conditions of a filtering. */
export const FILTERING_OPERATORS = ['and', 'or', 'not', 'nand', 'nor'] as const

export type FilteringOperator = (typeof FILTERING_OPERATORS)[number]

/**
 * A filtering as it is stored (interface 13.4): conditions and further filterings, with the operator that joins
 * them filled in (`and`) where it was left out. Nothing else is filled in, and a condition's value is kept exactly. It may
 * be nested as deeply as a body.
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

/** Only its conditions tell a nested filtering from a condition. */
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

/** So many conditions and nested filterings a filtering may have in all. */
export const MOST_CONDITIONS = 1000

/** So many values the `value`s of all its conditions may hold: what a list such as that of `in` has. */
export const MOST_FILTER_VALUES = 10_000

/** So many characters the regular expressions of all its conditions may have: each costs more to prepare than to send. */
export const MOST_PATTERN = 100_000

/**
 * Whether a filtering, of whatever shape, is of a size that is worth reading; adds the problem if it is not. Looks at no more of it
 * than that takes: what a filter costs, from its check to its search, grows with its size.
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

/** Reads a member that must be one of a few words; `name` is what the sentence calls it. */
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
