import { formatFloat } from '../format-float.ts'
import { spacedJson } from '../spaced-json.ts'
import { TemplateFailure } from '../template-format.ts'
import { named, type JinjaFilter, type JinjaRuntime } from './jinja-filter.ts'
import { itemOf } from './jinja-members.ts'
import { pairsOf } from './jinja-methods.ts'
import { refuseMissing } from './jinja-operators.ts'
import { TEXT_FILTERS } from './jinja-text-filters.ts'
import {
  type CallArguments,
  capital,
  isDict,
  isText,
  isTrue,
  ITEM_SIZE,
  type JinjaValue,
  jsonOfValue,
  kindOf,
  Markup,
  Missing,
  jinjaNumber,
  orElse,
  sequenceIn,
  jinjaText,
  Tuple,
  View,
} from './jinja-values.ts'

/** Finds a filter by name. Throws a `TemplateFailure` if there is none. */
export function jinjaFilter(name: string): JinjaFilter {
  const filter = FILTERS.get(name)
  if (filter) return filter
  const why = REFUSED.get(name)
  if (why !== undefined) throw new TemplateFailure(`The filter '${name}' of Jinja2 is not there: ${why}.`)
  throw new TemplateFailure(`There is no filter '${name}'; there are ${[...FILTERS.keys()].join(', ')}.`)
}

export function hasFilter(name: string): boolean {
  return FILTERS.has(name)
}

