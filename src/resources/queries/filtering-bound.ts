import { countValues } from '../../json/count-values.ts'
import { getKey, isJsonArray, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { ProblemCollector } from '../documents/problem-collector.ts'

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
