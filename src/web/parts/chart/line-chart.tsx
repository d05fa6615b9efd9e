import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import styles from './line-chart.module.css'
import type UPlot from 'uplot'

/** Lines over whole numbers. Each line has its own hue and its own dashes, and stands in the legend with both. */
export function LineChart(props: LineChartProps) {
  const { label, lines } = props
  const frame = useRef<HTMLDivElement>(null)
  // Drawn again only when what it shows is another.
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
    <figure className={styles.chart}>
      <div ref={frame} className={styles.frame} role="img" aria-label={label} />
      <figcaption>
        <ul className={styles.legend}>
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
 * Loads uPlot, which takes the browser's language for a number format as soon as it is loaded, and throws where that is none, such as the
 * `en-US@posix` of a browser under `LANG=C`. There the page's own language is the browser's from then on.
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

/** Draws a chart into an element, as wide as that is. */
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
        // One version alone stands in the middle.
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

/** A canvas knows no variables: what they are in the theme of now is read from an element. */
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

/** And by their dashes, as not everybody sees hues. */
function dashesOfLine(at: number): readonly number[] {
  return DASHES[at % DASHES.length] ?? []
}

const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]]

/** A line of a chart: a value at each of the chart's places, null where there is none. */
interface ChartLine {
  readonly name: string
  readonly values: readonly (number | null)[]
}

interface LineChartProps {
  /** What the chart shows, for whoever listens: the numbers themselves belong into a table beside it. */
  readonly label: string
  /** Where the values stand, ascending: versions. */
  readonly places: readonly number[]
  readonly lines: readonly ChartLine[]
  readonly placeName: (place: number) => string
  readonly valueName: (value: number) => string
  /** The least and the greatest value of the scale. */
  readonly range: readonly [number, number]
}
