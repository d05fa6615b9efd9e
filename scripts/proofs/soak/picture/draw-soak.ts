import { linearAxis, logarithmicAxis } from './axis.ts'
import { type Curve, drawPanel, type Panel } from './draw-panel.ts'
import { judgeSoak } from '../judge-soak.ts'
import { MEASURES, type Measure } from '../measures.ts'
import type { Soak } from '../load/run-soak.ts'
import { trendOf } from './trend-of.ts'
import { typical } from '../load/typical.ts'

/** Pixels. */
const [WIDTH, LEFT, RIGHT, TOP, BOTTOM] = [960, 60, 152, 100, 52]
const [PANEL, GAP] = [96, 46]

/** Grey and colours that can be read on white and on black. */
const GREY = '#7a858f'
const BLUE = '#2f86d6'
const ORANGE = '#d9772b'

const STYLE =
  `text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:${GREY}}` +
  'text.head{font-size:18px;font-weight:600}text.title{font-size:13px;font-weight:600}' +
  `path{fill:none}.grid,.axis{stroke:${GREY};stroke-opacity:.22}.axis{stroke-opacity:.7}` +
  '.curve{stroke-width:1.3;stroke-linejoin:round}.trend{stroke-width:1.6;stroke-dasharray:6 4}'

/** The soak as a picture (SVG): small charts, one below the other over one axis of time, readable on light and dark pages. */
export function drawSoak(soak: Soak): string {
  const { samples, requests, problems } = soak
  const panels = panelsOf(soak)
  const seconds = samples.at(-1)?.at ?? 0
  const width = WIDTH - LEFT - RIGHT
  const topOf = (index: number): number => TOP + index * (PANEL + GAP)
  const bottom = topOf(panels.length - 1) + PANEL
  const x = (minute: number): number => LEFT + ((minute * 60) / seconds) * width
  const verdict = judgeSoak(soak).length === 0 ? 'flat' : 'not flat'
  const title = `${count(seconds / 60)} minutes of mixed load: ${verdict}`
  const totals =
    `${count(requests)} requests, ${count(samples.at(-1)?.commits ?? 0)} commits and ${count(problems.length)} unexpected answers. ` +
    'Dashed: where the second half is heading (least squares).'
  const height = bottom + BOTTOM
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${title}">`,
    `<style>${STYLE}</style>`,
    `<text class="head" x="${LEFT}" y="30">${title}</text>`,
    `<text x="${LEFT}" y="52">${totals}</text>`,
    ...panels.flatMap((panel, index) => {
      const top = topOf(index)
      const half = `<rect x="${LEFT + width / 2}" y="${top}" width="${width / 2}" height="${PANEL}" fill="${GREY}" fill-opacity="0.08"/>`
      return [half, drawPanel(panel, { left: LEFT, top, width, height: PANEL, span: seconds })]
    }),
    ...linearAxis(seconds / 60, 6)
      .ticks.filter((tick) => tick * 60 <= seconds)
      .map(
        (tick) =>
          `<path class="axis" d="M${x(tick).toFixed(1)} ${bottom}v5"/>` +
          `<text x="${x(tick).toFixed(1)}" y="${bottom + 20}" text-anchor="middle">${tick}</text>`,
      ),
    `<text x="${LEFT + width / 2}" y="${bottom + 40}" text-anchor="middle">minutes</text>`,
    '</svg>\n',
  ].join('\n')
}

function panelsOf({ samples }: Soak): Panel[] {
  const curve = (label: string, colour: string, measure: Measure): Curve => ({
    label: `${label} ${typical(samples, measure, 0.9, 1).toFixed(measure.digits)}`,
    colour,
    points: samples.map((sample) => [sample.at, measure.of(sample)]),
  })
  const heading = (label: string, colour: string, measure: Measure): Curve => {
    const { line } = trendOf(samples, measure)
    return { ...curve(label, colour, measure), trend: line }
  }
  const most = (...measures: readonly Measure[]): number =>
    Math.max(...measures.flatMap(({ of }) => samples.map(of)))
  const { resident, heap, descriptors, children, delayP99, delayMax, requests, processor, p50, p99 } =
    MEASURES
  return [
    {
      title: 'Memory, MB',
      remark: slopes(samples, { resident, heap }),
      axis: linearAxis(most(resident), 4),
      curves: [heading('resident', BLUE, resident), heading('heap in use', ORANGE, heap)],
    },
    {
      title: 'Open files and processes',
      remark: slopes(samples, { descriptors }),
      axis: linearAxis(most(descriptors), 4),
      curves: [heading('descriptors', BLUE, descriptors), curve('processes', ORANGE, children)],
    },
    {
      title: 'Event-loop delay, ms (logarithmic)',
      axis: logarithmicAxis(0.1, most(delayMax)),
      curves: [curve('worst', ORANGE, delayMax), curve('p99', BLUE, delayP99)],
    },
    {
      title: 'Requests a second, and processor time in % of a core',
      axis: linearAxis(most(requests, processor), 4),
      curves: [curve('requests', BLUE, requests), curve('% of a core', ORANGE, processor)],
    },
    {
      title: 'Answered after, ms (logarithmic)',
      axis: logarithmicAxis(1, most(p99)),
      curves: [curve('p99', ORANGE, p99), curve('half', BLUE, p50)],
    },
  ]
}

function slopes(samples: Soak['samples'], measures: Readonly<Record<string, Measure>>): string {
  const parts = Object.entries(measures).map(([name, measure]) => {
    const { perHour } = trendOf(samples, measure)
    return `${name} ${perHour < 0 ? '−' : '+'}${`${count(Math.abs(perHour))} ${measure.unit}`.trim()}`
  })
  return `an hour: ${parts.join(', ')}`
}

function count(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
}
