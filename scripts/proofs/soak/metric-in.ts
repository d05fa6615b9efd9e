/** Reads one number out of what `GET /metrics` answers: the value of `name`, a metric with its labels as they are printed. Throws if it is not there. */
export function metricIn(text: string, name: string): number {
  const line = text.split('\n').find((it) => it.startsWith(`${name} `))
  if (line === undefined) throw new Error(`/metrics does not tell ${name}`)
  return Number(line.slice(name.length + 1))
}
