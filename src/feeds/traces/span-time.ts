/**
 * Parses a time of a client into microseconds: RFC 3339, or integers of 10, 13, 16 or 19 digits, which are seconds, milliseconds,
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
