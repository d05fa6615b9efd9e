import { formatFloat } from '../format-float.ts'
import type { JinjaFilter } from './jinja-filter.ts'
import type { JinjaNumber, JinjaValue } from './jinja-library.ts'
import { isList, isNumber, missing, numberValue } from './jinja-values.ts'
import { TemplateFailure } from '../template-format.ts'

/** Filters of numbers that the library does not have: `round`, and `sum`, `min` and `max` of a list. */
export const JINJA_NUMBER_FILTERS: ReadonlyMap<string, JinjaFilter> = new Map<string, JinjaFilter>([
  ['round', (operand, args, named) => rounded(operand, args[0] ?? named.get('precision'))],
  ['sum', (operand) => sum(numbersOf(operand))],
  ['min', (operand) => furthest(numbersOf(operand), (a, b) => a < b)],
  ['max', (operand) => furthest(numbersOf(operand), (a, b) => a > b)],
])

/** With a point always, as Jinja2 has it; halves go to the even digit. */
function rounded(operand: JinjaValue, precision: JinjaValue | undefined): JinjaValue {
  if (!isNumber(operand)) throw new TemplateFailure('round takes a number.')
  const places = precision && isNumber(precision) ? precision.value : 0
  if (!Number.isInteger(places) || places < 0 || places > MOST_PLACES) {
    throw new TemplateFailure(`round takes 0 to ${MOST_PLACES} places.`)
  }
  const size = Number(formatFloat(Math.abs(operand.value), 'f', places, false))
  return numberValue(operand.value < 0 ? -size : size, true)
}

const MOST_PLACES = 15

function numbersOf(value: JinjaValue): readonly JinjaNumber[] {
  if (!isList(value)) throw new TemplateFailure('sum, min and max take a list of numbers.')
  return value.value.map((item) => {
    if (isNumber(item)) return item
    throw new TemplateFailure('sum, min and max take numbers only; pick them with map(attribute=…).')
  })
}

function sum(numbers: readonly JinjaNumber[]): JinjaValue {
  const total = numbers.reduce((all, { value }) => all + value, 0)
  return numberValue(
    total,
    numbers.some(({ type }) => type === 'FloatValue'),
  )
}

/** The first that none is further than; nothing of no numbers. */
function furthest(numbers: readonly JinjaNumber[], isFurther: (a: number, b: number) => boolean): JinjaValue {
  let best: JinjaNumber | undefined
  for (const number of numbers) if (!best || isFurther(number.value, best.value)) best = number
  return best ?? missing()
}
