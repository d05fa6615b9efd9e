import { useEffect, useRef } from 'react'
import { drawLines } from './draw-lines.ts'
import { loadChart } from './load-chart.ts'
import { dashesOfLine, hueOfLine } from './line-look.ts'
import type { LineChartProps } from './line-chart-props.ts'
import styles from './line-chart.module.css'

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
