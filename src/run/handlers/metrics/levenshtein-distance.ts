import { distance } from 'fastest-levenshtein'

/** A step of the computation compares one character with this many. */
const CHARACTERS_PER_STEP = 32

/** The maximum number of steps for the distance; common beginnings and ends cost almost nothing. */
export function levenshteinSteps(left: Int32Array, right: Int32Array): number {
  const { columns, rows } = differences(left, right)
  return Math.ceil(rows.length / CHARACTERS_PER_STEP) * columns.length
}

/**
 * The number of characters to insert, remove or replace to turn one text into the other. Takes code points;
 * uses memory for one row. Throws a RangeError for texts of more than 65,536 different characters.
 */
export function levenshteinDistance(left: Int32Array, right: Int32Array): number {
  const { columns, rows } = differences(left, right)
  return rows.length === 0 ? columns.length : distanceOf(columns, rows)
}

/** The texts without their common beginning and end: the longer as columns, the shorter as rows. */
function differences(left: Int32Array, right: Int32Array): { columns: Int32Array; rows: Int32Array } {
  const [longer, shorter] = left.length >= right.length ? [left, right] : [right, left]
  let start = 0
  while (start < shorter.length && longer[start] === shorter[start]) start++
  let end = 0
  const most = shorter.length - start
  while (end < most && longer[longer.length - 1 - end] === shorter[shorter.length - 1 - end]) end++
  return {
    columns: longer.subarray(start, longer.length - end),
    rows: shorter.subarray(start, shorter.length - end),
  }
}

/** How many different UTF-16 code units exist. */
const MAX_UNITS = 0x10000

/** The library compares UTF-16 code units, so each distinct code point is mapped to one. */
function distanceOf(columns: Int32Array, rows: Int32Array): number {
  const units = new Map<number, number>()
  const textOf = (points: Int32Array): string => {
    const text = new Uint16Array(points.length)
    for (const [index, point] of points.entries()) {
      let unit = units.get(point)
      if (unit === undefined) units.set(point, (unit = units.size))
      text[index] = unit
    }
    return Buffer.from(text.buffer).toString('utf16le')
  }
  const [longer, shorter] = [textOf(columns), textOf(rows)]
  if (units.size > MAX_UNITS) throw new RangeError(`texts of more than ${MAX_UNITS} different characters`)
  return distance(longer, shorter)
}
