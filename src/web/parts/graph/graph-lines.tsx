import type { GraphLine, GraphRow } from './lay-out-graph.ts'
import styles from './graph-lines.module.css'

export interface GraphLinesProps {
  readonly row: GraphRow
  /** How many lanes the whole graph has. */
  readonly width: number
  /** In pixels. */
  readonly height: number
}

/** Between two lanes, in pixels. */
const STEP = 14

/** The lines through a row of a history, and the dot of its commit. Whoever listens hears the row's text. */
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

/** The colour of a lane; the first one has the page's own. */
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
