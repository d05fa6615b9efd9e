export interface Progress {
  /** The unit of `done` and `total`. */
  readonly unit: 'bytes' | 'rows'
  readonly done: number
  /** Undefined if unknown, as for a pipe. */
  readonly total: number | undefined
  readonly rows: number
  /** Since the start. */
  readonly seconds: number
}

/** `[####......]  42 %  12.6/30.0 MB  412,000 rows  38,120 rows/s  0:04 left`, without unknown parts. A million rows fit into 80 columns. */
export function progressLine(progress: Progress): string {
  const { unit, done, total, rows, seconds } = progress
  const share = total === undefined ? undefined : total === 0 ? 1 : Math.min(1, done / total)
  const parts = [
    ...(share === undefined ? [] : [bar(share)]),
    ...(unit === 'bytes' ? [bytesOf(done, total)] : []),
    unit === 'rows' && total !== undefined ? `${count(rows)} of ${count(total)} rows` : `${count(rows)} rows`,
    `${count(seconds > 0 ? rows / seconds : 0)} rows/s`,
    ...(share === undefined ? [] : [share < 1 ? left(share, seconds) : 'storing']),
  ]
  return parts.filter((part) => part !== '').join('  ')
}

const BAR = 10

function bar(share: number): string {
  const filled = Math.floor(share * BAR)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}

function bytesOf(done: number, total: number | undefined): string {
  return total === undefined ? `${megabytes(done)} MB` : `${megabytes(done)}/${megabytes(total)} MB`
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}

function left(share: number, seconds: number): string {
  if (share === 0) return ''
  const rest = Math.ceil((seconds * (1 - share)) / share)
  const [hours, minutes] = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60]
  const clock = [...(hours > 0 ? [hours, String(minutes).padStart(2, '0')] : [minutes]), two(rest % 60)]
  return `${clock.join(':')} left`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
