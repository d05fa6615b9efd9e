/** A number that JavaScript cannot hold exactly. It is shown, and sent back, digit for digit. */
export class ExactNumber {
  /** As it is stored. */
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }

  toJSON(): unknown {
    return (JSON as Partial<RawJson>).rawJSON?.(this.text) ?? Number(this.text)
  }
}

/** In browsers, but not yet in TypeScript's types. */
interface RawJson {
  rawJSON(text: string): unknown
}

/** If a text has none of these, JavaScript can hold all of its numbers exactly. */
const RISKY = /\d{16}|\d[eE][+-]?\d{3}|\.\d{16}/

/** Parses JSON. A number that JavaScript cannot hold (`12345678901234567890`) becomes an `ExactNumber`. */
export function parseJson(text: string): unknown {
  if (!RISKY.test(text)) return JSON.parse(text)
  return JSON.parse(text, ((_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && !isSame(value, context.source)
      ? new ExactNumber(context.source)
      : value) as (key: string, value: unknown) => unknown)
}

function isSame(value: number, source: string): boolean {
  return decimal(String(value)) === decimal(source)
}

/** The normal form of a decimal number. */
function decimal(text: string): string {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text)
  if (!found) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found
  const digits = (whole + fraction).replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

/** The members of an object of unknown shape. */
export type Members = Readonly<Record<string, unknown>>

/** The members of an object; none for anything else. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}
