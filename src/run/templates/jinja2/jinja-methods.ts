import { TemplateFailure } from '../template-format.ts'
import type { JinjaOperators } from './jinja-operators.ts'
import {
  type CallArguments,
  isDict,
  isGiven,
  isText,
  ITEM_SIZE,
  type JinjaKey,
  type JinjaValue,
  keyOf,
  kindOf,
  jinjaNumber,
  orElse,
  jinjaText,
  Tuple,
  View,
} from './jinja-values.ts'

type Method<Of> = (value: Of, args: CallArguments, operators: JinjaOperators) => JinjaValue

/** The methods of Python's str that need no locale, encoding or translation table. */
export const textMethods: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ['upper', (text) => text.toUpperCase()],
  ['lower', (text) => text.toLowerCase()],
  ['casefold', (text) => text.toLowerCase().replaceAll('ß', 'ss')],
  ['capitalize', (text) => capitalized(text)],
  ['title', (text) => text.toLowerCase().replace(/\p{L}+/gu, (word) => upperFirst(word))],
  [
    'swapcase',
    (text) =>
      text.replace(/\p{L}/gu, (it) => (it === it.toUpperCase() ? it.toLowerCase() : it.toUpperCase())),
  ],
  ['strip', (text, { positional: [chars] }) => stripped(text, chars, true, true)],
  ['lstrip', (text, { positional: [chars] }) => stripped(text, chars, true, false)],
  ['rstrip', (text, { positional: [chars] }) => stripped(text, chars, false, true)],
  ['startswith', (text, args) => affixes(args).some((affix) => text.startsWith(affix))],
  ['endswith', (text, args) => affixes(args).some((affix) => text.endsWith(affix))],
  [
    'removeprefix',
    (text, args) => {
      const prefix = needed(args, 0)
      return text.startsWith(prefix) ? text.slice(prefix.length) : text
    },
  ],
  [
    'removesuffix',
    (text, args) => {
      const suffix = needed(args, 0)
      return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text
    },
  ],
  [
    'replace',
    (text, args, operators) =>
      replaced(text, needed(args, 0), needed(args, 1), count(args, 2, 'count'), operators),
  ],
  ['split', (text, args, operators) => split(text, args, operators, false)],
  ['rsplit', (text, args, operators) => split(text, args, operators, true)],
  [
    'splitlines',
    (text, args, { spend }) => {
      const lines = linesOf(text)
      spend(lines.length * ITEM_SIZE)
      const keeps = (args.positional[0] ?? args.named.get('keepends')) === true
      return keeps ? (text.match(/[^\n]*\n|[^\n]+$/g) ?? []) : lines
    },
  ],
  [
    'partition',
    (text, args) => {
      const by = needed(args, 0)
      const at = text.indexOf(by)
      return new Tuple(at === -1 ? [text, '', ''] : [text.slice(0, at), by, text.slice(at + by.length)])
    },
  ],
  [
    'rpartition',
    (text, args) => {
      const by = needed(args, 0)
      const at = text.lastIndexOf(by)
      return new Tuple(at === -1 ? ['', '', text] : [text.slice(0, at), by, text.slice(at + by.length)])
    },
  ],
  [
    'join',
    (text, { positional: [items = []] }, operators) => {
      const texts = operators.items(items).map((item) => {
        if (!isText(item))
          throw new TemplateFailure(`join() takes texts, and not ${kindOf(item)}; the filter join takes any.`)
        operators.spend(jinjaText(item).length + text.length)
        return jinjaText(item)
      })
      return texts.join(text)
    },
  ],
  ['find', (text, args) => BigInt(text.indexOf(needed(args, 0)))],
  ['rfind', (text, args) => BigInt(text.lastIndexOf(needed(args, 0)))],
  [
    'index',
    (text, args) => {
      const at = text.indexOf(needed(args, 0))
      if (at === -1) throw new TemplateFailure('index() finds nothing; find() answers -1 then.')
      return BigInt(at)
    },
  ],
  [
    'count',
    (text, args, { spend }) => {
      const part = needed(args, 0)
      spend(text.length)
      return BigInt(part === '' ? Array.from(text).length + 1 : text.split(part).length - 1)
    },
  ],
  ['center', (text, args, { spend }) => padded(text, args, spend, 'center')],
  ['ljust', (text, args, { spend }) => padded(text, args, spend, 'left')],
  ['rjust', (text, args, { spend }) => padded(text, args, spend, 'right')],
  [
    'zfill',
    (text, args, { spend }) => {
      const size = widthOf(args.positional[0])
      spend(size)
      const sign = /^[-+]/.exec(text)?.[0] ?? ''
      return sign + text.slice(sign.length).padStart(size - sign.length, '0')
    },
  ],
  ['isdigit', (text) => /^\p{Nd}+$/u.test(text)],
  ['isdecimal', (text) => /^\p{Nd}+$/u.test(text)],
  ['isnumeric', (text) => /^\p{N}+$/u.test(text)],
  ['isalpha', (text) => /^\p{L}+$/u.test(text)],
  ['isalnum', (text) => /^[\p{L}\p{N}]+$/u.test(text)],
  ['isspace', (text) => /^\s+$/.test(text)],
  ['islower', (text) => text === text.toLowerCase() && text !== text.toUpperCase()],
  ['isupper', (text) => text === text.toUpperCase() && text !== text.toLowerCase()],
])

