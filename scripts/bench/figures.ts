/** One row of the table: a ratio to a floor of the same run, or a time or size. To be read, not a test. */
export interface Figure {
  readonly work: string
  readonly figure: string
  readonly goal: string
  readonly met: boolean
}

/** How large the bench is, where it may write, and who takes its figures. */
export interface BenchSetting {
  /** A folder of this run alone. */
  readonly folder: string
  /** Rounds that count, of those that alternate. */
  readonly rounds: number
  /** Artifacts of the large store. */
  readonly artifacts: number
  /** Rows of the large testset, and of the largest. */
  readonly rows: number
  readonly mostRows: number
  /** Rows of the testset that is evaluated. */
  readonly evaluatedRows: number
  readonly add: (work: string, figure: string, goal: string, met: boolean) => void
}

/** What is being done, on the last line of stderr until the next thing is. */
export function progress(what: string): void {
  process.stderr.write(`\r${`  ${what}`.padEnd(100)}\r`)
}

/** The table as the README shows it. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ work, figure, goal, met }) => `| ${work} | ${figure} | ${goal} | ${met ? 'yes' : 'no'} |\n`,
  )
  return `| work | figure | goal | met |\n|---|---|---|---|\n${rows.join('')}`
}
