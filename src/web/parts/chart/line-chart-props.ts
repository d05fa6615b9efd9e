/** A line of a chart: a value at each of the chart's places, null where there is none. */
export interface ChartLine {
  readonly name: string
  readonly values: readonly (number | null)[]
}

export interface LineChartProps {
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
