import { distance } from 'fastest-levenshtein'

/** What does not fit a step of the computation: so many characters are compared with one at a time. */
const WORD = 32

/** How many steps the distance takes at most: what the texts begin or end with alike costs next to nothing. */
export function levenshteinSteps(left: Int32Array, right: Int32Array): number {
  const { columns, rows } = differences(left, right)
  return Math.ceil(rows.length / WORD) * columns.length
}

/**
 * How many characters have to be inserted, removed or replaced to make one text of the other. Takes code points; needs memory for one
 * row. Throws a RangeError for texts of more than 65,536 different characters.
 */
export function levenshteinDistance(left: Int32Array, right: Int32Array): number {
  const { columns, rows } = differences(left, right)
  return rows.length === 0 ? columns.length : distanceOf(columns, rows)
}

/** The texts without what they begin and end with alike: the longer as columns, the shorter as rows. */
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

/** Code units of UTF-16 that a text of the library's can have. */
const UNITS = 0x10000

/** The library compares UTF-16 code units: each different code point gets one of its own. */
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
  if (units.size > UNITS) throw new RangeError(`texts of more than ${UNITS} different characters`)
  return distance(longer, shorter)
}
