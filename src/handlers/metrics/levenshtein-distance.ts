/** What does not fit a step of the computation: so many characters are compared with one at a time. */
const WORD = 32

/** How many steps the distance takes at most: what the texts begin or end with alike costs next to nothing. */
export function levenshteinSteps(left: Int32Array, right: Int32Array): number {
  const { columns, rows } = differences(left, right)
  return Math.ceil(rows.length / WORD) * columns.length
}

/**
 * How many characters have to be inserted, removed or replaced to make one text of the other. Takes code points; needs memory for one
 * row. Myers' algorithm in the form of Hyyrö, a block of 32 rows after the other: 32 cells of the table are the bits of a word.
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

function distanceOf(columns: Int32Array, rows: Int32Array): number {
  const numbers = numbered(rows)
  const [columnNumbers, rowNumbers] = [columns, rows].map((points) =>
    points.map((point) => numbers.get(point) ?? 0),
  ) as [Int32Array, Int32Array] // a pair is mapped to a pair
  // what the block above says of each column: whether its last row goes up by one there, or down
  const carries = new Int8Array(columns.length).fill(1)
  const places = new Int32Array(numbers.size + 1)
  let distance = columns.length
  for (let top = 0; top < rows.length; top += WORD) {
    const block = rowNumbers.subarray(top, top + WORD)
    for (const [row, number] of block.entries()) places[number] = (places[number] ?? 0) | (1 << row)
    distance = goThrough(columnNumbers, places, block.length, carries, top + block.length)
    for (const number of block) places[number] = 0
  }
  return distance
}

/** The characters of a text from 1 on; 0 is every other. */
function numbered(points: Int32Array): Map<number, number> {
  const numbers = new Map<number, number>()
  for (const point of points) if (!numbers.has(point)) numbers.set(point, numbers.size + 1)
  return numbers
}

/** Goes through the columns of a block of rows; answers the distance in the last row's last column. */
function goThrough(
  columns: Int32Array,
  places: Int32Array,
  height: number,
  carries: Int8Array,
  bottom: number,
): number {
  const last = height - 1
  let up = -1
  let down = 0
  let distance = bottom
  for (let column = 0; column < columns.length; column++) {
    const equal = places[columns[column] ?? 0] ?? 0
    const carry = carries[column] ?? 0
    const falls = carry >>> 31
    const rises = (carry & 1) ^ falls
    const across = equal | down
    const met = equal | falls
    const along = ((((met & up) + up) | 0) ^ up) | met
    const right = down | ~(along | up)
    const left = up & along
    const out = ((right >>> last) & 1) - ((left >>> last) & 1)
    carries[column] = out
    distance += out
    const shifted = (right << 1) | rises
    up = (left << 1) | falls | ~(across | shifted)
    down = shifted & across
  }
  return distance
}
