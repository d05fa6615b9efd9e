import type { Axis } from './axis.ts'

/** One curve of a panel. */
export interface Curve {
  /** What stands beside its end. */
  readonly label: string
  readonly colour: string
  readonly points: readonly (readonly [x: number, y: number])[]
  /** A straight line from one point to another that tells where it is heading. */
  readonly trend?: readonly [readonly [x: number, y: number], readonly [x: number, y: number]]
}

/** A chart of a few curves over one axis of time. */
export interface Panel {
  readonly title: string
  /** What is worth a remark, on the right above the chart. */
  readonly remark?: string
  readonly axis: Axis
  readonly curves: readonly Curve[]
}

/** Where a panel stands in the picture, in pixels, and how many units of x there are. */
export interface Frame {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly span: number
}

/** Labels at the ends of curves are at least so far apart. */
const LINE = 15

/** The panel as a group of SVG elements; texts get their look from the picture's style. */
export function drawPanel({ title, remark, axis, curves }: Panel, frame: Frame): string {
  const { left, top, width, height, span } = frame
  const right = left + width
  const pixelOf = (value: number): number => round(top + height * (1 - axis.heightOf(value)))
  const path = (points: Curve['points']): string =>
    `M${points.map(([x, y]) => `${round(left + (x / span) * width)} ${pixelOf(y)}`).join('L')}`
  return [
    '<g>',
    `<text class="title" x="${left}" y="${top - 12}">${escaped(title)}</text>`,
    remark === undefined
      ? ''
      : `<text x="${right}" y="${top - 12}" text-anchor="end">${escaped(remark)}</text>`,
    ...axis.ticks.map((tick, index) => {
      const y = pixelOf(tick)
      return (
        `<path class="${index === 0 ? 'axis' : 'grid'}" d="M${left} ${y}H${right}"/>` +
        `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${tick.toLocaleString('en')}</text>`
      )
    }),
    ...curves.map(({ points, colour }) => `<path class="curve" stroke="${colour}" d="${path(points)}"/>`),
    ...curves.map(({ trend, colour }) =>
      trend ? `<path class="trend" stroke="${colour}" d="${path(trend)}"/>` : '',
    ),
    ...labels(curves, pixelOf, top + height).map(
      ({ curve, y }) =>
        `<text style="fill:${curve.colour}" x="${right + 8}" y="${round(y + 4)}">${escaped(curve.label)}</text>`,
    ),
    '</g>',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

/** Each label beside the end of its curve, pushed up where it would lie on another; none lies below the chart. */
function labels(curves: readonly Curve[], pixelOf: (value: number) => number, bottom: number) {
  let lowest = bottom
  // where two end at one height, the one that is drawn first stands above
  return curves
    .toReversed()
    .map((curve) => ({ curve, y: pixelOf(curve.points.at(-1)?.[1] ?? 0) }))
    .sort((a, b) => b.y - a.y)
    .map(({ curve, y }) => {
      const label = { curve, y: Math.min(y, lowest) }
      lowest = label.y - LINE
      return label
    })
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
