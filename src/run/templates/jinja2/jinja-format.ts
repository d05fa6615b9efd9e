import { formatFloat } from '../format-float.ts'
import { asciiOnly } from '../python-repr.ts'
import { TemplateFailure } from '../template-format.ts'
import { isDict, type JinjaValue, kindOf, jinjaNumber, reprText, shownText, Tuple } from './jinja-values.ts'

interface Spending {
  readonly spend: (size: number) => void
}

const PLACE = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|[0-9]+)?(?:\.(\*|[0-9]+))?[hlL]?([^])?/g

/**
 * Formats as Python's `text % values`: `%s`, `%5.2f`, `%(name)s`. A tuple gives one value per place, a
 * dictionary gives values by name, anything else is the only value. Throws a `TemplateFailure` if places and
 * values do not match.
 */
export function formatPercent(template: string, values: JinjaValue, { spend }: Spending): string {
  const list = values instanceof Tuple ? values.items : [values]
  let used = 0
  let names = false
  const next = (): JinjaValue => {
    const value = list[used++]
    if (value === undefined) throw new TemplateFailure('The text has more places (%s) than there are values.')
    return value
  }
  const written = template.replace(PLACE, (_: string, ...groups: (string | undefined)[]) => {
    const [name, flags = '', width, precision, type] = groups
    if (type === '%') return '%'
    const size = width === '*' ? wholeIn(next()) : Number(width ?? 0)
    const digits =
      precision === undefined ? undefined : precision === '*' ? wholeIn(next()) : Number(precision)
    if (name !== undefined) names = true
    const value = name === undefined ? next() : named(values, name)
    spend(Math.abs(size) + (digits ?? 0))
    const text = converted(type, flags, value, digits, spend)
    spend(text.length)
    if (text.length >= Math.abs(size)) return text
    if (flags.includes('-') || size < 0) return text.padEnd(Math.abs(size))
    if (!flags.includes('0') || type === undefined || 'sracC'.includes(type)) return text.padStart(size)
    const sign = /^[-+ ]/.exec(text)?.[0] ?? ''
    return sign + text.slice(sign.length).padStart(size - sign.length, '0')
  })
  if (!names && !isDict(values) && used < list.length)
    throw new TemplateFailure('There are more values than places (%s) in the text.')
  return written
}

function named(values: JinjaValue, name: string): JinjaValue {
  const value = isDict(values) ? values.get(name) : undefined
  if (value === undefined) throw new TemplateFailure(`There is no value named '${name}' for %(${name})s.`)
  return value
}

function wholeIn(value: JinjaValue): number {
  const number = jinjaNumber(value)
  if (typeof number === 'bigint') return Number(number)
  throw new TemplateFailure(`The width * takes a whole number, and not ${kindOf(value)}.`)
}

function converted(
  type: string | undefined,
  flags: string,
  value: JinjaValue,
  precision: number | undefined,
  spend: (size: number) => void,
): string {
  if (type === 's') return cut(shownText(value, spend), precision)
  if (type === 'r') return cut(reprText(value, spend), precision)
  if (type === 'a') return cut(asciiOnly(reprText(value, spend)), precision)
  if (type === 'c')
    return typeof value === 'bigint' ? String.fromCodePoint(Number(value)) : shownText(value, spend)
  const number = jinjaNumber(value)
  if (number === undefined)
    throw new TemplateFailure(`%${type ?? ''} takes a number, and not ${kindOf(value)}.`)
  if (type !== undefined && 'eEfFgG'.includes(type)) {
    const float = Number(number)
    return signed(
      formatFloat(Math.abs(float), type, precision, flags.includes('#')),
      float < 0 || Object.is(float, -0),
      flags,
    )
  }
  const base = type === undefined ? undefined : BASES[type]
  if (base === undefined) throw new TemplateFailure(`%${type ?? ''} is no format; use %s, %d or %f.`)
  const whole = typeof number === 'bigint' ? number : BigInt(Math.trunc(number))
  const digits = (whole < 0n ? -whole : whole).toString(base.radix).padStart(precision ?? 0, '0')
  const prefix = flags.includes('#') ? base.prefix : ''
  return signed(prefix + (type === 'X' ? digits.toUpperCase() : digits), whole < 0n, flags)
}

const BASES: Readonly<Record<string, { readonly radix: number; readonly prefix: string }>> = {
  d: { radix: 10, prefix: '' },
  i: { radix: 10, prefix: '' },
  u: { radix: 10, prefix: '' },
  o: { radix: 8, prefix: '0o' },
  x: { radix: 16, prefix: '0x' },
  X: { radix: 16, prefix: '0X' },
}

function cut(text: string, most: number | undefined): string {
  return most === undefined ? text : Array.from(text).slice(0, most).join('')
}

function signed(text: string, isNegative: boolean, flags: string): string {
  return (isNegative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '') + text
}
