import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Standard output as commands see it. */
export interface Terminal {
  /** Whether a person looks at it, and not a program. */
  readonly isTTY: boolean
  /** The width in columns; undefined in a pipe. */
  readonly columns: number | undefined
  readonly rows: number | undefined
  readonly hasColours: boolean
  /** The program that pages what is long, as a shell command. */
  readonly pager: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>

/** What `NO_COLOR`, `TERM` and `PAGER` say of an output. */
export function terminalOf({ isTTY = false, columns, rows }: Partial<Output>, env: Environment): Terminal {
  return {
    isTTY,
    columns: isTTY ? columns || DEFAULT_COLUMNS : undefined,
    rows: isTTY ? rows : undefined,
    hasColours: isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    pager: isTTY ? env['PAGER'] || undefined : undefined,
  }
}

const DEFAULT_COLUMNS = 80

const SGR = { bold: 1, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** The text in a colour, where the terminal has any. */
export function paint({ hasColours }: Terminal, colour: keyof typeof SGR, text: string): string {
  return hasColours ? `\x1b[${SGR[colour]}m${text}\x1b[0m` : text
}

/** Shows text with the pager, which ends before this resolves. `sh` is what git runs a pager with, too. */
export async function page(pager: string, text: string, environment: Environment): Promise<void> {
  const env = { LESS: 'FRX', ...environment } // as git has it: leave if it fits, show colours, keep the screen
  const child = spawn('sh', ['-c', pager], { stdio: ['pipe', 'inherit', 'inherit'], env })
  child.stdin.on('error', () => undefined) // the pager was left before the end
  const ignore = (): void => undefined
  process.on('SIGINT', ignore) // it is for the pager
  child.stdin.end(text)
  await once(child, 'close')
  process.off('SIGINT', ignore)
}

/** Stored text without characters that would steer a terminal; line breaks and tabs stay. */
export function harmless(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '�')
}

/** The same in one line. */
export function oneLine(text: string): string {
  return harmless(text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('\t', ' '))
}

/** A time: on a terminal relative to now within a week, else local; for programs as the server sent it. */
export function shownTime(date: string, { isTTY }: Terminal, now = Date.now()): string {
  const time = Date.parse(date)
  if (!isTTY || Number.isNaN(time)) return date
  const seconds = Math.max(0, Math.round((now - time) / 1000))
  const unit = UNITS.find(({ below }) => seconds < below)
  if (unit === undefined) return localTime(new Date(time))
  const count = Math.floor(seconds / unit.seconds)
  return unit.name === '' ? 'just now' : `${count} ${unit.name}${count === 1 ? '' : 's'} ago`
}

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]
const UNITS = [
  { below: MINUTE, seconds: 1, name: '' },
  { below: HOUR, seconds: MINUTE, name: 'minute' },
  { below: DAY, seconds: HOUR, name: 'hour' },
  { below: 7 * DAY, seconds: DAY, name: 'day' },
]

/** `2026-11-28 09:30`, on the clock of this machine. */
function localTime(time: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-')
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`
}
