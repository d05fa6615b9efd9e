import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import styles from './line-chart.module.css'
import type UPlot from 'uplot'

/** A line chart over whole numbers. Each line has its own colour and dashes, shown in the legend. */
export function LineChart(props: LineChartProps) {
  const { label, lines } = props
  const frame = useRef<HTMLDivElement>(null)
  // Drawn again only when its data changes.
  const shape = JSON.stringify([props.places, lines, props.range])
  useEffect(() => {
    const element = frame.current
    if (!element) return undefined
    let chart: { destroy(): void } | undefined
    let isGone = false
    const draw = (): void => {
      void loadChart().then((Chart) => {
        if (isGone) return
        chart?.destroy()
        chart = drawLines(Chart, element, props)
      })
    }
    const resized = new ResizeObserver(draw)
    resized.observe(element)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', draw)
    const chosen = new MutationObserver(draw)
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      isGone = true
      resized.disconnect()
      chosen.disconnect()
      dark.removeEventListener('change', draw)
      chart?.destroy()
    }
  }, [shape])
  return (
    <figure className={`card ${styles.chart}`}>
      <div ref={frame} className={styles.frame} role="img" aria-label={label} />
      <figcaption>
        <ul className={`row-wide muted-small ${styles.legend}`}>
          {lines.map(({ name }, at) => (
            <li key={name}>
              <svg width="28" height="8" aria-hidden>
                <line
                  x1="0"
                  y1="4"
                  x2="28"
                  y2="4"
                  strokeWidth="2"
                  style={{ stroke: hueOfLine(at) }}
                  strokeDasharray={dashesOfLine(at).join(' ')}
                />
              </svg>
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

/**
 * Loads uPlot, which formats numbers in the browser's language, and throws if that is not valid, such as the `en-US@posix` of a browser under
 * `LANG=C`. Then the browser's language is set to the page's.
 */
async function loadChart() {
  if (!isLanguage(navigator.language))
    Object.defineProperty(navigator, 'language', { value: document.documentElement.lang || 'en' })
  return (await import('uplot')).default
}

function isLanguage(tag: string): boolean {
  try {
    return new Intl.NumberFormat(tag).format(1) !== ''
  } catch {
    return false
  }
}

const HEIGHT = 240

/** Draws a chart as wide as its element. */
function drawLines(Chart: typeof UPlot, element: HTMLElement, props: LineChartProps): { destroy(): void } {
  const { places, lines, placeName, valueName, range } = props
  const color = colorsBelow(element)
  const axis = {
    stroke: color('var(--muted)'),
    grid: { stroke: color('var(--line)'), width: 1 },
    ticks: { stroke: color('var(--line)'), width: 1 },
    font: '12px system-ui, sans-serif',
  }
  const [first = 1, last = 1] = [places[0], places.at(-1)]
  return new Chart(
    {
      width: Math.max(element.clientWidth, 120),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        // A single version is in the middle.
        x: { time: false, range: first === last ? [first - 1, last + 1] : [first, last] },
        y: { range: [range[0], range[1]] },
      },
      axes: [
        {
          ...axis,
          values: (_, ticks) => ticks.map((tick) => (places.includes(tick) ? placeName(tick) : '')),
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000],
        },
        { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => valueName(tick)) },
      ],
      series: [
        {},
        ...lines.map(({ name }, at) => ({
          label: name,
          stroke: color(hueOfLine(at)),
          width: 2,
          dash: [...dashesOfLine(at)],
          spanGaps: true,
          points: { show: true, size: 7, fill: color(hueOfLine(at)) },
        })),
      ],
    },
    [[...places], ...lines.map(({ values }) => [...values])],
    element,
  )
}

/** A canvas cannot use CSS variables: their values are read from an element. */
function colorsBelow(element: HTMLElement): (role: string) => string {
  return (role) => {
    const probe = document.createElement('span')
    probe.style.color = role
    element.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}

/** Lines are told apart by hue. */
function hueOfLine(at: number): string {
  return `var(--env-${at % 6})`
}

/** Lines differ in dashes, too, for people who do not see all colours. */
function dashesOfLine(at: number): readonly number[] {
  return DASHES[at % DASHES.length] ?? []
}

const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]]

/** A line of a chart: one value for each place, or null. */
interface ChartLine {
  readonly name: string
  readonly values: readonly (number | null)[]
}

interface LineChartProps {
  /** The name of the chart for screen readers: the numbers belong into a table beside it. */
  readonly label: string
  /** The x values, ascending: versions. */
  readonly places: readonly number[]
  readonly lines: readonly ChartLine[]
  readonly placeName: (place: number) => string
  readonly valueName: (value: number) => string
  /** The range of the y axis. */
  readonly range: readonly [number, number]
}
