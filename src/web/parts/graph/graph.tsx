import styles from './graph.module.css'

interface GraphLinesProps {
  readonly row: GraphRow
  /** The number of lanes in the graph. */
  readonly width: number
  /** In pixels. */
  readonly height: number
}

/** The distance of two lanes, in pixels. */
const STEP = 14

/** The lines of the graph in one row, and the dot of its commit. Hidden from screen readers, which read the row. */
export function GraphLines({ row, width, height }: GraphLinesProps) {
  const middle = height / 2
  return (
    <svg className={styles.graph} width={width * STEP + 4} height={height} aria-hidden>
      {row.lines.map((line, at) => (
        <path
          key={at}
          d={pathOf(line, middle, height)}
          style={{ stroke: colourOf(line.kind === 'leaves' ? line.to : line.from) }}
        />
      ))}
      <circle cx={x(row.lane)} cy={middle} r={4.5} style={{ fill: colourOf(row.lane) }} />
    </svg>
  )
}

/** The colour of a lane; the first one has the accent colour. */
export function colourOf(lane: number): string {
  return lane === 0 ? 'var(--accent)' : `var(--env-${(lane - 1) % 6})`
}

function x(lane: number): number {
  return lane * STEP + STEP / 2 + 2
}

function pathOf({ kind, from, to }: GraphLine, middle: number, height: number): string {
  const [start, end] = kind === 'joins' ? [0, middle] : kind === 'leaves' ? [middle, height] : [0, height]
  if (from === to) return `M ${x(from)} ${start} V ${end}`
  const bend = (start + end) / 2
  return `M ${x(from)} ${start} C ${x(from)} ${bend} ${x(to)} ${bend} ${x(to)} ${end}`
}

/** The fields of a commit used by the layout. Commits are sorted newest first, parents after children. */
interface GraphCommit {
  readonly commit: string
  readonly parents: readonly string[]
  readonly variant?: { readonly id: string } | undefined
}

/** A line in a row, from lane to lane: past its commit, down to its commit, or from its commit. */
interface GraphLine {
  readonly kind: 'passes' | 'joins' | 'leaves'
  readonly from: number
  readonly to: number
}

/** The drawing of a commit's row. */
export interface GraphRow {
  readonly lane: number
  readonly lines: readonly GraphLine[]
}

interface GraphLayout {
  readonly rows: readonly GraphRow[]
  /** The number of lanes, at most `MOST_LANES`. */
  readonly width: number
}

/** Further lanes are drawn in the last one. */
const MOST_LANES = 12

/**
 * Lays out a history like `git log --graph`: a first parent stays in its lane, forks join in the row of their common commit, and a merge leads to
 * each parent. The main variant has the first lane.
 */
export function layOutGraph(commits: readonly GraphCommit[], mainVariant?: string): GraphLayout {
  /** The next commit of each lane. */
  const lanes: (string | undefined)[] = [undefined]
  let width = 1
  const rows = commits.map(({ commit, parents, variant }) => {
    const waiting = lanes.indexOf(commit)
    const isMain = mainVariant !== undefined && variant?.id === mainVariant
    const lane = isMain ? 0 : waiting < 0 ? freeLane(lanes) : waiting
    const lines = new Lines()
    for (const [at, expected] of lanes.entries()) {
      if (expected === commit) lines.add('joins', at, lane)
      else if (expected !== undefined) lines.add('passes', at, at)
      if (expected === commit) lanes[at] = undefined
    }
    for (const [index, parent] of parents.entries()) {
      const known = index === 0 ? lane : lanes.indexOf(parent)
      const to = known < 0 ? freeLane(lanes) : known
      lanes[to] = parent
      lines.add('leaves', lane, to)
    }
    while (lanes.length > 1 && lanes.at(-1) === undefined) lanes.pop()
    width = Math.max(width, lines.width, capped(lane) + 1)
    return { lane: capped(lane), lines: lines.all }
  })
  return { rows, width }
}

/** The lines of one row, without duplicates. */
class Lines {
  readonly all: GraphLine[] = []
  readonly #inLast = new Set<string>()
  width = 0

  add(kind: GraphLine['kind'], realFrom: number, realTo: number): void {
    const [from, to] = [capped(realFrom), capped(realTo)]
    if (from !== realFrom || to !== realTo) {
      const key = `${kind} ${from} ${to}`
      if (this.#inLast.has(key)) return
      this.#inLast.add(key)
    }
    this.all.push({ kind, from, to })
    this.width = Math.max(this.width, from + 1, to + 1)
  }
}

/** The first lane is reserved for the main variant. */
function freeLane(lanes: readonly (string | undefined)[]): number {
  const free = lanes.indexOf(undefined, 1)
  return free < 0 ? lanes.length : free
}

function capped(lane: number): number {
  return Math.min(lane, MOST_LANES - 1)
}
