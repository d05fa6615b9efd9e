import {
  type Json,
  type JsonObject,
  getKey,
  isJsonArray,
  isJsonObject,
  ExactNumber,
  numberOf,
} from '../../base/json.ts'
import { asciiOnly, pythonRepr, pythonText } from './python-repr.ts'
import { RenderBudget } from './render-budget.ts'
import { TemplateFailure, variablesThere } from './template-format.ts'
import { formatFloat } from './format-float.ts'

/**
 * Renders a template of Python's `str.format` (interface 11.22): `{name}`, `{name[key][0]}`, `{name!r}`,
 * `{name:>10.2f}`; a format may contain fields, and `{{` and `}}` are braces. Refuses attributes
 * (`{name.key}`), as JSON has none.
 */
export function renderFString(template: string, variables: JsonObject, budget: RenderBudget): string {
  return new FString(template, variables, budget).render()
}

/** Throws a `TemplateFailure` for a malformed template. */
export function readFString(template: string): void {
  new FString(template, undefined, new RenderBudget()).render()
}

class FString {
  readonly #template: string
  /** Undefined when the template is only checked. */
  readonly #variables: JsonObject | undefined
  readonly #budget: RenderBudget
  #at = 0

  constructor(template: string, variables: JsonObject | undefined, budget: RenderBudget) {
    this.#template = template
    this.#variables = variables
    this.#budget = budget
  }

  render(): string {
    let rendered = ''
    for (;;) {
      const brace = this.#next(/[{}]/g)
      rendered += this.#template.slice(this.#at, brace)
      if (brace === this.#template.length) return rendered
      const character = this.#template.charAt(brace)
      if (this.#template.charAt(brace + 1) === character) {
        rendered += character
        this.#at = brace + 2
      } else if (character === '}') {
        throw new TemplateFailure(`The } at ${brace} closes nothing; write }} for a brace.`)
      } else {
        this.#at = brace + 1
        const text = this.#field(brace, 0)
        this.#budget.output(text.length)
        rendered += text
      }
    }
  }

  /** The text of the field whose brace is at `open`; moves behind it. */
  #field(open: number, depth: number): string {
    const value = this.#valueOf(this.#name(open), open)
    const shown = this.#take('!') ? converted(value, this.#template.charAt(this.#at++)) : value
    const spec = this.#take(':') ? this.#spec(open, depth) : ''
    if (!this.#take('}')) throw unclosed(open)
    return this.#variables ? formatValue(shown, spec) : ''
  }

  /** Everything up to `!`, `:` or `}`; a key in brackets may contain these. */
  #name(open: number): string {
    const begin = this.#at
    for (;;) {
      const end = this.#next(/[!:}{[]/g)
      const character = this.#template.charAt(end)
      if (end === this.#template.length || character === '{') throw unclosed(open)
      this.#at = end
      if (character !== '[') return this.#template.slice(begin, end)
      const close = this.#template.indexOf(']', end)
      if (close === -1) throw unclosed(open)
      this.#at = close + 1
    }
  }

  #valueOf(field: string, open: number): Json {
    const [name = ''] = /^[^.[]*/.exec(field) ?? []
    if (name === '')
      throw new TemplateFailure(`The field at ${open} has no name; write {name}, or {{ for a brace.`)
    let value: Json | undefined = this.#variables ? getKey(this.#variables, name) : null
    if (this.#variables && value === undefined) {
      throw new TemplateFailure(`The variable '${name}' is missing. ${variablesThere(this.#variables)}`)
    }
    let rest = field.slice(name.length)
    while (rest !== '') {
      const [step, key] = /^\[([^\]]+)\]/.exec(rest) ?? []
      if (step === undefined || key === undefined) {
        throw new TemplateFailure(
          `{${field}} cannot be followed; write keys and positions in brackets: {a[b][0]}.`,
        )
      }
      if (this.#variables && value !== undefined) value = memberOf(value, key)
      if (value === undefined) throw new TemplateFailure(`There is no '${key}' for {${field}}.`)
      rest = rest.slice(step.length)
    }
    return value ?? null
  }

  /** The format behind the colon, with its own fields filled in. */
  #spec(open: number, depth: number): string {
    let spec = ''
    for (;;) {
      const brace = this.#next(/[{}]/g)
      spec += this.#template.slice(this.#at, brace)
      this.#at = brace
      if (brace === this.#template.length) throw unclosed(open)
      if (this.#template.charAt(brace) === '}') return spec
      if (depth > 0) throw new TemplateFailure(`The format of the field at ${open} is nested too deeply.`)
      this.#at = brace + 1
      spec += this.#field(brace, depth + 1)
    }
  }

  #take(character: string): boolean {
    if (this.#template.charAt(this.#at) !== character) return false
    this.#at++
    return true
  }

  /** The position of the first of these characters, or the end of the template. */
  #next(characters: RegExp): number {
    characters.lastIndex = this.#at
    return characters.exec(this.#template)?.index ?? this.#template.length
  }
}

function memberOf(value: Json, key: string): Json | undefined {
  if (isJsonArray(value)) return /^[0-9]+$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) ? getKey(value, key) : undefined
}

function converted(value: Json, conversion: string): string {
  if (conversion === 's') return pythonText(value)
  if (conversion === 'r') return pythonRepr(value)
  if (conversion === 'a') return asciiOnly(pythonRepr(value))
  throw new TemplateFailure(`The conversion '!${conversion}' is unknown; use !r, !s or !a.`)
}

function unclosed(open: number): TemplateFailure {
  return new TemplateFailure(`The { at ${open} is not closed; write {{ for a brace.`)
}

/** The maximum width and precision of a field. */
const WIDEST = 1000

/**
 * Formats a value with Python's format mini-language,
 * `[[fill]align][sign][#][0][width][grouping][.precision][type]` (interface 11.22). Whole numbers keep all
 * their digits. Throws a `TemplateFailure` for an invalid format, or one that does not suit the value.
 */
function formatValue(value: Json, format: string): string {
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

/** The text of a number; the sign is separate so that zeros can follow it. */
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

/**
 * The exact value of a boolean or of a number written without point and exponent; undefined for anything
 * else.
 */
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

/**
 * Pads a number with zeros, and puts the separators of thousands between the zeros, too. The text may become one character wider than the spec
 * says, because a separator cannot come first.
 */
function zeroPadded(sign: string, digits: string, spec: Spec): string {
  let text = grouped(digits, spec)
  const isPadded = spec.fill === '0' && spec.align === '=' && spec.grouping !== ''
  for (let padding = digits; isPadded && sign.length + text.length < spec.width;) {
    padding = `0${padding}`
    text = grouped(padding, spec)
  }
  return text
}

/** Inserts a separator after every three digits of the whole part (four for bases other than ten). */
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
