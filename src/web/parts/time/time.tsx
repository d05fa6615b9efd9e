interface AgoProps {
  readonly date: string
  /** For use in a sentence: `2 h ago`, `just now`. */
  readonly inSentence?: boolean
}

/** A relative time, with the exact one as a tooltip. */
export function Ago({ date, inSentence = false }: AgoProps) {
  const time = new Date(date)
  return (
    <time dateTime={date} title={time.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}>
      {inSentence ? said(ago(time.getTime(), Date.now())) : ago(time.getTime(), Date.now())}
    </time>
  )
}

/** `2 h`, `3 d`, `now`: the time from `time` to `now`, both in milliseconds. */
export function ago(time: number, now: number): string {
  const seconds = Math.max(0, (now - time) / 1000)
  if (seconds < 5) return 'now'
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${unit}`
}

function said(how: string): string {
  return how === 'now' ? 'just now' : `${how} ago`
}

const UNITS = [
  [31_557_600, 'y'],
  [2_629_800, 'mo'],
  [604_800, 'w'],
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const

/** A duration from milliseconds: `340 ms`, `2.4 s`, `3 min 12 s`. */
export function duration(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}
