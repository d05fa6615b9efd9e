import { readdirSync, readFileSync } from 'node:fs'
import type { ChildServer } from '../../../test/support/servers/child-server.ts'
import { KEY } from '../../../test/support/servers/child-server.ts'
import type { Interval } from './interval-tally.ts'
import type { Sample } from './sample.ts'

/** Looks at a server from outside, and at what it tells of itself. */
export class Sampler {
  readonly #server: ChildServer
  readonly #began = performance.now()
  #last: { readonly at: number; readonly processorSeconds: number }

  private constructor(server: ChildServer, metrics: string) {
    this.#server = server
    this.#last = { at: 0, processorSeconds: processorSeconds(metrics) }
  }

  /** Looks for the first time. */
  static async begin(server: ChildServer): Promise<Sampler> {
    return new Sampler(server, await metricsOf(server))
  }

  /** Seconds since the first look. */
  get seconds(): number {
    return (performance.now() - this.#began) / 1000
  }

  /** A sample, with what the clients saw since the one before. */
  async take({ requests, p50, p99 }: Interval): Promise<Sample> {
    const at = this.seconds
    const metrics = await metricsOf(this.#server)
    const last = this.#last
    this.#last = { at, processorSeconds: processorSeconds(metrics) }
    return {
      at,
      resident: this.#server.resident(),
      heap: metricIn(metrics, 'nodejs_heap_size_used_bytes'),
      descriptors: this.#server.descriptors(),
      children: childProcesses(this.#server.pid),
      processor: (this.#last.processorSeconds - last.processorSeconds) / (at - last.at),
      delayP99: delay(metricIn(metrics, 'nodejs_eventloop_lag_p99_seconds')),
      delayMax: delay(metricIn(metrics, 'nodejs_eventloop_lag_max_seconds')),
      requestsPerSecond: requests / (at - last.at),
      p50,
      p99,
      commits: metricIn(metrics, 'branchpoint_commits_total'),
    }
  }
}

/** Being asked, the server begins the next interval of its event loop's delay. */
async function metricsOf({ url }: ChildServer): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `ApiKey ${KEY}` } })
  const text = await response.text()
  if (!response.ok) throw new Error(`/metrics answered ${response.status}: ${text}`)
  return text
}

function processorSeconds(metrics: string): number {
  return metricIn(metrics, 'process_cpu_seconds_total')
}

/** What is measured is the time between two turns of a timer that is due every 10 ms. */
function delay(seconds: number): number {
  return Math.max(0, seconds * 1000 - 10)
}

/** Reads one number out of what `GET /metrics` answers: the value of `name`, a metric with its labels as they are printed. Throws if it is not there. */
function metricIn(text: string, name: string): number {
  const line = text.split('\n').find((it) => it.startsWith(`${name} `))
  if (line === undefined) throw new Error(`/metrics does not tell ${name}`)
  return Number(line.slice(name.length + 1))
}

/** How many processes of this machine descend from `pid`. */
function childProcesses(pid: number): number {
  const childrenOf = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((it) => /^\d+$/.test(it))) {
    const parent = parentOf(name)
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)])
  }
  const below = (parent: number): number =>
    (childrenOf.get(parent) ?? []).reduce((sum, child) => sum + 1 + below(child), 0)
  return below(pid)
}

/** Undefined for a process that is gone by now. */
function parentOf(pid: string): number | undefined {
  try {
    // The name before it stands in brackets, and may hold anything.
    const after = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1) ?? ''
    return Number(after.trim().split(' ')[1])
  } catch {
    return undefined
  }
}
