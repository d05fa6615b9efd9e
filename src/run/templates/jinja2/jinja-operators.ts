import type { RenderBudget } from '../render-budget.ts'
import { TemplateFailure } from '../template-format.ts'
import { formatPercent } from './jinja-format.ts'
import {
  bounded,
  capital,
  ITEM_SIZE,
  isDict,
  isText,
  type JinjaValue,
  kindOf,
  keyOf,
  Missing,
  jinjaNumber,
  sequenceIn,
  shownText,
  jinjaText,
  tooManyDigits,
  Tuple,
} from './jinja-values.ts'

/** Operators on values. Operations that could grow a value are charged to the budget before they run. */
export class JinjaOperators {
  readonly #budget: RenderBudget

  constructor(budget: RenderBudget) {
    this.#budget = budget
  }

  /** A value as text. */
  readonly text = (value: JinjaValue): string => shownText(value, this.spend)

  /** Charges the budget for a value before it is built. */
  readonly spend = (size: number): void => this.#budget.work(size)

  /** Evaluates `left operator right` on numbers, texts and lists, as Python does. */
  binary(operator: string, left: JinjaValue, right: JinjaValue): JinjaValue {
    refuseMissing(left, right)
    const [a, b] = [jinjaNumber(left), jinjaNumber(right)]
    if (a !== undefined && b !== undefined) return arithmetic(operator, a, b)
    if (operator === '%' && isText(left)) return formatPercent(jinjaText(left), right, this)
    if (operator === '+') return this.#sum(left, right)
    if (operator === '*' && typeof b === 'bigint') return this.#repeated(left, b)
    if (operator === '*' && typeof a === 'bigint') return this.#repeated(right, a)
    throw new TemplateFailure(`${operator} cannot be done with ${kindOf(left)} and ${kindOf(right)}.`)
  }

  #sum(left: JinjaValue, right: JinjaValue): JinjaValue {
    if (isText(left) && isText(right)) {
      const [a, b] = [jinjaText(left), jinjaText(right)]
      this.spend(a.length + b.length)
      return a + b
    }
    if (Array.isArray(left) && Array.isArray(right)) {
      this.spend(ITEM_SIZE * (left.length + right.length))
      return [...left, ...right]
    }
    if (left instanceof Tuple && right instanceof Tuple) return new Tuple([...left.items, ...right.items])
    throw new TemplateFailure('+ joins two texts or two lists, or adds two numbers; join others with ~.')
  }

  #repeated(value: JinjaValue, count: bigint): JinjaValue {
    const times = Math.max(0, Number(count))
    if (isText(value)) {
      this.spend(jinjaText(value).length * times)
      return jinjaText(value).repeat(times)
    }
    if (Array.isArray(value) || value instanceof Tuple) {
      const items = Array.isArray(value) ? value : value.items
      this.spend(ITEM_SIZE * items.length * times)
      const all = Array.from({ length: times }, () => items).flat()
      return Array.isArray(value) ? all : new Tuple(all)
    }
    throw new TemplateFailure(
      `${capital(kindOf(value))} cannot be repeated; * takes numbers, or a text or list and a number.`,
    )
  }

  /** Concatenates the texts of values. */
  joined(values: readonly JinjaValue[]): string {
    let all = ''
    for (const value of values) {
      const text = this.text(value)
      this.spend(text.length)
      all += text
    }
    return all
  }

  /** Evaluates a comparison `left operator right`. */
  compares(operator: string, left: JinjaValue, right: JinjaValue): boolean {
    switch (operator) {
      case '==':
        return this.equal(left, right)
      case '!=':
        return !this.equal(left, right)
      case 'in':
        return this.contains(right, left)
      case 'not in':
        return !this.contains(right, left)
      case '<':
        return this.order(left, right) < 0
      case '<=':
        return this.order(left, right) <= 0
      case '>':
        return this.order(left, right) > 0
      default:
        return this.order(left, right) >= 0
    }
  }

  /** Numbers and booleans are equal by value; lists, tuples and dictionaries by content. */
  equal(left: JinjaValue, right: JinjaValue): boolean {
    this.#budget.step()
    if (left === right) return true
    if (left instanceof Missing || right instanceof Missing)
      return left instanceof Missing && right instanceof Missing
    if (isText(left)) return isText(right) && jinjaText(left) === jinjaText(right)
    const [a, b] = [jinjaNumber(left), jinjaNumber(right)]
    // also compares an int with a float
    if (a !== undefined || b !== undefined) return a !== undefined && b !== undefined && a == b
    if (isDict(left)) return isDict(right) && this.#equalDicts(left, right)
    const [items, others] = [sequenceIn(left), sequenceIn(right)]
    if (!items || !others || left?.constructor !== right?.constructor) return false
    return items.length === others.length && items.every((item, at) => this.equal(item, others[at] ?? null))
  }

  #equalDicts(left: ReadonlyMap<unknown, JinjaValue>, right: ReadonlyMap<unknown, JinjaValue>): boolean {
    if (left.size !== right.size) return false
    for (const [key, value] of left) {
      const other = right.get(key)
      if (other === undefined || !this.equal(value, other)) return false
    }
    return true
  }

  /** Whether a value is an item, a key or a part of another. */
  contains(whole: JinjaValue, part: JinjaValue): boolean {
    if (whole instanceof Missing) return false
    if (isText(whole)) {
      if (isText(part)) {
        this.spend(jinjaText(whole).length / 8)
        return jinjaText(whole).includes(jinjaText(part))
      }
      throw new TemplateFailure(`In a text there are only texts, and ${kindOf(part)} is none.`)
    }
    if (isDict(whole)) return whole.has(keyOf(part))
    const items = sequenceIn(whole)
    if (items) return items.some((item) => this.equal(item, part))
    throw new TemplateFailure(`${capital(kindOf(whole))} holds nothing that one could look for.`)
  }

  /**
   * Compares two values: negative if the first sorts first, positive if the second does. Compares texts by
   * code points, lists item by item.
   */
  order(left: JinjaValue, right: JinjaValue): number {
    this.#budget.step()
    refuseMissing(left, right)
    const [a, b] = [jinjaNumber(left), jinjaNumber(right)]
    if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : 0
    if (isText(left) && isText(right)) return orderOfTexts(jinjaText(left), jinjaText(right))
    const [items, others] = [sequenceIn(left), sequenceIn(right)]
    if (items && others && left?.constructor === right?.constructor) {
      for (const [at, item] of items.entries()) {
        const other = others[at]
        if (other === undefined) return 1
        if (!this.equal(item, other)) return this.order(item, other)
      }
      return items.length - others.length
    }
    throw new TemplateFailure(
      `${capital(kindOf(left))} and ${kindOf(right)} have no order; compare values of one kind.`,
    )
  }

  /** The items of an iterable value: a text's characters, a dictionary's keys. */
  items(value: JinjaValue): readonly JinjaValue[] {
    if (value instanceof Missing) return []
    const items = sequenceIn(value)
    if (items) return items
    if (isDict(value)) {
      this.spend(ITEM_SIZE * value.size)
      return [...value.keys()]
    }
    if (isText(value)) {
      this.spend(ITEM_SIZE * jinjaText(value).length)
      return Array.from(jinjaText(value))
    }
    throw new TemplateFailure(`${capital(kindOf(value))} is no list: ${this.text(value).slice(0, 80)}.`)
  }
}

