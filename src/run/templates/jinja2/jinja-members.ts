import { TemplateFailure } from '../template-format.ts'
import type { JinjaOperators } from './jinja-operators.ts'
import { dictMethods, listMethods, textMethods } from './jinja-methods.ts'
import {
  Bag,
  Callable,
  isDict,
  isText,
  type JinjaValue,
  keyOf,
  kindOf,
  Missing,
  jinjaNumber,
  orElse,
  sequenceIn,
  jinjaText,
  Tuple,
} from './jinja-values.ts'

/** Finds a method of a value by name; undefined if there is none. */
export function methodOf(object: JinjaValue, name: string, operators: JinjaOperators): Callable | undefined {
  if (isText(object)) {
    const method = textMethods.get(name)
    return (
      method &&
      new Callable(name, (args) => method(lookedThrough(jinjaText(object), name, operators), args, operators))
    )
  }
  if (Array.isArray(object) || object instanceof Tuple) {
    const method = listMethods.get(name)
    return method && new Callable(name, (args) => method(object, args, operators))
  }
  if (isDict(object)) {
    const method = dictMethods.get(name)
    return method && new Callable(name, (args) => method(object, args, operators))
  }
  return undefined
}

/** Methods that read only the ends of a text. */
const AT_ENDS: ReadonlySet<string> = new Set(['startswith', 'endswith'])

/** Charges for scanning a text: most methods scan all of it, and a loop may repeat them. */
function lookedThrough(text: string, method: string, { spend }: JinjaOperators): string {
  if (!AT_ENDS.has(method)) spend(text.length)
  return text
}

/** Evaluates `object.name`: a dictionary's key, otherwise a method. A missing value is reported as `path`. */
export function attributeOf(
  object: JinjaValue,
  name: string,
  path: string,
  operators: JinjaOperators,
): JinjaValue {
  if (isDict(object))
    return orElse(orElse(object.get(name), methodOf(object, name, operators)), new Missing(path))
  if (object instanceof Bag) return orElse(object.attributes.get(name), new Missing(path))
  if (object instanceof Tuple) {
    const at = object.names.indexOf(name)
    if (at !== -1) return orElse(object.items[at], new Missing(path))
  }
  if (object === null || object instanceof Missing) return new Missing(path)
  return methodOf(object, name, operators) ?? new Missing(path)
}

/** Evaluates `object[key]`: an item of a list, a character, a dictionary's key, otherwise an attribute. */
export function itemOf(
  object: JinjaValue,
  key: JinjaValue,
  path: string,
  operators: JinjaOperators,
): JinjaValue {
  if (isDict(object)) {
    const found = object.get(keyOf(key))
    if (found !== undefined) return found
  }
  if (isText(key)) return attributeOf(object, jinjaText(key), path, operators)
  const number = jinjaNumber(key)
  if (typeof number !== 'bigint') return new Missing(path)
  if (isText(object)) operators.spend(jinjaText(object).length)
  const items = isText(object) ? Array.from(jinjaText(object)) : sequenceIn(object)
  return orElse(items?.at(Number(number)), new Missing(path))
}

/** Evaluates `object[start:end:step]` for a list, a tuple or a text. */
export function sliceOf(
  object: JinjaValue,
  limits: readonly JinjaValue[],
  operators: JinjaOperators,
): JinjaValue {
  const items = isText(object) ? Array.from(jinjaText(object)) : sequenceIn(object)
  if (!items) return new Missing('the slice')
  const [start, end, step = 1] = limits.map(limitOf)
  if (step === 0) throw new TemplateFailure('The step of a slice is not 0.')
  operators.spend(items.length)
  const sliced: JinjaValue[] = []
  const [low, high] = step > 0 ? [0, items.length] : [-1, items.length - 1]
  const placed = (limit: number | undefined, usual: number): number =>
    limit === undefined ? usual : Math.min(high, Math.max(low, limit < 0 ? limit + items.length : limit))
  const last = placed(end, step > 0 ? high : low)
  for (let at = placed(start, step > 0 ? low : high); step > 0 ? at < last : at > last; at += step)
    sliced.push(items[at] ?? null)
  if (isText(object)) return sliced.join('')
  return object instanceof Tuple ? new Tuple(sliced) : sliced
}

function limitOf(limit: JinjaValue): number | undefined {
  if (limit === null) return undefined
  const number = jinjaNumber(limit)
  if (typeof number === 'bigint') return Number(number)
  throw new TemplateFailure(`The limits of a slice are whole numbers, and not ${kindOf(limit)}.`)
}
