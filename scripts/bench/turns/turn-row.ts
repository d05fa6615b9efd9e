import type { Turns } from './turn-monitor.ts'

/** What one request brought about. */
export interface TurnRow extends Turns {
  /** `POST /workflows/query` */
  readonly route: string
  readonly shape: string
  /** `1 MiB`, or so many rows. */
  readonly size: string
  /** 0 where no answer came. */
  readonly status: number
  /** The longest piece that is allowed, in milliseconds. */
  readonly bound: number
}

const MOST_OF_SMALL = 100
const MOST_OF_LARGE = 300

/** The bound of a body of so many bytes. */
export function boundOf(bytes: number): number {
  return bytes <= 1024 * 1024 ? MOST_OF_SMALL : MOST_OF_LARGE
}

/** A table of every row that is over its bound and the worst of each route and size, and of the routes nothing was sent to. */
export function turnTable(rows: readonly TurnRow[], without: readonly string[]): string {
  const worst = new Map<string, TurnRow>()
  for (const row of rows) {
    const key = `${row.route} ${row.size}`
    const other = worst.get(key)
    if (!other || other.longest < row.longest) worst.set(key, row)
  }
  const shown = rows.filter((row) => !isMet(row) || worst.get(`${row.route} ${row.size}`) === row)
  const heads = ['route', 'shape', 'size', 'status', 'longest piece', 'bound', 'met', 'peak memory']
  const lines = [heads, heads.map(() => '---'), ...shown.map(cells)]
  const table = lines.map((line) => `| ${line.join(' | ')} |\n`).join('')
  const none = without.map((route) => `- ${route}\n`).join('')
  return `${table}\n${rows.length} requests; the table has the worst of each route and size, and each that missed.\n${none && `\nNothing was sent to:\n${none}`}`
}

export function isMet({ longest, bound, status }: TurnRow): boolean {
  return longest <= bound && status > 0
}

function cells(row: TurnRow): string[] {
  const { route, shape, size, status, longest, bound, peak } = row
  return [
    route,
    shape,
    size,
    status === 0 ? 'no answer' : String(status),
    `${Math.round(longest)} ms`,
    `${bound} ms`,
    isMet(row) ? 'yes' : '**no**',
    `${Math.round(peak / 1024 / 1024)} MB`,
  ]
}
