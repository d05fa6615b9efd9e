import { TemplateFailure } from '../template-format.ts'
import type { JinjaRuntime } from './jinja-filter.ts'
import { hasFilter } from './jinja-filters.ts'
import {
  Bag,
  Callable,
  type CallArguments,
  isDict,
  isFloat,
  isNumber,
  isText,
  type JinjaValue,
  kindOf,
  Markup,
  Missing,
  jinjaNumber,
  orElse,
  jinjaText,
  Tuple,
  View,
} from './jinja-values.ts'

export type JinjaTest = (value: JinjaValue, args: CallArguments, runtime: JinjaRuntime) => boolean

/** Finds a test by name. Throws a `TemplateFailure` if there is none. */
export function jinjaTest(name: string): JinjaTest {
  const test = TESTS.get(name)
  if (test) return test
  throw new TemplateFailure(`There is no test '${name}'; there are ${[...TESTS.keys()].join(', ')}.`)
}

function compared(
  ...names: readonly [operator: string, ...others: string[]]
): (readonly [string, JinjaTest])[] {
  const [operator] = names
  return names.map((name) => [
    name,
    (value, args, { operators }) => operators.compares(operator, value, first(args, name)),
  ])
}

const TESTS: ReadonlyMap<string, JinjaTest> = new Map<string, JinjaTest>([
  ['defined', (value) => !(value instanceof Missing)],
  ['undefined', (value) => value instanceof Missing],
  ['none', (value) => value === null],
  ['boolean', (value) => typeof value === 'boolean'],
  ['true', (value) => value === true],
  ['false', (value) => value === false],
  ['integer', (value) => typeof value === 'bigint'],
  ['float', (value) => isFloat(value)],
  // Python's booleans are numbers
  ['number', (value) => isNumber(value) || typeof value === 'boolean'],
  ['string', (value) => isText(value)],
  ['mapping', (value) => isDict(value)],
  ['sequence', (value) => isDict(value) || isText(value) || isSequence(value) || value instanceof Missing],
  ['iterable', (value) => isDict(value) || isText(value) || isSequence(value) || value instanceof Missing],
  ['callable', (value) => value instanceof Callable || (value instanceof Bag && value.call !== undefined)],
  ['escaped', (value) => value instanceof Markup],
  ['odd', (value) => remainderOf(value, 2n, 'odd') !== 0],
  ['even', (value) => remainderOf(value, 2n, 'even') === 0],
  [
    'divisibleby',
    (value, args) => {
      const by = jinjaNumber(first(args, 'divisibleby'))
      if (typeof by !== 'bigint' || by === 0n)
        throw new TemplateFailure('divisibleby takes a whole number but 0.')
      return remainderOf(value, by, 'divisibleby') === 0
    },
  ],
  ['lower', (value, _, { operators }) => isCased(operators.text(value), (text) => text.toLowerCase())],
  ['upper', (value, _, { operators }) => isCased(operators.text(value), (text) => text.toUpperCase())],
  ['sameas', (value, args) => Object.is(value, first(args, 'sameas'))],
  ...compared('==', 'eq', 'equalto'),
  ...compared('!=', 'ne'),
  ...compared('<', 'lt', 'lessthan'),
  ...compared('<=', 'le'),
  ...compared('>', 'gt', 'greaterthan'),
  ...compared('>=', 'ge'),
  ['in', (value, args, { operators }) => operators.contains(first(args, 'in'), value)],
  ['filter', (value) => isText(value) && hasFilter(jinjaText(value))],
  ['test', (value) => isText(value) && TESTS.has(jinjaText(value))],
])

function first({ positional, named }: CallArguments, name: string): JinjaValue {
  const value = orElse(positional[0], [...named.values()][0])
  if (value !== undefined) return value
  throw new TemplateFailure(`The test ${name} takes a value: is ${name}(…).`)
}

function isSequence(value: JinjaValue): boolean {
  return Array.isArray(value) || value instanceof Tuple || value instanceof View
}

function remainderOf(value: JinjaValue, by: bigint, name: string): number {
  const number = jinjaNumber(value)
  if (typeof number === 'bigint') return Number(number % by)
  if (number !== undefined) return number % Number(by)
  throw new TemplateFailure(`The test ${name} is for numbers, and not for ${kindOf(value)}.`)
}

/** Whether a text has letters with case, all in this case. */
function isCased(text: string, cased: (text: string) => string): boolean {
  return text === cased(text) && text.toLowerCase() !== text.toUpperCase()
}