/** Jinja2 filters that this service does not have, and why. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['random', 'a prompt is the same each time that it is rendered'],
  ['urlize', 'a prompt has no links of HTML'],
  ['pprint', 'write tojson(indent=2)'],
])

const FILTERS: ReadonlyMap<string, JinjaFilter> = new Map<string, JinjaFilter>([
  ...TEXT_FILTERS,
  ...['default', 'd'].map((name) =>
    named(name, ['default_value', 'boolean'], (value, given) => {
      const isAbsent = value instanceof Missing || (isTrue(given.get('boolean') ?? false) && !isTrue(value))
      return isAbsent ? orElse(given.get('default_value'), '') : value
    }),
  ),
  ...['length', 'count'].map((name) =>
    named(name, [], (value, _, runtime) => BigInt(lengthOf(value, runtime))),
  ),
  named('abs', [], (value) => {
    const number = neededNumber(value, 'abs')
    return typeof number === 'bigint' ? (number < 0n ? -number : number) : Math.abs(number)
  }),
  named('int', ['default', 'base'], (value, given) =>
    int(value, orElse(given.get('default'), 0n), given.get('base')),
  ),
  named('float', ['default'], (value, given) => float(value, orElse(given.get('default'), 0))),
  named('round', ['precision', 'method'], (value, given) => round(value, given)),
  named('filesizeformat', ['binary'], (value, given) =>
    fileSize(value, isTrue(given.get('binary') ?? false)),
  ),
  named('tojson', ['indent', 'ensure_ascii', 'sort_keys', 'separators'], (value, given, runtime) =>
    toJson(value, given, runtime),
  ),
  named('list', [], (value, _, { operators }) => {
    const items = operators.items(value)
    operators.spend(items.length * ITEM_SIZE)
    return [...items]
  }),
  named('first', [], (value, _, { operators }) =>
    orElse(operators.items(value)[0], new Missing('the first item')),
  ),
  named('last', [], (value, _, { operators }) =>
    orElse(operators.items(value).at(-1), new Missing('the last item')),
  ),
  named('reverse', [], (value, _, { operators }) => {
    const items = [...operators.items(value)].reverse()
    operators.spend(items.length * ITEM_SIZE)
    return isText(value) ? items.join('') : items
  }),
  named('items', [], (value, _, { operators }) => {
    if (value instanceof Missing) return []
    if (isDict(value)) return new View(pairsOf(value, operators.spend), 'dict_items')
    throw new TemplateFailure(`The filter items takes a dictionary, and not ${kindOf(value)}.`)
  }),
  named('dictsort', ['case_sensitive', 'by', 'reverse'], (value, given, runtime) => {
    if (!isDict(value))
      throw new TemplateFailure(`The filter dictsort takes a dictionary, and not ${kindOf(value)}.`)
    const by = given.get('by') ?? 'key'
    if (by !== 'key' && by !== 'value') throw new TemplateFailure('dictsort goes by "key" or "value".')
    const at = by === 'key' ? 0 : 1
    const keyed = keyedBy((pair) => (pair as Tuple).items[at] ?? null, given)
    return sorted(
      pairsOf(value, runtime.operators.spend),
      keyed,
      isTrue(given.get('reverse') ?? false),
      runtime,
    )
  }),
  named('sort', ['reverse', 'case_sensitive', 'attribute'], (value, given, runtime) => {
    const { operators } = runtime
    const attribute = given.get('attribute')
    const getters = isText(attribute ?? null)
      ? jinjaText(attribute as string)
          .split(',')
          .map((it) => getterOf(it, runtime))
      : [getterOf(attribute, runtime)]
    const [only] = getters
    const getter = getters.length === 1 && only ? only : (item: JinjaValue) => getters.map((get) => get(item))
    const keyed = keyedBy(getter, given)
    return sorted(operators.items(value), keyed, isTrue(given.get('reverse') ?? false), runtime)
  }),
  named('unique', ['case_sensitive', 'attribute'], (value, given, runtime) => {
    const { operators } = runtime
    const keyed = keyedBy(getterOf(given.get('attribute'), runtime), given)
    const [seen, texts, kept]: [JinjaValue[], Set<string>, JinjaValue[]] = [[], new Set(), []]
    for (const item of operators.items(value)) {
      const key = keyed(item)
      if (isText(key) ? texts.has(jinjaText(key)) : seen.some((it) => operators.equal(it, key))) continue
      if (isText(key)) texts.add(jinjaText(key))
      else seen.push(key)
      operators.spend(ITEM_SIZE)
      kept.push(item)
    }
    return kept
  }),
  ...(['min', 'max'] as const).map((name) =>
    named(name, ['case_sensitive', 'attribute'], (value, given, runtime) => {
      const keyed = keyedBy(getterOf(given.get('attribute'), runtime), given)
      let best: { readonly item: JinjaValue; readonly key: JinjaValue } | undefined
      for (const item of runtime.operators.items(value)) {
        const key = keyed(item)
        const order = best ? runtime.operators.order(key, best.key) : 0
        if (!best || (name === 'min' ? order < 0 : order > 0)) best = { item, key }
      }
      return best ? best.item : new Missing(`the ${name} of nothing`)
    }),
  ),
  named('sum', ['attribute', 'start'], (value, given, runtime) => {
    const getter = getterOf(given.get('attribute'), runtime)
    const items = runtime.operators.items(value)
    return items.reduce<JinjaValue>(
      (sum, item) => runtime.operators.binary('+', sum, getter(item)),
      orElse(given.get('start'), 0n),
    )
  }),
  named('join', ['d', 'attribute'], (value, given, runtime) => {
    const { operators } = runtime
    const separator = operators.text(orElse(given.get('d'), ''))
    const getter = getterOf(given.get('attribute'), runtime)
    const texts = operators.items(value).map((item) => {
      const text = operators.text(getter(item))
      operators.spend(text.length + separator.length)
      return text
    })
    return texts.join(separator)
  }),
  named('batch', ['linecount', 'fill_with'], (value, given, { operators }) => {
    const size = neededCount(given.get('linecount'), 'batch', 'linecount')
    const items = operators.items(value)
    const fill = given.get('fill_with') ?? null
    operators.spend((items.length + (fill === null ? 0 : size)) * ITEM_SIZE)
    const lines = Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
      items.slice(at * size, (at + 1) * size),
    )
    const last = lines.at(-1)
    if (last && fill !== null)
      lines.push([...(lines.pop() ?? []), ...Array.from({ length: size - last.length }, () => fill)])
    return lines.map((line) => [...line])
  }),
  named('slice', ['slices', 'fill_with'], (value, given, { operators }) => {
    const count = neededCount(given.get('slices'), 'slice', 'slices')
    const items = operators.items(value)
    operators.spend((items.length + count) * ITEM_SIZE)
    const [size, more] = [Math.floor(items.length / count), items.length % count]
    const fill = given.get('fill_with') ?? null
    return Array.from({ length: count }, (_, at) => {
      const from = at * size + Math.min(at, more)
      const part = items.slice(from, from + size + (at < more ? 1 : 0))
      return fill !== null && at >= more ? [...part, fill] : [...part]
    })
  }),
  named('groupby', ['attribute', 'default', 'case_sensitive'], (value, given, runtime) => {
    const getter = getterOf(given.get('attribute'), runtime, given.get('default'))
    const keyed = keyedBy(getter, given)
    const groups: { readonly key: JinjaValue; readonly items: JinjaValue[] }[] = []
    for (const item of sorted(runtime.operators.items(value), keyed, false, runtime)) {
      const [key, last] = [keyed(item), groups.at(-1)]
      if (last && runtime.operators.equal(last.key, key)) last.items.push(item)
      else groups.push({ key, items: [item] })
    }
    return groups.map(({ items }) => new Tuple([getter(items[0] ?? null), items], ['grouper', 'list']))
  }),
  ['map', map],
  ['select', (value, args, runtime) => selected(value, args, runtime, true, false)],
  ['reject', (value, args, runtime) => selected(value, args, runtime, false, false)],
  ['selectattr', (value, args, runtime) => selected(value, args, runtime, true, true)],
  ['rejectattr', (value, args, runtime) => selected(value, args, runtime, false, true)],
  named('attr', ['name'], (value, given, { operators }) => {
    const name = operators.text(given.get('name') ?? '')
    // a dictionary's keys are not its attributes
    return isDict(value) ? new Missing(name) : itemOf(value, name, name, operators)
  }),
])

function lengthOf(value: JinjaValue, { operators }: JinjaRuntime): number {
  if (value instanceof Missing) return 0
  if (isText(value)) return Array.from(jinjaText(value)).length
  if (isDict(value)) return value.size
  const items = sequenceIn(value)
  if (items) return items.length
  throw new TemplateFailure(`${capital(kindOf(value))} has no length: ${operators.text(value).slice(0, 80)}.`)
}

function map(value: JinjaValue, args: CallArguments, runtime: JinjaRuntime): JinjaValue {
  const items = runtime.operators.items(value)
  runtime.operators.spend(items.length * ITEM_SIZE)
  const [name, ...rest] = args.positional
  if (name === undefined) {
    if (!args.named.has('attribute'))
      throw new TemplateFailure("map takes a filter or an attribute: map('upper').")
    const getter = getterOf(args.named.get('attribute'), runtime, args.named.get('default'))
    return items.map(getter)
  }
  const filter = runtime.operators.text(name)
  return items.map((item) => runtime.filter(filter, item, { positional: rest, named: args.named }))
}

function selected(
  value: JinjaValue,
  { positional, named: byName }: CallArguments,
  runtime: JinjaRuntime,
  wanted: boolean,
  byAttribute: boolean,
): JinjaValue {
  const items = runtime.operators.items(value)
  runtime.operators.spend(items.length * ITEM_SIZE)
  if (byAttribute && positional[0] === undefined)
    throw new TemplateFailure("selectattr and rejectattr take an attribute: selectattr('name').")
  const getter = byAttribute ? getterOf(positional[0], runtime) : same
  const [name, ...rest] = byAttribute ? positional.slice(1) : positional
  const test = name === undefined ? undefined : runtime.operators.text(name)
  const args = { positional: rest, named: byName }
  return items.filter((item) => {
    const part = getter(item)
    return (test === undefined ? isTrue(part) : runtime.test(test, part, args)) === wanted
  })
}

type Getter = (item: JinjaValue) => JinjaValue

const same: Getter = (item) => item

/** Returns a getter for an attribute path such as `a.b.0`, or a position. `usual` replaces missing values. */
function getterOf(attribute: JinjaValue | undefined, runtime: JinjaRuntime, usual?: JinjaValue): Getter {
  if (attribute === undefined || attribute === null) return same
  const { operators } = runtime
  const steps: readonly JinjaValue[] = isText(attribute)
    ? jinjaText(attribute)
        .split('.')
        .map((step) => (/^[0-9]+$/.test(step) ? BigInt(step) : step))
    : [attribute]
  return (item) => {
    let value = item
    for (const step of steps) {
      refuseMissing(value)
      value = itemOf(value, step, operators.text(attribute), operators)
      if (value instanceof Missing && usual !== undefined && usual !== null) value = usual
    }
    return value
  }
}