/** The methods of lists and tuples. Variables of the template cannot be changed. */
export const listMethods: ReadonlyMap<string, Method<JinjaValue[] | Tuple>> = new Map<
  string,
  Method<JinjaValue[] | Tuple>
>([
  [
    'index',
    (list, { positional: [value = null] }, operators) => {
      const at = itemsOf(list).findIndex((item) => operators.equal(item, value))
      if (at === -1) throw new TemplateFailure('index() finds no such item.')
      return BigInt(at)
    },
  ],
  [
    'count',
    (list, { positional: [value = null] }, operators) =>
      BigInt(itemsOf(list).filter((item) => operators.equal(item, value)).length),
  ],
  [
    'copy',
    (list, _, { spend }) => {
      spend(itemsOf(list).length * ITEM_SIZE)
      return [...itemsOf(list)]
    },
  ],
  [
    'append',
    (list, { positional: [value = null] }, { spend }) => {
      spend(ITEM_SIZE)
      changing(list).push(value)
      return null
    },
  ],
  [
    'extend',
    (list, { positional: [more = []] }, operators) => {
      const [own, items] = [changing(list), operators.items(more)]
      operators.spend(items.length * ITEM_SIZE)
      for (const item of [...items]) own.push(item)
      return null
    },
  ],
  [
    'insert',
    (list, { positional: [at = 0n, value = null] }, { spend }) => {
      spend(ITEM_SIZE)
      changing(list).splice(Number(jinjaNumber(at) ?? 0), 0, value)
      return null
    },
  ],
  [
    'pop',
    (list, { positional: [at = -1n] }) => {
      const [own, place] = [changing(list), Number(jinjaNumber(at) ?? -1)]
      const [value] = own.splice(place < 0 ? own.length + place : place, 1)
      if (value === undefined) throw new TemplateFailure('pop() finds no such item.')
      return value
    },
  ],
  [
    'reverse',
    (list, _, { spend }) => {
      spend(itemsOf(list).length)
      changing(list).reverse()
      return null
    },
  ],
  [
    'clear',
    (list) => {
      changing(list).length = 0
      return null
    },
  ],
])

/** The methods of dictionaries. Variables of the template cannot be changed. */
export const dictMethods: ReadonlyMap<string, Method<Map<JinjaKey, JinjaValue>>> = new Map<
  string,
  Method<Map<JinjaKey, JinjaValue>>
