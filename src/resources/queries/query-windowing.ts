import { numberOf, type Json, type JsonObject } from '../../json/json.ts'
import { readClosedObject, type MemberReader } from '../documents/closed-object.ts'
import type { ProblemCollector } from '../documents/problem-collector.ts'
import { formatValueForPeople } from '../documents/shown-value.ts'
import { oneOfWords } from './one-of.ts'

/** Which traces of those that match, as it is stored (interface 13.4): every member as it was sent. */
export function readWindowing(value: Json, problems: ProblemCollector): JsonObject {
  return readClosedObject(value, 'windowing', MEMBERS, problems)
}

const A_TIME = 'a time in RFC 3339, such as 2026-03-01T09:30:00Z'

const MEMBERS: ReadonlyMap<string, MemberReader> = new Map([
  ['newest', member('newest', A_TIME, isTime)],
  ['oldest', member('oldest', A_TIME, isTime)],
  ['next', member('next', 'an id, a string that is not empty', isName)],
  ['limit', member('limit', 'a whole number from 1 on', isCount)],
  ['order', oneOfWords('order', ['ascending', 'descending'])],
  ['interval', member('interval', 'a number above 0', isPositive)],
  ['rate', member('rate', 'a number from 0 to 1', isShare)],
])

function member(name: string, rule: string, isRight: (value: Json) => boolean): MemberReader {
  return (value, problems) => {
    if (!isRight(value))
      problems.add(`${name} must be ${rule}, but it is ${formatValueForPeople(value)}`, 'value_error')
    return value
  }
}

function isTime(value: Json): boolean {
  const time = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/
  return typeof value === 'string' && time.test(value) && !Number.isNaN(Date.parse(value))
}

function isName(value: Json): boolean {
  return typeof value === 'string' && value !== ''
}

function isCount(value: Json): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}

function isPositive(value: Json): boolean {
  const number = numberOf(value) ?? 0
  return number > 0 && Number.isFinite(number)
}

function isShare(value: Json): boolean {
  const number = numberOf(value) ?? -1
  return number >= 0 && number <= 1
}
