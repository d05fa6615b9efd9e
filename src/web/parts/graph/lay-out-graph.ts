/** What the layout needs of a commit. Commits come newest first, none behind one of its parents. */
export interface GraphCommit {
  readonly commit: string
  readonly parents: readonly string[]
  readonly variant?: { readonly id: string } | undefined
}

/** A line through a row: from its top, its commit or its bottom, in lanes counted from the left. */
export interface GraphLine {
  readonly kind: 'passes' | 'joins' | 'leaves'
  readonly from: number
  readonly to: number
}

/** What is drawn in the row of a commit. */
export interface GraphRow {
  readonly lane: number
  readonly lines: readonly GraphLine[]
}

export interface GraphLayout {
  readonly rows: readonly GraphRow[]
  /** How many lanes there are side by side, at most `MOST_LANES`. */
  readonly width: number
}

/** More lanes than these are drawn over each other in the last one. */
export const MOST_LANES = 12

/**
 * The lanes of a history, as `git log --graph` draws them: a commit's first parent stays in its lane, forks meet in the row of the
 * commit that they began at, and a merge leads to each parent. The main variant's line has the first lane to itself.
 */
export function layOutGraph(commits: readonly GraphCommit[], mainVariant?: string): GraphLayout {
  /** The commit that each lane leads to. */
  const lanes: (string | undefined)[] = [undefined]
  const rows: GraphRow[] = []
  let width = 1
  const freeLane = (): number => {
    const free = lanes.indexOf(undefined, 1)
    return free < 0 ? lanes.length : free
  }
  for (const { commit, parents, variant } of commits) {
    const waiting = lanes.flatMap((expected, lane) => (expected === commit ? [lane] : []))
    const isMain = mainVariant !== undefined && variant?.id === mainVariant
    const lane = isMain ? 0 : (waiting.find((it) => it > 0) ?? waiting[0] ?? freeLane())
    const lines: GraphLine[] = lanes.flatMap((expected, at) => {
      if (expected === undefined) return []
      return [{ kind: expected === commit ? 'joins' : 'passes', from: at, to: expected === commit ? lane : at }]
    })
    for (const at of waiting) lanes[at] = undefined
    parents.forEach((parent, index) => {
      const known = index === 0 ? -1 : lanes.indexOf(parent)
      const to = index === 0 ? lane : known >= 0 ? known : freeLane()
      lanes[to] = parent
      lines.push({ kind: 'leaves', from: lane, to })
    })
    while (lanes.length > 1 && lanes.at(-1) === undefined) lanes.pop()
    width = Math.max(width, lane + 1, ...lines.slice(-12).map(({ to }) => to + 1), Math.min(lanes.length, MOST_LANES))
    rows.push({ lane: capped(lane), lines: cappedLines(lines) })
  }
  return { rows, width: Math.min(width, MOST_LANES) }
}

function capped(lane: number): number {
  return Math.min(lane, MOST_LANES - 1)
}

/** Lines of the lanes that are drawn over each other are one line. */
function cappedLines(lines: readonly GraphLine[]): readonly GraphLine[] {
  if (lines.every(({ from, to }) => from < MOST_LANES && to < MOST_LANES)) return lines
  const seen = new Set<string>()
  return lines
    .map(({ kind, from, to }) => ({ kind, from: capped(from), to: capped(to) }))
    .filter(({ kind, from, to }) => {
      const key = `${kind} ${from} ${to}`
      return !seen.has(key) && seen.add(key)
    })
}
