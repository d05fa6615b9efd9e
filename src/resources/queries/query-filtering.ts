import {
  getKey,
  hasKey,
  isJsonArray,
  isJsonObject,
  withKey,
  type Json,
  type JsonObject,
} from '../../json/json.ts'
import { readClosedObject, type MemberReader } from '../documents/closed-object.ts'
import type { ProblemCollector } from '../documents/problem-collector.ts'
import { typeName } from '../documents/type-name.ts'
import { CONDITION_OPERATORS, FILTERING_OPERATORS } from './filter-words.ts'
import { oneOfWords } from './one-of.ts'

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
