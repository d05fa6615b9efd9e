import { MOST_SLIPS, slipsBetween } from './nearest-name.ts'
import { TimeSlice } from '../scheduling/cooperative.ts'

/** Limits on the names scanned, compared letter by letter, and found. */
const MOST_LOOKED_AT = 100_000
const MOST_COMPARED = 5_000
const MOST_FOUND = 3

const NAMES_BETWEEN_CLOCK_READS = 256

/** Maximum number of concurrent searches; further ones return undefined. */
const MOST_SEARCHES = 2
let searches = 0

/**
 * The values of the names nearest to `name`, at most three, nearest first: names within two typing errors, or
 * of which one is the beginning of the other up to a `-`, `_` or `.`. Names and `name` are lowercase. The
 * work is bounded and in slices; undefined if too many searches run.
 */
export async function nearNames<T>(
  name: string,
  known: Iterable<readonly [name: string, beside: T]>,
): Promise<readonly T[] | undefined> {
  if (searches === MOST_SEARCHES) return undefined
  searches++
  try {
    return await search(name, known)
  } finally {
    searches--
  }
}

async function search<T>(name: string, known: Iterable<readonly [string, T]>): Promise<readonly T[]> {
  const most = Math.min(MOST_SLIPS, Math.floor(name.length / 2))
  const letters = lettersOf(name)
  const slice = new TimeSlice()
  const found: { readonly rank: number; readonly beside: T }[] = []
  let lookedAt = 0
  let compared = 0
  const rankOf = (other: string): number | undefined => {
    if (continues(other, name) || continues(name, other)) return most + 1
    // A typing error changes at most two letters of the set: one removed, one added.
    const isFar = Math.abs(other.length - name.length) > most || bits(letters ^ lettersOf(other)) > 2 * most
    if (isFar || compared === MOST_COMPARED) return undefined
    compared++
    const slips = slipsBetween(...differing(name, other))
    return slips <= most ? slips : undefined
  }
  for (const [other, beside] of known) {
    if (++lookedAt > MOST_LOOKED_AT) break
    if (lookedAt % NAMES_BETWEEN_CLOCK_READS === 0 && slice.isOver) await slice.rest()
    const rank = rankOf(other)
    if (rank === undefined) continue
    found.push({ rank, beside })
    if (found.length > 2 * MOST_FOUND) keepNearest(found)
  }
  keepNearest(found)
  return found.map(({ beside }) => beside)
}

function keepNearest(found: { readonly rank: number }[]): void {
  found.sort((one, other) => one.rank - other.rank)
  found.length = Math.min(found.length, MOST_FOUND)
}

/** Both names without their common beginning and end, which contain no errors. */
function differing(one: string, other: string): [string, string] {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)]
}

/** Whether `long` continues `short` after a separator, as `support-bot` does `support`. */
function continues(long: string, short: string): boolean {
  return long.length > short.length && long.startsWith(short) && /[-_.]/.test(long.charAt(short.length))
}

/** The letters and digits of a name as bits. */
function lettersOf(name: string): number {
  let letters = 0
  for (let at = 0; at < name.length; at++) letters |= 1 << (name.charCodeAt(at) % 32)
  return letters
}

function bits(number: number): number {
  let count = 0
  for (let left = number; left !== 0; left &= left - 1) count++
  return count
}
