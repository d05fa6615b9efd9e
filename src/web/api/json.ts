/** A number of a stored value that JavaScript would change: shown, and sent back, digit for digit. */
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

/** What browsers have and TypeScript does not know yet. */
interface RawJson {
  rawJSON(text: string): unknown
}

/** Where a text has none of these, every number in it survives. */
const RISKY = /\d{16}|\d[eE][+-]?\d{3}|\.\d{16}/

/** Reads JSON. A number that does not survive as one (`12345678901234567890`) becomes an `ExactNumber`. */
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

/** One spelling of each decimal number. */
function decimal(text: string): string {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text)
  if (!found) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found
  const digits = (whole + fraction).replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

/** What is in an object that may be anything. */
export type Members = Readonly<Record<string, unknown>>

/** The members of an object; none of anything else. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}
