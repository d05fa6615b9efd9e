/** When something happened: roughly, with the exact time on hover. */
export function Ago({ date }: { readonly date: string }) {
  const time = new Date(date)
  return (
    <time dateTime={date} title={time.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}>
      {ago(time.getTime(), Date.now())}
    </time>
  )
}

/** `2 h`, `3 d`, `now`: how long before `now` it was, both in milliseconds. */
export function ago(time: number, now: number): string {
  const seconds = Math.max(0, (now - time) / 1000)
  if (seconds < 5) return 'now'
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${unit}`
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
