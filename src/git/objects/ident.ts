import { invalid } from '../../errors.ts'

/** Who and when, as a commit or tag carries it: `Name <email> <seconds since 1970> <+hhmm>`. */
export interface Ident {
  readonly name: string
  readonly email: string
  /** Of a signature that was read always within the calendar, see `LATEST_SECONDS`. */
  readonly seconds: number
  /** Offset from UTC as git writes it, `+0000`; it changes how the time is shown, never which time it is. */
  readonly timezone: string
}

/** The last second of the year 9999, in seconds since 1970: no date of RFC 3339 is later. */
export const LATEST_SECONDS = 253_402_300_799

/** The nearest time that a calendar has: plain git stores any number, and one such commit must not end a list of others. */
export function withinCalendar(seconds: number): number {
  return Math.min(Math.max(seconds || 0, 0), LATEST_SECONDS)
}

/**
 * Reads a signature as forgivingly as git does: the name ends at the first `<`, the email at the first `>` after it, the
 * time stands after the last `>`. What is missing or odd comes back empty, 0 or `+0000`; a time outside 1970 to 9999 as the nearest
 * one within.
 */
export function parseIdent(line: string): Ident {
  const open = line.indexOf('<')
  if (open < 0) return { name: line.trim(), email: '', seconds: 0, timezone: '+0000' }
  const close = line.indexOf('>', open)
  const email = line.slice(open + 1, close < 0 ? undefined : close).trim()
  const when = /^ *(\d+)(?: +([+-]\d{4}))?/.exec(line.slice(line.lastIndexOf('>') + 1))
  return {
    name: line.slice(0, open).trim(),
    email,
    seconds: withinCalendar(Number(when?.[1] ?? 0)),
    timezone: when?.[2] ?? '+0000',
  }
}

/**
 * Writes a signature for the header named `role` (author, committer). Refuses what `git fsck --strict` would complain
 * about instead of changing it.
 */
export function encodeIdent(role: string, { name, email, seconds, timezone }: Ident): string {
  refuseBadPart([role, 'name'], name)
  refuseBadPart([role, 'email'], email)
  if (!Number.isSafeInteger(seconds) || seconds < 0 || seconds > LATEST_SECONDS) {
    throw invalid([role, 'seconds'], `${seconds} is not a whole number of seconds from 1970 to 9999.`)
  }
  if (!/^[+-]\d{4}$/.test(timezone)) {
    throw invalid([role, 'timezone'], `"${timezone}" is not an offset like +0000.`)
  }
  return `${name} <${email}> ${seconds} ${timezone}`
}

function refuseBadPart(loc: readonly string[], text: string): void {
  if (/[<>\n\0]|\p{Surrogate}/u.test(text)) {
    throw invalid(
      loc,
      `${JSON.stringify(text)} cannot stand in a git signature; leave out <, >, line breaks and NUL.`,
    )
  }
}