/** Throws if a value is missing. */
export function refuseMissing(...values: readonly JinjaValue[]): void {
  for (const value of values) {
    if (value instanceof Missing) throw new TemplateFailure(`'${value.what}' is missing.`)
  }
}

/** Compares texts by code points; UTF-16 units may sort differently. */
function orderOfTexts(left: string, right: string): number {
  if (left === right) return 0
  let at = 0
  while (at < left.length && left.charCodeAt(at) === right.charCodeAt(at)) at++
  const [a = -1, b = -1] = [left.codePointAt(at), right.codePointAt(at)]
  return a < b ? -1 : 1
}

function arithmetic(operator: string, a: bigint | number, b: bigint | number): JinjaValue {
  const areInts = typeof a === 'bigint' && typeof b === 'bigint'
  if ('/%//'.includes(operator) && Number(b) === 0) throw new TemplateFailure('The template divides by zero.')
  switch (operator) {
    case '+':
      return areInts ? bounded(a + b) : Number(a) + Number(b)
    case '-':
      return areInts ? bounded(a - b) : Number(a) - Number(b)
    case '*':
      return areInts ? bounded(a * b) : Number(a) * Number(b)
    case '/':
      return Number(a) / Number(b)
    case '//':
      return areInts ? floored(a, b) : Math.floor(Number(a) / Number(b))
    case '%':
      return areInts ? a - floored(a, b) * b : remainder(Number(a), Number(b))
    default:
      return power(a, b)
  }
}

function floored(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return quotient * b !== a && a < 0n !== b < 0n ? quotient - 1n : quotient
}

/** The remainder with the sign of the divisor. */
function remainder(a: number, b: number): number {
  const rest = a % b
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest
}

function power(a: bigint | number, b: bigint | number): JinjaValue {
  if (typeof a === 'bigint' && typeof b === 'bigint' && b >= 0n) {
    const digits = String(a < 0n ? -a : a).length
    if (a > 1n || a < -1n) if ((digits - 1) * Number(b) > 5000 || b > 20_000n) throw tooManyDigits()
    return bounded(a ** b)
  }
  const result = Number(a) ** Number(b)
  if (Number.isFinite(result)) return result
  throw new TemplateFailure('The result of ** is no number, or one that is too large.')
}
