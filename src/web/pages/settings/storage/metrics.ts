/** A number of the server that is worth reading by eye; all of them are in `GET /metrics` (docs/operations/metrics.md). */
export interface ServerMetric {
  readonly name: string
  readonly label: string
  readonly show: (value: number) => string
}

const whole = (value: number): string => Math.round(value).toLocaleString()
const megabytes = (value: number): string => `${Math.round(value / 1_048_576).toLocaleString()} MB`

export const METRICS: readonly ServerMetric[] = [
  { name: 'branchpoint_commits_total', label: 'commits since the start', show: whole },
  { name: 'branchpoint_pushes_total', label: 'pushes since the start', show: whole },
  { name: 'branchpoint_writes_waiting', label: 'writes that wait', show: whole },
  { name: 'branchpoint_http_requests_in_flight', label: 'requests at work', show: whole },
  { name: 'branchpoint_git_requests_running', label: 'clones and pushes at work', show: whole },
  { name: 'branchpoint_git_requests_waiting', label: 'clones and pushes that wait', show: whole },
  { name: 'branchpoint_webhook_deliveries_waiting', label: 'webhook deliveries that wait', show: whole },
  { name: 'branchpoint_trace_spans_waiting', label: 'spans that are not stored yet', show: whole },
  { name: 'branchpoint_trace_spans_dropped_total', label: 'spans that were lost', show: whole },
  { name: 'branchpoint_scripts_running', label: 'scripts at work', show: whole },
  { name: 'process_resident_memory_bytes', label: 'memory of the process', show: megabytes },
]

/** The numbers of an answer of `GET /metrics`, by name; of those with labels their sum. */
export function readMetrics(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-zA-Z_:][\w:]*)(?:\{[^}]*\})? (\S+)/.exec(line) ?? []
    if (name !== undefined) values.set(name, (values.get(name) ?? 0) + Number(value))
  }
  return values
}