/** Lowercases text keys unless the comparison is case-sensitive. */
function keyedBy(getter: Getter, given: ReadonlyMap<string, JinjaValue>): Getter {
  if (isTrue(given.get('case_sensitive') ?? false)) return getter
  const lowered = (value: JinjaValue): JinjaValue => {
    if (isText(value)) return jinjaText(value).toLowerCase()
    return Array.isArray(value) ? value.map((it) => (isText(it) ? jinjaText(it).toLowerCase() : it)) : value
  }
  return (item) => {
    const value = getter(item)
    // an item that is itself a list is compared unchanged
    return getter === same && Array.isArray(value) ? value : lowered(value)
  }
}

function sorted(
  items: readonly JinjaValue[],
  keyed: Getter,
  isReversed: boolean,
  { operators }: JinjaRuntime,
): JinjaValue[] {
  operators.spend(items.length * ITEM_SIZE)
  const all = items.map((item) => ({ item, key: keyed(item) }))
  // equal items keep their order, also when reversed
  all.sort((a, b) => (isReversed ? operators.order(b.key, a.key) : operators.order(a.key, b.key)))
  return all.map(({ item }) => item)
}

function neededNumber(value: JinjaValue, name: string): bigint | number {
  refuseMissing(value)
  const number = jinjaNumber(value)
  if (number !== undefined) return number
  throw new TemplateFailure(`The filter ${name} takes a number, and not ${kindOf(value)}.`)
}

