import { MOST_SLIPS, slipsBetween } from './nearest-name.ts'
import { TimeSlice } from '../scheduling/cooperative.ts'

/** So many names are looked at, so many of them letter by letter, and so many found. */
const MOST_LOOKED_AT = 100_000
const MOST_COMPARED = 5_000
const MOST_FOUND = 3

const STEPS = 256

/** Searches at a time; who comes then goes without. */
const MOST_SEARCHES = 2
let searches = 0

/**
 * What stands beside the names that are nearest to `name`, at most three, nearest first: a slip or two away, or the beginning of the
 * other up to a `-`, `_` or `.`. Names and `name` are in lower case. Bounded, in slices, and undefined where others are searching.
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
    // A slip takes a letter away, and brings one.
    const isFar = Math.abs(other.length - name.length) > most || bits(letters ^ lettersOf(other)) > 2 * most
    if (isFar || compared === MOST_COMPARED) return undefined
    compared++
    const slips = slipsBetween(...differing(name, other))
    return slips <= most ? slips : undefined
  }
  for (const [other, beside] of known) {
    if (++lookedAt > MOST_LOOKED_AT) break
    if (lookedAt % STEPS === 0 && slice.isOver) await slice.rest()
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

/** Both without what they begin and end with alike, which has no slips. */
function differing(one: string, other: string): [string, string] {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)]
}

/** Whether `long` goes on where `short` ends, as `support-bot` does after `support`. */
function continues(long: string, short: string): boolean {
  return long.length > short.length && long.startsWith(short) && /[-_.]/.test(long.charAt(short.length))
}

/** Which letters and digits a name has, a bit each. */
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
