import { equalJson } from '../../../json/diff/equal-json.ts'
import type { JinjaFilters } from './jinja-filters.ts'
import type { JinjaValue } from './jinja-library.ts'
import {
  isList,
  isMapping,
  isMissing,
  isNumber,
  isText,
  jsonOfJinja,
  numberValue,
  jinjaText,
  truthOf,
} from './jinja-values.ts'
import type { RenderBudget } from '../render-budget.ts'
import { TemplateFailure } from '../template-format.ts'

/** The operators in which the library goes another way than Jinja2, or that could make much of little. */
export class JinjaOperators {
  readonly #budget: RenderBudget
  readonly #filters: JinjaFilters

  constructor(filters: JinjaFilters, budget: RenderBudget) {
    this.#filters = filters
    this.#budget = budget
  }

  /** What two values make; undefined where the library does as Jinja2 does. */
  apply(operator: string, left: JinjaValue, right: JinjaValue): JinjaValue | undefined {
    switch (operator) {
      case '~':
        return this.#concatenated(this.#filters.text(left), this.#filters.text(right))
      case '==':
        return truthOf(this.#equal(left, right))
      case '!=':
        return truthOf(!this.#equal(left, right))
      case 'in':
      case 'not in':
        if (!isList(right)) return undefined
        return truthOf(right.value.some((item) => this.#equal(left, item)) === (operator === 'in'))
      case '+':
        return this.#sum(left, right)
      case '/':
      case '//':
      case '%':
        return quotient(operator, left, right)
      default: {
        const order = ORDERS.get(operator)
        return order && isText(left) && isText(right) ? truthOf(order(left.value, right.value)) : undefined
      }
    }
  }

  #sum(left: JinjaValue, right: JinjaValue): JinjaValue | undefined {
    if (isText(left) && isText(right)) return this.#concatenated(left.value, right.value)
    if (!isText(left) && !isText(right)) return undefined
    throw new TemplateFailure('+ joins two texts or adds two numbers; join others with ~.')
  }

  #concatenated(left: string, right: string): JinjaValue {
    this.#budget.work(left.length + right.length)
    return jinjaText(left + right)
  }

  /** Numbers and booleans by their value, lists and objects by what they hold. */
  #equal(left: JinjaValue, right: JinjaValue): boolean {
    this.#budget.step()
    if (isMissing(left) || isMissing(right)) return isMissing(left) && isMissing(right)
    if (!isComposite(left) && !isComposite(right)) return asNumber(left.value) === asNumber(right.value)
    const spend = (size: number): void => this.#budget.work(size)
    return equalJson(jsonOfJinja(left, spend), jsonOfJinja(right, spend))
  }
}

function quotient(operator: string, left: JinjaValue, right: JinjaValue): JinjaValue | undefined {
  if (!isNumber(left) || !isNumber(right)) return undefined
  if (right.value === 0) throw new TemplateFailure('The template divides by zero.')
  if (operator !== '%') return undefined
  // Python's remainder has the sign of the divisor
  const remainder = ((left.value % right.value) + right.value) % right.value
  return numberValue(remainder, left.type === 'FloatValue' || right.type === 'FloatValue')
}

const ORDERS: ReadonlyMap<string, (left: string, right: string) => boolean> = new Map([
  ['<', (left: string, right: string) => left < right],
  ['<=', (left: string, right: string) => left <= right],
  ['>', (left: string, right: string) => left > right],
  ['>=', (left: string, right: string) => left >= right],
])

function isComposite(value: JinjaValue): boolean {
  return isList(value) || isMapping(value)
}

function asNumber(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value
}