function neededCount(value: JinjaValue | undefined, filter: string, parameter: string): number {
  const number = jinjaNumber(value ?? null)
  if (typeof number === 'bigint' && number > 0n && number < 1_000_000n) return Number(number)
  throw new TemplateFailure(`The filter ${filter} takes ${parameter}, a whole number above 0.`)
}

function int(value: JinjaValue, usual: JinjaValue, base: JinjaValue = 10n): JinjaValue {
  refuseMissing(value)
  const number = jinjaNumber(value)
  if (typeof number === 'bigint') return number
  if (typeof number === 'number') return Number.isFinite(number) ? BigInt(Math.trunc(number)) : usual
  if (!isText(value)) return usual
  const text = jinjaText(value).trim()
  const written = wholeIn(text, Number(jinjaNumber(base) ?? 10n))
  if (written !== undefined) return written
  const fraction = floatIn(text)
  return fraction !== undefined && Number.isFinite(fraction) ? BigInt(Math.trunc(fraction)) : usual
}

/** Parses a whole number in a base. */
function wholeIn(text: string, base: number): bigint | undefined {
  const [, sign = '', rest = ''] = /^([-+]?)([0-9a-z_]+)$/i.exec(text) ?? []
  const prefix = { 2: '0b', 8: '0o', 16: '0x' }[base]
  const digits = (
    prefix !== undefined && rest.toLowerCase().startsWith(prefix) ? rest.slice(2) : rest
  ).replace(/(?<=[^_])_(?=[^_])/g, '')
  if (digits === '' || digits.length > 4300 || !(base >= 2 && base <= 36)) return undefined
  let value = 0n
  if (base === 10) {
    if (!/^[0-9]+$/.test(digits)) return undefined
    value = BigInt(digits)
  } else {
    for (const digit of digits) {
      const size = Number.parseInt(digit, base)
      if (Number.isNaN(size)) return undefined
      value = value * BigInt(base) + BigInt(size)
    }
  }
  return sign === '-' ? -value : value
}

function float(value: JinjaValue, usual: JinjaValue): JinjaValue {
  refuseMissing(value)
  const number = jinjaNumber(value)
  if (number !== undefined) return Number(number)
  return isText(value) ? (floatIn(jinjaText(value).trim()) ?? usual) : usual
}

