import { niceTicks } from './nice-ticks.ts'

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
export function drawPanel({ title, remark, curves }: Panel, frame: Frame): string {
  const { left, top, width, height, span } = frame
  const ticks = niceTicks(Math.max(...curves.flatMap(({ points }) => points.map(([, y]) => y))), 4)
  const most = ticks.at(-1) ?? 1
  const place = ([x, y]: readonly [number, number]): string =>
    `${round(left + (x / span) * width)} ${round(top + height - (y / most) * height)}`
  const right = left + width
  return [
    '<g>',
    `<text class="title" x="${left}" y="${top - 12}">${escaped(title)}</text>`,
    remark === undefined
      ? ''
      : `<text x="${right}" y="${top - 12}" text-anchor="end">${escaped(remark)}</text>`,
    ...ticks.map((tick) => {
      const y = round(top + height - (tick / most) * height)
      return (
        `<path class="${tick === 0 ? 'axis' : 'grid'}" d="M${left} ${y}H${right}"/>` +
        `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${tick}</text>`
      )
    }),
    ...curves.map(
      ({ points, colour }) => `<path class="curve" stroke="${colour}" d="M${points.map(place).join('L')}"/>`,
    ),
    ...curves.map(({ trend, colour }) =>
      trend ? `<path class="trend" stroke="${colour}" d="M${trend.map(place).join('L')}"/>` : '',
    ),
    ...labels(curves, (y) => top + height - (y / most) * height).map(
      ({ curve, y }) =>
        `<text style="fill:${curve.colour}" x="${right + 8}" y="${round(y + 4)}">${escaped(curve.label)}</text>`,
    ),
    '</g>',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

/** Each label beside the end of its curve, pushed down where it would lie on another. */
function labels(curves: readonly Curve[], toPixel: (y: number) => number) {
  const placed = curves
    .map((curve) => ({ curve, y: toPixel(curve.points.at(-1)?.[1] ?? 0) }))
    .sort((a, b) => a.y - b.y)
  const lowest = toPixel(0)
  // from the bottom up, so that none falls below the axis
  for (let index = placed.length - 1; index >= 0; index--) {
    const label = placed[index]
    const below = placed[index + 1]
    if (label) label.y = Math.min(label.y, below ? below.y - LINE : lowest)
  }
  return placed
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
