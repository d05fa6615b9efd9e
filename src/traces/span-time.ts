/** Times of traces are whole microseconds since 1970: exact in a double until the year 2255, and what two spans are ordered by. */

/** The microseconds of a time in milliseconds with a fraction. */
export function microsecondsOf(milliseconds: number): number {
  return Math.round(milliseconds * 1000)
}

/** As records show it: RFC 3339 in UTC with six decimals. Such texts have the order of time, which ends with the year 9999. */
export function isoOf(time: number): string {
  const microseconds = Math.min(time, LAST_SECOND * 1e6)
  const second = Math.floor(microseconds / 1e6)
  // Times that are written together are mostly of one second.
  if (second !== lastSecond) {
    lastSecond = second
    lastText = new Date(second * 1000).toISOString().slice(0, -'000Z'.length)
  }
  return `${lastText}${String(microseconds - second * 1e6).padStart(6, '0')}Z`
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000

let lastSecond = 0
let lastText = '1970-01-01T00:00:00.'

/**
 * The microseconds that a client means: RFC 3339, or whole numbers of 10, 13, 16 or 19 digits, which are seconds, milliseconds,
 * microseconds or nanoseconds (interface 12.11). Undefined for anything else.
 */
export function readTime(text: string): number | undefined {
  const scale = SCALES.get(text.length)
  if (scale !== undefined && /^[0-9]+$/.test(text)) return Math.floor(Number(text) * scale)
  const [, seconds, fraction = '', zone = 'Z'] = ISO.exec(text) ?? []
  if (seconds === undefined) return undefined
  const time = seconds.length === DAY ? `${seconds}T00:00:00` : seconds.replace(/[t ]/, 'T')
  const whole = Date.parse(time + zone.toUpperCase())
  return Number.isNaN(whole) ? undefined : whole * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

const SCALES: ReadonlyMap<number, number> = new Map([
  [10, 1e6],
  [13, 1e3],
  [16, 1],
  [19, 1e-3],
])

const ISO = /^(\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2})?)?)(?:\.(\d+))?([Zz]|[+-]\d{2}:?\d{2})?$/

const DAY = '2026-03-01'.length
