import { type Json, ExactNumber, isJsonArray, isJsonObject, numberOf } from '../../../json/json.ts'
import { formatFloat } from '../format-float.ts'
import { pythonText } from '../python-repr.ts'
import { TemplateFailure } from '../template-format.ts'

/** Columns a field may be padded to, and digits behind its point. */
const WIDEST = 1000

/**
 * A value in Python's format mini-language, `[[fill]align][sign][#][0][width][grouping][.precision][type]` (interface 11.22).
 * Whole numbers keep all their digits. Throws a `TemplateFailure` for a format that is none, or none of such a value.
 */
export function formatValue(value: Json, format: string): string {
  if (format === '') return pythonText(value)
  const spec = parseSpec(format)
  if (typeof value === 'string')
    return padded('', formatString(value, spec), { ...spec, align: spec.align ?? '<' })
  const integer = integerOf(value)
  const number = typeof value === 'boolean' ? Number(value) : numberOf(value)
  if (number === undefined) throw unsuited(spec, value)
  const { sign, prefix, digits } =
    integer !== undefined && !/^[eEfFgG%]$/.test(spec.type)
      ? formatInteger(integer, spec, value)
      : formatNumber(number, spec, value)
  const front = signOf(sign, spec.sign) + prefix
  return padded(front, zeroPadded(front, digits, spec), { ...spec, align: spec.align ?? '>' })
}

interface Spec {
  readonly fill: string
  readonly align: string | undefined
  readonly sign: string
  readonly alternate: boolean
  readonly width: number
  readonly grouping: string
  readonly precision: number | undefined
  readonly type: string
}

/** What is written of a number: the sign is apart so that zeros can be put behind it. */
interface NumberText {
  readonly sign: string
  readonly prefix: string
  readonly digits: string
}

const SPEC =
  /^(?:(?<fill>[^])?(?<align>[<>=^]))?(?<sign>[-+ ])?(?<alternate>#)?(?<zero>0)?(?<width>[0-9]+)?(?<grouping>[,_])?(?:\.(?<precision>[0-9]+))?(?<type>[sdbcoxXneEfFgG%])?$/u

function parseSpec(format: string): Spec {
  const parts = SPEC.exec(format)?.groups
  if (!parts) throw new TemplateFailure(`'${format}' is no format; write one like '>10', ',' or '.2f'.`)
  const width = Number(parts['width'] ?? 0)
  const precision = parts['precision'] === undefined ? undefined : Number(parts['precision'])
  if (width > WIDEST || (precision ?? 0) > WIDEST) {
    throw new TemplateFailure(`The format '${format}' is too wide; at most ${WIDEST} columns are written.`)
  }
  const zero = parts['zero'] !== undefined
  return {
    fill: parts['fill'] ?? (zero ? '0' : ' '),
    align: parts['align'] ?? (zero ? '=' : undefined),
    sign: parts['sign'] ?? '-',
    alternate: parts['alternate'] !== undefined,
    width,
    grouping: parts['grouping'] ?? '',
    precision,
    type: parts['type'] ?? '',
  }
}

function formatString(text: string, spec: Spec): string {
  if (spec.type !== '' && spec.type !== 's') throw unsuited(spec, text)
  if (spec.align === '=' && spec.fill !== '0') throw unsuited(spec, text)
  if (spec.sign !== '-' || spec.alternate || spec.grouping !== '') throw unsuited(spec, text)
  return spec.precision === undefined ? text : [...text].slice(0, spec.precision).join('')
}

/** All digits of a whole number, boolean or written without point and exponent; undefined for anything else. */
function integerOf(value: Json): bigint | undefined {
  if (typeof value === 'boolean') return BigInt(value)
  const literal =
    typeof value === 'number' ? String(value) : value instanceof ExactNumber ? value.literal : ''
  return /^-?[0-9]+$/.test(literal) ? BigInt(literal) : undefined
}

function formatInteger(integer: bigint, spec: Spec, value: Json): NumberText {
  const base = BASES[spec.type]
  if (base === undefined || spec.precision !== undefined) throw unsuited(spec, value)
  if (spec.type === 'c') return { sign: '', prefix: '', digits: characterOf(integer) }
  const digits = (integer < 0n ? -integer : integer).toString(base)
  return {
    sign: integer < 0n ? '-' : '',
    prefix: spec.alternate && base !== 10 ? `0${spec.type}` : '',
    digits: spec.type === 'X' ? digits.toUpperCase() : digits,
  }
}

const BASES: Readonly<Record<string, number>> = { '': 10, d: 10, n: 10, c: 10, b: 2, o: 8, x: 16, X: 16 }

function characterOf(integer: bigint): string {
  if (integer < 0n || integer > 0x10ffffn) throw new TemplateFailure(`There is no character ${integer}.`)
  return String.fromCodePoint(Number(integer))
}

function formatNumber(number: number, spec: Spec, value: Json): NumberText {
  if (!/^[eEfFgGn%]?$/.test(spec.type)) throw unsuited(spec, value)
  const sign = number < 0 || Object.is(number, -0) ? '-' : ''
  if (spec.type === '' && spec.precision === undefined) {
    return { sign, prefix: '', digits: pythonText(value).replace(/^-/, '') }
  }
  return {
    sign,
    prefix: '',
    digits: formatFloat(Math.abs(number), spec.type, spec.precision, spec.alternate),
  }
}

function signOf(sign: string, wanted: string): string {
  if (sign !== '') return sign
  return wanted === '-' ? '' : wanted
}

/** Zeros that pad a number are grouped with it, so that it may come out one wider. */
function zeroPadded(sign: string, digits: string, spec: Spec): string {
  let text = grouped(digits, spec)
  const isPadded = spec.fill === '0' && spec.align === '=' && spec.grouping !== ''
  for (let padding = digits; isPadded && sign.length + text.length < spec.width;) {
    padding = `0${padding}`
    text = grouped(padding, spec)
  }
  return text
}

/** With a separator after every three digits of the whole part (four, for bases other than ten). */
function grouped(digits: string, { grouping, type }: Spec): string {
  if (grouping === '') return digits
  const [whole = ''] = /^[0-9]*/.exec(digits) ?? []
  if (/^[boxX]$/.test(type)) return digits.replace(/\B(?=(?:[0-9a-fA-F]{4})+$)/g, grouping)
  return whole.replace(/\B(?=(?:[0-9]{3})+$)/g, grouping) + digits.slice(whole.length)
}

function padded(sign: string, text: string, { fill, align, width }: Spec): string {
  const missing = width - [...sign, ...text].length
  if (missing <= 0) return sign + text
  if (align === '=') return sign + fill.repeat(missing) + text
  const before = align === '>' ? missing : align === '^' ? Math.floor(missing / 2) : 0
  return fill.repeat(before) + sign + text + fill.repeat(missing - before)
}

function unsuited({ type, precision }: Spec, value: Json): TemplateFailure {
  const code = (precision === undefined ? '' : `.${precision}`) + type
  const kind = isJsonArray(value) ? 'a list' : isJsonObject(value) ? 'an object' : pythonText(value)
  return new TemplateFailure(
    code === ''
      ? `${kind} cannot be formatted; convert it with !s.`
      : `The format '${code}' does not suit ${kind}.`,
  )
}