>([
  [
    'get',
    (dict, { positional: [key = null, usual], named }) =>
      orElse(dict.get(keyOf(key)), orElse(orElse(usual, named.get('default')), null)),
  ],
  [
    'keys',
    (dict, _, { spend }) => {
      spend(dict.size * ITEM_SIZE)
      return new View([...dict.keys()], 'dict_keys')
    },
  ],
  [
    'values',
    (dict, _, { spend }) => {
      spend(dict.size * ITEM_SIZE)
      return new View([...dict.values()], 'dict_values')
    },
  ],
  ['items', (dict, _, { spend }) => new View(pairsOf(dict, spend), 'dict_items')],
  [
    'copy',
    (dict, _, { spend }) => {
      spend(dict.size * ITEM_SIZE)
      return new Map(dict)
    },
  ],
  [
    'update',
    (dict, { positional: [other], named }, { spend }) => {
      const own = changing(dict)
      if (other !== undefined && !isDict(other))
        throw new TemplateFailure(`update() takes a dictionary, and not ${kindOf(other)}.`)
      for (const [key, value] of [...(other ?? []), ...named]) {
        spend(ITEM_SIZE)
        own.set(key, value)
      }
      return null
    },
  ],
  [
    'setdefault',
    (dict, { positional: [key = null, usual = null] }, { spend }) => {
      const known = dict.get(keyOf(key))
      if (known !== undefined) return known
      spend(ITEM_SIZE)
      changing(dict).set(keyOf(key), usual)
      return usual
    },
  ],
  [
    'pop',
    (dict, { positional: [key = null, usual] }) => {
      const value = orElse(dict.get(keyOf(key)), usual)
      if (value === undefined) throw new TemplateFailure('pop() finds no such key.')
      if (dict.has(keyOf(key))) changing(dict).delete(keyOf(key))
      return value
    },
  ],
])

/** The members of a dictionary as tuples. */
export function pairsOf(
  dict: ReadonlyMap<JinjaKey, JinjaValue>,
  spend: (size: number) => void,
): JinjaValue[] {
  spend(dict.size * ITEM_SIZE * 2)
  return [...dict].map(([key, value]) => new Tuple([key, value]))
}

/** Capitalises the first letter and lowercases the others. */
export function capitalized(text: string): string {
  return upperFirst(text.toLowerCase())
}

function upperFirst(text: string): string {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0)
  return text === '' ? '' : first.toUpperCase() + text.slice(first.length)
}

/** Strips white space, or these characters, from the ends. */
export function stripped(text: string, chars: JinjaValue | undefined, start: boolean, end: boolean): string {
  if (chars === undefined || chars === null) {
    const begun = start ? text.trimStart() : text
    return end ? begun.trimEnd() : begun
  }
  const set = new Set(isText(chars) ? jinjaText(chars) : '')
  const all = Array.from(text)
  let [from, to] = [0, all.length]
  while (start && from < to && set.has(all[from] ?? '')) from++
  while (end && to > from && set.has(all[to - 1] ?? '')) to--
  return all.slice(from, to).join('')
}

/** Splits a text into lines without line breaks; a final line break adds no line. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Replaces each occurrence of `from`, or only the first `most` of them. */
export function replaced(
  text: string,
  from: string,
  to: string,
  most: number | undefined,
  { spend }: JinjaOperators,
): string {
  // Python inserts the new text before and after every character
  spend((text.length / Math.max(from.length, 1)) * 8)
  const pieces = from === '' ? ['', ...text, ''] : text.split(from)
  spend(pieces.length * ITEM_SIZE)
  const limit = Math.min(most ?? Infinity, pieces.length - 1)
  spend(text.length + limit * to.length)
  return [pieces.slice(0, limit + 1).join(to), ...pieces.slice(limit + 1)].join(from)
}

/** Centres a text with spaces as Python does. */
export function centered(text: string, width: number, fill = ' '): string {
  const missing = width - Array.from(text).length
  if (missing <= 0) return text
  const left = Math.floor(missing / 2) + (missing & width & 1)
  return fill.repeat(left) + text + fill.repeat(missing - left)
}

