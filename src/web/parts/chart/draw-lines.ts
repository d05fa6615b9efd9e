import 'uplot/dist/uPlot.min.css'
import type UPlot from 'uplot'
import { dashesOfLine, hueOfLine } from './line-look.ts'
import type { LineChartProps } from './line-chart-props.ts'

const HEIGHT = 240

/** Draws a chart into an element, as wide as that is. */
export function drawLines(
  Chart: typeof UPlot,
  element: HTMLElement,
  props: LineChartProps,
): { destroy(): void } {
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