/** Parses a float as Python's float() does. */
function floatIn(text: string): number | undefined {
  if (/^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[-+]?[0-9]+)?$/i.test(text))
    return Number(text.replaceAll('_', ''))
  const word = /^([-+]?)(inf|infinity|nan)$/i.exec(text)
  if (!word) return undefined
  return word[2]?.toLowerCase() === 'nan' ? Number.NaN : word[1] === '-' ? -Infinity : Infinity
}

/** Rounds a number. An int stays an int; a float's halves go to the even digit. */
function round(value: JinjaValue, given: ReadonlyMap<string, JinjaValue>): JinjaValue {
  const number = neededNumber(value, 'round')
  const places = Number(jinjaNumber(given.get('precision') ?? 0n) ?? 0)
  const method = given.get('method') ?? 'common'
  if (!Number.isInteger(places) || Math.abs(places) > MOST_PLACES)
    throw new TemplateFailure(`round takes at most ${MOST_PLACES} places.`)
  if (method !== 'common' && method !== 'ceil' && method !== 'floor')
    throw new TemplateFailure('round goes by "common", "ceil" or "floor".')
  const scale = 10 ** places
  if (method !== 'common') return Math[method](Number(number) * scale) / scale
  if (typeof number === 'bigint') return places >= 0 ? number : roundedInt(number, 10n ** BigInt(-places))
  if (!Number.isFinite(number)) return number
  if (places < 0) return Number(roundedInt(BigInt(Math.trunc(number)), 10n ** BigInt(-places)))
  const size = Number(formatFloat(Math.abs(number), 'f', places, false))
  return number < 0 || Object.is(number, -0) ? -size : size
}

const MOST_PLACES = 15

function roundedInt(number: bigint, unit: bigint): bigint {
  const rest = ((number % unit) + unit) % unit
  const low = number - rest
  const isUp = rest * 2n > unit || (rest * 2n === unit && (low / unit) % 2n !== 0n)
  return isUp ? low + unit : low
}

function fileSize(value: JinjaValue, isBinary: boolean): string {
  const number = isText(value) ? floatIn(jinjaText(value).trim()) : jinjaNumber(value)
  const bytes = number === undefined ? undefined : Number(number)
  if (bytes === undefined)
    throw new TemplateFailure(`The filter filesizeformat takes a number, and not ${kindOf(value)}.`)
  const base = isBinary ? 1024 : 1000
  if (bytes === 1) return '1 Byte'
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`
  const letters = isBinary ? 'KMGTPEZY' : 'kMGTPEZY'
  let power = 1
  while (power < letters.length && bytes >= base ** (power + 1)) power++
  const size = formatFloat((base * bytes) / base ** (power + 1), 'f', 1, false)
  return `${size} ${letters.charAt(power - 1)}${isBinary ? 'iB' : 'B'}`
}

/** Writes JSON as Jinja2 does: keys sorted, non-ASCII characters and HTML characters escaped. */
function toJson(
  value: JinjaValue,
  given: ReadonlyMap<string, JinjaValue>,
  { operators }: JinjaRuntime,
): JinjaValue {
  const indent = given.get('indent') ?? null
  const levels = jinjaNumber(indent)
  if (levels !== undefined && (levels < 0 || levels > WIDEST_INDENT))
    throw new TemplateFailure(`${levels} is no indentation; write 0 to ${WIDEST_INDENT}.`)
  const separators = given.get('separators')
  const pair = separators === undefined ? [] : operators.items(separators).map(operators.text)
  const layout = {
    indent: levels === undefined ? undefined : Number(levels),
    sortKeys: isTrue(given.get('sort_keys') ?? true),
    ensureAscii: isTrue(given.get('ensure_ascii') ?? true),
    itemSeparator: pair[0],
    keySeparator: pair[1],
  }
  const text = spacedJson(jsonOfValue(value, operators.spend), layout, operators.spend)
  return new Markup(text.replace(/[<>&']/g, (it) => `\\u00${it.charCodeAt(0).toString(16)}`))
}

/** Maximum number of spaces per level. */
const WIDEST_INDENT = 100
