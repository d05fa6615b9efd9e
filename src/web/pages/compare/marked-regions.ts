/** Lines that three sides of a merge have at one place. */
export interface Region {
  readonly target: string
  readonly base: string
  readonly source: string
}

const MARKS = ['<<<<<<<', '|||||||', '=======', '>>>>>>>'] as const

/** The places of a text at which a merge met a conflict, of its lines with the marks that git sets (`diff3`). */
export function regionsOf(marked: string): readonly Region[] {
  const regions: Region[] = []
  let sides: [target: string[], base: string[], source: string[]] = [[], [], []]
  let side = -1
  for (const line of marked.split('\n')) {
    // A mark counts only where it comes in its turn: texts may hold such lines themselves.
    const next = MARKS[side + 1]
    if (next === undefined || !(line === next || line.startsWith(`${next} `))) {
      sides[side]?.push(line)
      continue
    }
    side++
    if (side < sides.length) continue
    const [target, base, source] = sides.map((lines) => lines.join('\n'))
    regions.push({ target: target ?? '', base: base ?? '', source: source ?? '' })
    sides = [[], [], []]
    side = -1
  }
  return regions
}
