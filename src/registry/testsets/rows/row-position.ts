/**
 * The position of a row (interface 15.5): a sequence of bytes, as a string with one character (U+0000 to U+00FF) per byte, so that strings
 * compare as positions do. The bytes 00 3f 05 are the file `testcases/00/3f/05.json`; rows inserted after it are in the folder
 * `testcases/00/3f/05/`. git sorts `05.json`, `05.meta.json`, `05/`, `06.json` in this order, so its depth-first order is the order of
 * positions. No position ends in the byte 00, so that a row can always be inserted before the first one of a folder.
 */
export type RowPosition = string

/** Maximum bytes of a position, reached after about a hundred single insertions at one place. */
export const DEEPEST_POSITION = 16

/** Whether the position is longer than rows may be deep; then the caller numbers all rows again. */
export function isTooDeep(position: RowPosition): boolean {
  return position.length > DEEPEST_POSITION
}

/** A position as a path below `testcases`, without an ending: `00/3f/05`. */
export function positionPath(position: RowPosition): string {
  return Array.from(position, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('/')
}

/** Parses a path of `positionPath`; undefined for any other text, and for a position that is too deep. */
export function parsePosition(path: string): RowPosition | undefined {
  if (!/^[0-9a-f]{2}(\/[0-9a-f]{2})*$/.test(path)) return undefined
  const position = Buffer.from(path.replaceAll('/', ''), 'hex').toString('latin1')
  return position.endsWith('\0') || isTooDeep(position) ? undefined : position
}

/**
 * The next `count` positions after `last` (undefined: the first ones), ascending, without gaps: three bytes each, and three more after ff
 * ff ff.
 */
export function positionsAfter(last: RowPosition | undefined, count: number): RowPosition[] {
  let prefix = ''
  let rest = last ?? ''
  while (rest.startsWith(LAST_TRIPLE)) {
    prefix += LAST_TRIPLE
    rest = rest.slice(LAST_TRIPLE.length)
  }
  let rank = ranksUpTo(numberOf(rest, USUAL_LENGTH))
  const positions: RowPosition[] = []
  while (positions.length < count) {
    const room = TRIPLES - Number(rank)
    pushRun(positions, prefix, USUAL_LENGTH, rank, Math.min(room, count - positions.length))
    prefix += LAST_TRIPLE
    rank = 0n
  }
  return positions
}

/**
 * `count` positions strictly between two neighbours, ascending: consecutive, in the middle of the gap, and as short as possible but at
 * least three bytes. Undefined means the beginning or the end. Throws a RangeError if `before` is not below `after`.
 */
export function positionsBetween(
  before: RowPosition | undefined,
  after: RowPosition | undefined,
  count: number,
): RowPosition[] {
  if (after === undefined) return positionsAfter(before, count)
  const low = before ?? ''
  if (low >= after || after.endsWith('\0')) {
    throw new RangeError(`no row fits between ${positionPath(low)} and ${positionPath(after)}`)
  }
  const shared = sharedLength(low, after)
  const [from, to] = [low.slice(shared), after.slice(shared)]
  for (let length = Math.max(1, USUAL_LENGTH - shared); ; length++) {
    // If the upper neighbour is longer, its prefix is below it and still free.
    const end = numberOf(to, length) + (to.length > length ? 1n : 0n)
    const first = ranksUpTo(numberOf(from, length))
    const free = Number(ranksUpTo(end - 1n) - first)
    if (free < count) continue
    const positions: RowPosition[] = []
    pushRun(
      positions,
      low.slice(0, shared),
      length,
      first + BigInt(middle(Number(first % 255n), free, count)),
      count,
    )
    return positions
  }
}

const LAST_TRIPLE = '\xff\xff\xff'

/** Bytes of a position, unless its row was inserted between others. */
const USUAL_LENGTH = LAST_TRIPLE.length

/** The number of positions of three bytes: 255 in each folder. */
const TRIPLES = 255 * 256 * 256

/** The bytes as a number of `length` digits: cut, or padded with 00. */
function numberOf(bytes: string, length: number): bigint {
  const digits = Buffer.from(bytes.slice(0, length).padEnd(length, '\0'), 'latin1').toString('hex')
  return BigInt(`0x${digits}`)
}

/** The number of values from 1 to `number` that do not end in 00: the rank, from 0, of the next such value. */
function ranksUpTo(number: bigint): bigint {
  return number - number / 256n
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}

/** The offset of a run in `free` places: the middle, or the next folder if the run fills at least one. */
function middle(firstOfGap: number, free: number, count: number): number {
  const start = Math.floor((free - count) / 2)
  if (count < 255) return start
  const aligned = start + ((255 - ((firstOfGap + (start % 255)) % 255)) % 255)
  return aligned + count <= free ? aligned : start
}

/** Adds the positions of `count` consecutive ranks: `prefix`, followed by the digits of each. */
function pushRun(
  positions: RowPosition[],
  prefix: string,
  length: number,
  rank: bigint,
  count: number,
): void {
  let folder = rank / 255n
  let last = Number(rank % 255n) + 1
  for (let left = count; left > 0; last = 1, folder++) {
    const head = prefix + folderBytes(folder, length - 1)
    const end = Math.min(255, last + left - 1)
    left -= end - last + 1
    for (; last <= end; last++) positions.push(head + String.fromCharCode(last))
  }
}

function folderBytes(folder: bigint, length: number): string {
  if (length === 0) return ''
  return Buffer.from(folder.toString(16).padStart(2 * length, '0'), 'hex').toString('latin1')
}
