import {
  ExactNumber,
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  isJsonArray,
  numberOf,
} from '../../../json/json.ts'
import {
  type JinjaList,
  type JinjaMapping,
  type JinjaNumber,
  type JinjaScope,
  type JinjaText,
  type JinjaValue,
  jinja,
} from './jinja-library.ts'
import type { RenderBudget } from '../render-budget.ts'
import { TemplateFailure } from '../template-format.ts'
import { wordOf } from '../value-text.ts'

/** A list costs so much an item, as against a text a character. */
export const ITEM_SIZE = 64

// the library makes values of these classes, but does not hand the classes out
const classOf = (value: unknown): unknown => new jinja.Environment().set('sample', value).constructor
const Text = classOf('') as new (value: string) => JinjaValue
const Whole = classOf(1) as new (value: number) => JinjaValue
const Fraction = classOf(0.5) as new (value: number) => JinjaValue
const Truth = classOf(true) as new (value: boolean) => JinjaValue
const Null = classOf(null) as new (value: null) => JinjaValue
const Missing = classOf(undefined) as new () => JinjaValue
const List = classOf([]) as new (value: readonly JinjaValue[]) => JinjaValue
const Mapping = classOf({}) as new (value: ReadonlyMap<string, JinjaValue>) => JinjaValue

/** What a name that is not there gives. */
export const missing = (): JinjaValue => new Missing()
/** The value that a text, a truth, a number (whole, or with a point) or a list is. */
export const jinjaText = (text: string): JinjaValue => new Text(text)
export const truthOf = (truth: boolean): JinjaValue => new Truth(truth)
export const numberValue = (value: number, isFraction: boolean): JinjaValue =>
  isFraction ? new Fraction(value) : new Whole(value)
export const jinjaList = (items: readonly JinjaValue[]): JinjaValue => new List(items)

/** Which kind a value is of. */
export const isMissing = (value: JinjaValue): boolean => value.type === 'UndefinedValue'
export const isText = (value: JinjaValue): value is JinjaText => typeof value.value === 'string'
export const isNumber = (value: JinjaValue): value is JinjaNumber => typeof value.value === 'number'
export const isList = (value: JinjaValue): value is JinjaList => Array.isArray(value.value)
export const isMapping = (value: JinjaValue): value is JinjaMapping => value.value instanceof Map

/**
 * The scope a template starts in: `range` (of a length that the budget allows), the variables, and the constants, which nothing
 * hides. The variables are converted once, however many templates they are for.
 */
export function jinjaEnvironment(variables: JsonObject, budget: RenderBudget): JinjaScope {
  const environment = new jinja.Environment()
  environment.set('range', boundedRange(budget))
  for (const [name, value] of convertedMembers(variables)) environment.setVariable(name, value)
  for (const name of ['true', 'True']) environment.setVariable(name, new Truth(true))
  for (const name of ['false', 'False']) environment.setVariable(name, new Truth(false))
  for (const name of ['none', 'None']) environment.setVariable(name, new Null(null))
  return environment
}

/**
 * The JSON that a value is; null for nothing. `spend` is told of each value before it is looked into: lists can hold one another
 * so often that their text would never end. Throws a `TemplateFailure` for a function.
 */
export function jsonOfJinja(value: JinjaValue, spend: (characters: number) => void): Json {
  const origin = origins.get(value)
  if (origin !== undefined) return origin
  spend(ITEM_SIZE)
  if (isText(value)) return value.value
  if (isList(value)) return value.value.map((item) => jsonOfJinja(item, spend))
  if (isMapping(value)) {
    return fromEntries([...value.value].map(([key, member]) => [key, jsonOfJinja(member, spend)]))
  }
  if (isNumber(value)) return value.type === 'FloatValue' ? new ExactNumber(value.toString()) : value.value
  if (typeof value.value === 'boolean') return value.value
  if (typeof value.value === 'function') throw new TemplateFailure('A function is no text; call it with ().')
  return null
}

function boundedRange(budget: RenderBudget): (...limits: unknown[]) => number[] {
  return (...limits) => {
    const [first, second, step = 1] = limits.map((limit) => {
      if (typeof limit === 'number' && Number.isInteger(limit)) return limit
      throw new TemplateFailure('range() takes whole numbers.')
    })
    if (first === undefined || step === 0)
      throw new TemplateFailure('range() takes an end, or a start, an end and a step.')
    const [start, end] = second === undefined ? [0, first] : [first, second]
    const length = Math.max(0, Math.ceil((end - start) / step))
    budget.work(length * ITEM_SIZE)
    return Array.from({ length }, (_, index) => start + index * step)
  }
}

/** Values never change, so what was converted can be used again. */
const converted = new WeakMap<JsonObject, Map<string, JinjaValue>>()

function convertedMembers(object: JsonObject): Map<string, JinjaValue> {
  const known = converted.get(object)
  if (known) return known
  const members = new Map(entriesOf(object).map(([key, value]) => [key, convert(value)]))
  converted.set(object, members)
  return members
}

/** What a value was before; numbers keep their digits by it. */
const origins = new WeakMap<JinjaValue, Json>()

function convert(value: Json): JinjaValue {
  const made = make(value)
  origins.set(made, value)
  return made
}

function make(value: Json): JinjaValue {
  if (value === null) return new Null(null)
  if (typeof value === 'string') return new Text(value)
  if (typeof value === 'boolean') return new Truth(value)
  if (typeof value === 'number' || value instanceof ExactNumber) {
    return numberValue(numberOf(value) ?? 0, !/^-?[0-9]+$/.test(wordOf(value)))
  }
  if (isJsonArray(value)) return new List(value.map(convert))
  return new Mapping(new Map(entriesOf(value).map(([key, member]) => [key, convert(member)])))
}