function split(text: string, args: CallArguments, { spend }: JinjaOperators, fromRight: boolean): JinjaValue {
  const by = args.positional[0] ?? args.named.get('sep') ?? null
  const most = count(args, 1, 'maxsplit') ?? Infinity
  spend(text.length * 8)
  if (by === null) return splitWords(text, most, fromRight, spend)
  if (!isText(by) || jinjaText(by) === '')
    throw new TemplateFailure('split takes a separator that is a text and not empty.')
  const separator = jinjaText(by)
  const pieces = text.split(separator)
  spend(pieces.length * ITEM_SIZE)
  if (pieces.length - 1 <= most) return pieces
  const at = fromRight ? pieces.length - most : most
  return fromRight
    ? [pieces.slice(0, at).join(separator), ...pieces.slice(at)]
    : [...pieces.slice(0, at), pieces.slice(at).join(separator)]
}

function splitWords(text: string, most: number, fromRight: boolean, spend: (size: number) => void): string[] {
  const words = [...text.matchAll(/\S+/g)].map((match) => ({ from: match.index, word: match[0] }))
  spend(words.length * ITEM_SIZE)
  const texts = words.map(({ word }) => word)
  if (words.length - 1 <= most) return texts
  const at = fromRight ? words.length - most : most
  const place = words[fromRight ? at - 1 : at]
  // the white space at the other end stays
  if (fromRight) return [text.slice(0, (place?.from ?? 0) + (place?.word.length ?? 0)), ...texts.slice(at)]
  return [...texts.slice(0, at), text.slice(place?.from ?? 0)]
}

function padded(
  text: string,
  { positional: [width, fill = ' '] }: CallArguments,
  spend: (size: number) => void,
  side: 'center' | 'left' | 'right',
): string {
  const size = widthOf(width)
  spend(size)
  const character = isText(fill) ? jinjaText(fill) : ' '
  const missing = character.repeat(Math.max(0, size - Array.from(text).length))
  if (side === 'center') return centered(text, size, character)
  return side === 'left' ? text + missing : missing + text
}

function widthOf(value: JinjaValue | undefined): number {
  const number = value === undefined ? undefined : jinjaNumber(value)
  if (typeof number === 'bigint') return Math.max(0, Number(number))
  throw new TemplateFailure('The method takes a width, a whole number.')
}

function affixes({ positional: [affix = ''] }: CallArguments): readonly string[] {
  const all = affix instanceof Tuple ? affix.items : [affix]
  return all.map((it) => {
    if (isText(it)) return jinjaText(it)
    throw new TemplateFailure(
      `startswith() and endswith() take a text or a tuple of texts, and not ${kindOf(it)}.`,
    )
  })
}

function needed({ positional }: CallArguments, at: number): string {
  const value = positional[at]
  if (value !== undefined && isText(value)) return jinjaText(value)
  throw new TemplateFailure(
    `The method takes a text, and not ${value === undefined ? 'nothing' : kindOf(value)}.`,
  )
}

function count({ positional, named }: CallArguments, at: number, name: string): number | undefined {
  const number = jinjaNumber(positional[at] ?? named.get(name) ?? null)
  return number !== undefined && number >= 0 ? Number(number) : undefined
}

function itemsOf(list: JinjaValue[] | Tuple): readonly JinjaValue[] {
  return Array.isArray(list) ? list : list.items
}

/** The value as a mutable one. Refuses tuples and variables of the template. */
function changing<Of extends JinjaValue>(value: Of): Exclude<Of, Tuple> {
  if (value instanceof Tuple) throw new TemplateFailure('A tuple cannot be changed.')
  if (isGiven(value))
    throw new TemplateFailure(
      'A variable cannot be changed; change a copy of it: {% set mine = it.copy() %}.',
    )
  return value as Exclude<Of, Tuple>
}
