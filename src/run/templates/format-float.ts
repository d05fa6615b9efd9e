import { TemplateFailure } from './template-format.ts'

/** The most fraction digits that ECMAScript formats. */
const MOST_DIGITS = 100

/**
 * Formats a non-negative number as Python does for this type: `f`, `e`, `g` (and their capitals), `%`, `n`,
 * or none. Rounds ties to even. Throws a `TemplateFailure` for more than a hundred digits.
 */
export function formatFloat(
  number: number,
  type: string,
  precision: number | undefined,
  alternate: boolean,
): string {
  const places = precision ?? 6
  if (places > MOST_DIGITS) {
    throw new TemplateFailure(`'.${places}' are too many digits; at most ${MOST_DIGITS} are written.`)
  }
  if (!Number.isFinite(number)) return /^[EFG]$/.test(type) ? 'INF' : type === '%' ? 'inf%' : 'inf'
  switch (type) {
    case 'f':
    case 'F':
      return fixed(number, places) + dot(alternate, places)
    case '%':
      return `${fixed(number * 100, places)}${dot(alternate, places)}%`
    case 'e':
      return exponential(number, places)
    case 'E':
      return exponential(number, places).toUpperCase()
    case 'G':
      return general(number, places, alternate, 0).toUpperCase()
    case '':
      // switches to an exponent one digit sooner, and keeps a digit behind the point
      return withPoint(general(number, places, alternate, 1))
    default:
      return general(number, places, alternate, 0)
  }
}

function dot(alternate: boolean, places: number): string {
  return alternate && places === 0 ? '.' : ''
}

function fixed(number: number, places: number): string {
  if (number >= 1e21) {
    const whole = BigInt(number).toString()
    return places === 0 ? whole : `${whole}.${'0'.repeat(places)}`
  }
  const text = number.toFixed(places)
  // ECMAScript rounds ties up
  return isTie(number, places) && isOdd(text) ? lowered(text) : text
}

/** Whether only a single five follows the digit at `places`. */
function isTie(number: number, places: number): boolean {
  if (places >= MOST_DIGITS) return false
  const all = number.toFixed(MOST_DIGITS)
  return /^50*$/.test(all.slice(all.indexOf('.') + 1 + places))
}

function isOdd(text: string): boolean {
  return '13579'.includes(text.charAt(text.length - 1))
}

/** Subtracts one from an odd last digit. */
function lowered(text: string): string {
  return text.slice(0, -1) + String(Number(text.charAt(text.length - 1)) - 1)
}

/** Writes the exponent with at least two digits. */
function exponential(number: number, places: number): string {
  const [digits = '', exponent = ''] = number.toExponential(places).split('e')
  const tail = places < MOST_DIGITS ? number.toExponential(MOST_DIGITS).slice(2 + places) : ''
  const even = /^50*e/.test(tail) && isOdd(digits) ? lowered(digits) : digits
  return `${even}e${exponent.replace(/^([-+])([0-9])$/, '$10$2')}`
}

/** Writes this many significant digits, with an exponent where that is shorter, without trailing zeros. */
function general(number: number, significant: number, alternate: boolean, sooner: number): string {
  const digits = Math.max(significant, 1)
  const exponent = number === 0 ? 0 : Number(number.toExponential(digits - 1).split('e')[1])
  const text =
    exponent < -4 || exponent >= digits - sooner
      ? exponential(number, digits - 1)
      : fixed(number, Math.max(digits - 1 - exponent, 0))
  const [mantissa = '', tail] = text.split('e')
  const pointed = mantissa.includes('.')
  const short = alternate
    ? mantissa + (pointed ? '' : '.')
    : pointed
      ? mantissa.replace(/\.?0+$/, '')
      : mantissa
  return tail === undefined ? short : `${short}e${tail}`
}

function withPoint(text: string): string {
  return /^[0-9]+$/.test(text) ? `${text}.0` : text
}
