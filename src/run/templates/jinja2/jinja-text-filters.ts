import { TemplateFailure } from '../template-format.ts'
import { named, type JinjaFilter } from './jinja-filter.ts'
import { formatPercent } from './jinja-format.ts'
import { capitalized, centered, linesOf, replaced, stripped } from './jinja-methods.ts'
import { refuseMissing } from './jinja-operators.ts'
import {
  isDict,
  isText,
  isTrue,
  ITEM_SIZE,
  type JinjaKey,
  type JinjaValue,
  kindOf,
  Markup,
  Missing,
  jinjaNumber,
  sequenceIn,
  jinjaText,
  Tuple,
} from './jinja-values.ts'

/** The filters of Jinja2 that convert a value to text. */
export const TEXT_FILTERS: readonly (readonly [string, JinjaFilter])[] = [
  cased('upper', (text) => text.toUpperCase()),
  cased('lower', (text) => text.toLowerCase()),
  cased('capitalize', capitalized),
  cased('title', (text) =>
    text
      .split(/([-\s({[<]+)/)
      .map(capitalized)
      .join(''),
  ),
  named('string', [], (value, _, { operators }) => (value instanceof Markup ? value : operators.text(value))),
  named('safe', [], (value, _, { operators }) => new Markup(operators.text(value))),
  ...['e', 'escape'].map((name) =>
    named(name, [], (value, _, { operators }) =>
      value instanceof Markup ? value : new Markup(escaped(operators.text(value), operators.spend)),
    ),
  ),
  named(
    'forceescape',
    [],
    (value, _, { operators }) => new Markup(escaped(operators.text(value), operators.spend)),
  ),
  named('trim', ['chars'], (value, given, { operators }) =>
    asMarkup(value, stripped(operators.text(value), given.get('chars'), true, true)),
  ),
  named('replace', ['old', 'new', 'count'], (value, given, { operators }) => {
    const [old, replacement] = [given.get('old'), given.get('new')]
    if (old === undefined || replacement === undefined)
      throw new TemplateFailure('replace takes an old text and a new one.')
    const count = jinjaNumber(given.get('count') ?? null)
    const most = count !== undefined && count >= 0 ? Number(count) : undefined
    return replaced(operators.text(value), operators.text(old), operators.text(replacement), most, operators)
  }),
  named('indent', ['width', 'first', 'blank'], (value, given, { operators }) => {
    const by = given.get('width') ?? 4n
    const margin = isText(by) ? jinjaText(by) : ' '.repeat(size(by, 'indent', MAX_INDENT))
    const [first, blank] = [isTrue(given.get('first') ?? false), isTrue(given.get('blank') ?? false)]
    const lines = linesOf(`${neededText(value, 'indent')}\n`)
    operators.spend(lines.length * (ITEM_SIZE + margin.length))
    return lines
      .map((line, at) => ((at === 0 ? first : line !== '' || blank) ? margin + line : line))
      .join('\n')
  }),
  named('center', ['width'], (value, given, { operators }) => {
    const width = size(given.get('width') ?? 80n, 'center', MOST_WIDTH)
    operators.spend(width)
    return centered(operators.text(value), width)
  }),
  named('truncate', ['length', 'killwords', 'end', 'leeway'], (value, given, { operators }) => {
    const end = Array.from(operators.text(given.get('end') ?? '...'))
    const length = size(given.get('length') ?? 255n, 'truncate', Infinity)
    const leeway = size(given.get('leeway') ?? 5n, 'truncate', Infinity)
    if (length < end.length)
      throw new TemplateFailure(
        `truncate takes a length of at least ${end.length}, for what stands at the end.`,
      )
    const text = value instanceof Missing ? '' : neededText(value, 'truncate')
    if (text.length <= length + leeway) return text
    operators.spend(length)
    const characters = Array.from(text)
    if (characters.length <= length + leeway) return text
    const cut = characters.slice(0, length - end.length).join('')
    const space = isTrue(given.get('killwords') ?? false) ? -1 : cut.lastIndexOf(' ')
    return (space === -1 ? cut : cut.slice(0, space)) + end.join('')
  }),
  named('wordcount', [], (value, _, { operators }) =>
    BigInt(operators.text(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
  ),
  named(
    'wordwrap',
    ['width', 'break_long_words', 'wrapstring', 'break_on_hyphens'],
    (value, given, { operators }) => {
      const width = size(given.get('width') ?? 79n, 'wordwrap', Infinity)
      if (width < 1) throw new TemplateFailure('wordwrap takes a width of at least 1.')
      const by = given.get('wrapstring') ?? null
      const text = neededText(value, 'wordwrap')
      operators.spend(text.length * 8)
      const wrapped = linesOf(text).flatMap((line) => {
        const lines = wrappedLine(line, width, {
          breaksWords: isTrue(given.get('break_long_words') ?? true),
          breaksAtHyphens: isTrue(given.get('break_on_hyphens') ?? true),
          spend: operators.spend,
        })
        operators.spend(lines.length * ITEM_SIZE)
        return lines.length === 0 ? [''] : lines
      })
      return wrapped.join(by === null ? '\n' : operators.text(by))
    },
  ),
  [
    'format',
    (value, { positional, named: byName }, { operators }) => {
      if (positional.length > 0 && byName.size > 0)
        throw new TemplateFailure('format takes values by their places or by their names, and not both.')
      const values = byName.size > 0 ? new Map<JinjaKey, JinjaValue>(byName) : new Tuple(positional)
      return formatPercent(operators.text(value), values, operators)
    },
  ],
  named('striptags', [], (value, _, { operators }) => withoutTags(operators.text(value))),
  named('urlencode', [], (value, _, { operators }) => {
    const quoted = (part: JinjaValue): string => urlQuoted(operators.text(part), operators.spend)
    const inQuery = (part: JinjaValue): string => quoted(part).replaceAll('/', '%2F').replaceAll('%20', '+')
    const pairs = isDict(value) ? [...value] : sequenceIn(value)?.map((pair) => operators.items(pair))
    if (!pairs) return quoted(value)
    return pairs.map(([key = null, member = null]) => `${inQuery(key)}=${inQuery(member)}`).join('&')
  }),
  named('xmlattr', ['autospace'], (value, given, { operators }) => {
    if (!isDict(value))
      throw new TemplateFailure(`The filter xmlattr takes a dictionary, and not ${kindOf(value)}.`)
    const attributes = [...value].flatMap(([key, member]) => {
      if (member === null || member instanceof Missing) return []
      const name = operators.text(key)
      if (/[\s/>=]/.test(name))
        throw new TemplateFailure(`${JSON.stringify(name)} is no name of an attribute.`)
      const text = member instanceof Markup ? member.text : escaped(operators.text(member), operators.spend)
      return [`${escaped(name, operators.spend)}="${text}"`]
    })
    const space = attributes.length > 0 && isTrue(given.get('autospace') ?? true) ? ' ' : ''
    return space + attributes.join(' ')
  }),
]

/** A filter that changes letters; an escaped text stays escaped. */
function cased(name: string, change: (text: string) => string): readonly [string, JinjaFilter] {
  return named(name, [], (value, _, { operators }) => asMarkup(value, change(operators.text(value))))
}

function asMarkup(value: JinjaValue, text: string): string | Markup {
  return value instanceof Markup ? new Markup(text) : text
}

/** Maximum number of spaces by which a line may be indented. */
const MAX_INDENT = 100
const MOST_WIDTH = 1_000_000

function size(value: JinjaValue, filter: string, most: number): number {
  const number = Number(jinjaNumber(value) ?? Number.NaN)
  if (Number.isInteger(number) && number >= 0 && number <= most) return number
  const bound = most === Infinity ? 'a whole number from 0 on' : `a whole number from 0 to ${most}`
  throw new TemplateFailure(`The filter ${filter} takes ${bound}.`)
}

function neededText(value: JinjaValue, filter: string): string {
  refuseMissing(value)
  if (isText(value)) return jinjaText(value)
  throw new TemplateFailure(
    `The filter ${filter} takes a text, and not ${kindOf(value)}; write ~ "" behind it first.`,
  )
}

function escaped(text: string, spend: (size: number) => void): string {
  spend(text.length * 5)
  return text.replace(/[&<>'"]/g, (it) => HTML[it] ?? it)
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
}

/** Removes comments and tags, collapses white space, and decodes the most common entities. */
function withoutTags(text: string): string {
  const bare = withoutSpans(withoutSpans(text, '<!--', '-->'), '<', '>')
  const spaced = bare.split(/\s+/).filter(Boolean).join(' ')
  return spaced.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole
      const point = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole
    },
  )
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}

/** Removes each span from `open` to the next `close`, in one pass. */
function withoutSpans(text: string, open: string, close: string): string {
  let kept = ''
  let at = 0
  for (;;) {
    const start = text.indexOf(open, at)
    const end = start === -1 ? -1 : text.indexOf(close, start)
    if (end === -1) return kept + text.slice(at)
    kept += text.slice(at, start)
    at = end + close.length
  }
}

function urlQuoted(text: string, spend: (size: number) => void): string {
  spend(text.length * 9)
  // UTF-8 cannot encode lone surrogates
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/')
}

/**
 * The pieces at which a line may break: words, hyphenated parts of words, dashes, white space (Python's
 * textwrap).
 */
const PIECES =
  /\s+|(?<=[\p{L}\p{N}_!"'&.,?])-{2,}(?=[\p{L}\p{N}_])|\S+?(?:-(?:(?<=[\p{L}_]{2}-)|(?<=[\p{L}_]-[\p{L}\p{N}_!"'&.,?]-))(?=[\p{L}_]-?[\p{L}_])|(?=\s|$)|(?<=[\p{L}\p{N}_!"'&.,?])(?=-{2,}[\p{L}\p{N}_]))/gu

interface Wrapping {
  readonly breaksWords: boolean
  readonly breaksAtHyphens: boolean
  readonly spend: (size: number) => void
}

/** Wraps a line as Python's textwrap does, without changing inner white space. */
function wrappedLine(
  line: string,
  width: number,
  { breaksWords, breaksAtHyphens, spend }: Wrapping,
): readonly string[] {
  const pieces = (line.match(breaksAtHyphens ? PIECES : /\s+|\S+/g) ?? []).reverse()
  const lines: string[] = []
  while (pieces.length > 0) {
    const current: string[] = []
    let length = 0
    if (lines.length > 0 && pieces.at(-1)?.trim() === '') pieces.pop()
    for (let next = pieces.at(-1); next !== undefined; next = pieces.at(-1)) {
      const size = Array.from(next).length
      if (length + size > width) break
      current.push(next)
      length += size
      pieces.pop()
    }
    const long = pieces.pop()
    // A long word is scanned once for each line it is broken into.
    spend(long?.length ?? 0)
    if (long !== undefined && Array.from(long).length > width) {
      const room = Math.max(1, width - length)
      if (breaksWords) {
        const [head, rest] = brokenWord(long, room, breaksAtHyphens)
        current.push(head)
        if (rest !== '') pieces.push(rest)
      } else if (current.length === 0) current.push(long)
      else pieces.push(long)
    } else if (long !== undefined) pieces.push(long)
    if (current.at(-1)?.trim() === '') current.pop()
    if (current.length > 0) lines.push(current.join(''))
  }
  return lines
}

/** Breaks a long word after `room` characters, or after an earlier hyphen. */
function brokenWord(word: string, room: number, breaksAtHyphens: boolean): readonly [string, string] {
  const characters = Array.from(word)
  let end = room
  if (breaksAtHyphens && characters.length > room) {
    const hyphen = characters.lastIndexOf('-', room - 1)
    if (hyphen > 0 && characters.slice(0, hyphen).some((it) => it !== '-')) end = hyphen + 1
  }
  return [characters.slice(0, end).join(''), characters.slice(end).join('')]
}
