import { TemplateFailure } from '../template-format.ts'
import type { JinjaOperators } from './jinja-operators.ts'
import {
  Bag,
  Callable,
  type CallArguments,
  isDict,
  ITEM_SIZE,
  type JinjaKey,
  type JinjaValue,
  keyOf,
  kindOf,
  orElse,
  Tuple,
  View,
} from './jinja-values.ts'

/** The functions that every template can call; a variable of the same name hides one. */
export function jinjaFunctions(operators: JinjaOperators): ReadonlyMap<string, Callable> {
  const functions: readonly (readonly [string, Callable['call']])[] = [
    ['range', (args) => range(args, operators)],
    ['dict', (args) => dictOf('dict', args, operators)],
    [
      'namespace',
      (args) => {
        const members = [...dictOf('namespace', args, operators)].map(
          ([key, value]) => [String(key), value] as const,
        )
        return new Bag('namespace', new Map(members))
      },
    ],
    ['cycler', cycler],
    ['joiner', joiner],
    [
      'lipsum',
      () => {
        throw new TemplateFailure('The function lipsum of Jinja2 is not there: it writes words at random.')
      },
    ],
  ]
  return new Map(functions.map(([name, call]) => [name, new Callable(name, call)]))
}

function range({ positional, named }: CallArguments, operators: JinjaOperators): JinjaValue {
  const limits = positional.map((limit) => {
    if (typeof limit === 'boolean' || typeof limit === 'bigint') {
      const number = Number(limit)
      if (Number.isSafeInteger(number)) return number
      throw new TemplateFailure('range() takes numbers of at most 15 digits.')
    }
    throw new TemplateFailure('range() takes whole numbers.')
  })
  const [first, second, step = 1] = limits
  if (first === undefined || step === 0 || limits.length > 3 || named.size > 0)
    throw new TemplateFailure('range() takes an end, or a start, an end and a step.')
  const [start, end] = second === undefined ? [0, first] : [first, second]
  const length = Math.max(0, Math.ceil((end - start) / step))
  operators.spend(length * ITEM_SIZE)
  const items = Array.from({ length }, (_, index) => BigInt(start + index * step))
  return new View(items, `range(${start}, ${end}${step === 1 ? '' : `, ${step}`})`)
}

/** Builds a dictionary from a dictionary or pairs, and from named arguments. */
function dictOf(
  name: string,
  { positional: [source, ...more], named }: CallArguments,
  operators: JinjaOperators,
): Map<JinjaKey, JinjaValue> {
  if (more.length > 0) throw new TemplateFailure(`${name}() takes one dictionary, or arguments by name.`)
  const members = new Map<JinjaKey, JinjaValue>()
  if (source !== undefined && isDict(source)) for (const [key, value] of source) members.set(key, value)
  else if (source !== undefined) {
    for (const pair of operators.items(source)) {
      const [key, value, ...others] = operators.items(pair)
      if (key === undefined || value === undefined || others.length > 0)
        throw new TemplateFailure(`${name}() takes pairs of a key and a value, and not ${kindOf(pair)}.`)
      members.set(keyOf(key), value)
    }
  }
  for (const [key, value] of named) members.set(key, value)
  return members
}

/** Cycles through its values: `next()`, `reset()`, `current`. */
function cycler({ positional }: CallArguments): JinjaValue {
  const [first] = positional
  if (first === undefined) throw new TemplateFailure('cycler() takes the values to go round.')
  const bag = new Bag('cycler', new Map<string, JinjaValue>([['current', first]]))
  let at = 0
  const next = (): JinjaValue => {
    const value = orElse(positional[at], first)
    at = (at + 1) % positional.length
    bag.attributes.set('current', orElse(positional[at], first))
    return value
  }
  const reset = (): JinjaValue => {
    at = 0
    bag.attributes.set('current', first)
    return null
  }
  bag.attributes.set('next', new Callable('next', next)).set('reset', new Callable('reset', reset))
  bag.attributes.set('items', new Tuple(positional))
  return bag
}

/** Returns an empty text on the first call, and its separator on later calls. */
function joiner({ positional, named }: CallArguments): JinjaValue {
  const separator = positional[0] ?? named.get('sep') ?? ', '
  let isFirst = true
  return new Callable('joiner', () => {
    const value = isFirst ? '' : separator
    isFirst = false
    return value
  })
}
