/**
 * The known name most likely meant by `name`: one within two typing errors, else one that continues it
 * (`environment_ref` for `environment`); undefined if none is near.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined
  const written = name.toLowerCase()
  let nearest: string | undefined
  let least = Math.min(MOST_SLIPS, Math.floor(name.length / 2)) + 1
  let longer: string | undefined
  for (const candidate of known) {
    const meant = candidate.toLowerCase()
    if (longer === undefined && /^[_.]/.test(meant.slice(written.length)) && meant.startsWith(written))
      longer = candidate
    if (Math.abs(meant.length - written.length) >= least) continue
    const slips = slipsBetween(written, meant)
    if (slips >= least) continue
    least = slips
    nearest = candidate
  }
  return nearest ?? longer
}

/** More typing errors mean another name. */
export const MOST_SLIPS = 2

/** No known name is longer, and the work grows with the length. */
const LONGEST = 64

/** The number of missing, extra, wrong or transposed letters (optimal string alignment). */
export function slipsBetween(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      let least = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (isSame ? 0 : 1))
      const isExchange = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (isExchange) least = Math.min(least, at(before, j - 2) + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return at(row, other.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
