import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { Readiness } from '../http/public-routes/health.ts'
import { counts } from '../metrics/counters.ts'

/** What a service tells of itself, beside what the process counts. */
export interface MetricSources {
  readonly readiness: () => Readiness
  readonly server: { readonly inFlight: number; readonly refused: number }
  readonly git: Busy
  readonly webhooks: { readonly waiting: number }
  readonly traces: { readonly load: { readonly waiting: number; readonly dropped: number } }
  readonly sandbox: Busy
  readonly longJobs: Busy
  readonly evaluations: Busy
  readonly events: { readonly followers: number }
}

interface Busy {
  readonly load: { readonly running: number; readonly waiting: number }
}

/** The registry of a service's own metrics. All are looked up when somebody asks for them; in between they cost nothing. */
export function serviceMetrics({
  readiness,
  server,
  git,
  webhooks,
  traces,
  sandbox,
  longJobs,
  evaluations,
  events,
}: MetricSources): Registry {
  const registry = new Registry()
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({ ...named(name, help, registry), collect: setTo(value) })
  }
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({ ...named(`${name}_total`, help, registry), collect: risenTo(value) })
  }
  gauge('artifacts', 'Artifacts that are served.', () => readiness().artifacts)
  gauge('damaged_repositories', 'Repositories that are not served.', () => readiness().problems.length)
  gauge('http_requests_in_flight', 'Requests that are being worked on.', () => server.inFlight)
  counter('http_connections_refused', 'Connections past MAX_CONNECTIONS.', () => server.refused)
  counter(
    'commits',
    'Commits of this process on the disk, of revisions and of records.',
    () => counts.commits,
  )
  counter('pushes', 'Pushes that were taken in, each ref with its own outcome.', () => counts.pushes)
  counter('writes', 'Writes to repositories.', () => counts.writes)
  counter('write_rounds', 'Rounds in which writes reached the disk together.', () => counts.writeRounds)
  gauge('writes_waiting', 'Writes behind others of the same repository.', () => counts.waitingWrites)
  counter('upkeep_rounds', 'Rounds of upkeep through all repositories.', () => counts.upkeepRounds)
  counter('upkeep_repositories', 'Repositories that upkeep tidied up.', () => counts.tidied)
  gauge('git_requests_running', 'Clones, fetches and pushes at work.', () => git.load.running)
  gauge('git_requests_waiting', 'Clones, fetches and pushes that wait.', () => git.load.waiting)
  gauge('webhook_deliveries_waiting', 'Deliveries that are not over.', () => webhooks.waiting)
  gauge('trace_spans_waiting', 'Spans that are not stored yet.', () => traces.load.waiting)
  counter('trace_spans_dropped', 'Spans that were lost.', () => traces.load.dropped)
  gauge('scripts_running', 'Scripts that run in the sandbox.', () => sandbox.load.running)
  gauge('scripts_waiting', 'Scripts that wait for the sandbox.', () => sandbox.load.waiting)
  gauge('long_jobs_running', 'Long searches, comparisons and checks at work.', () => longJobs.load.running)
  gauge('long_jobs_waiting', 'Those that wait for a thread of their own.', () => longJobs.load.waiting)
  gauge('event_followers', 'Clients that are told what happens.', () => events.followers)
  gauge('evaluations_running', 'Evaluations that run.', () => evaluations.load.running)
  new Counter({
    ...named('cache_lookups_total', 'What was asked of caches, and whether they had it.', registry),
    labelNames: ['cache', 'result'],
    collect() {
      this.reset()
      for (const [cache, { hits, misses }] of Object.entries(counts.lookups)) {
        this.inc({ cache, result: 'hit' }, hits)
        this.inc({ cache, result: 'miss' }, misses)
      }
    },
  })
  return registry
}

function named(name: string, help: string, registry: Registry) {
  return { name: `branchpoint_${name}`, help, registers: [registry] }
}

function setTo(value: () => number) {
  return function (this: Gauge): void {
    this.set(value())
  }
}

function risenTo(value: () => number) {
  return function (this: Counter): void {
    this.reset()
    this.inc(value())
  }
}

let registry: Registry | undefined

/**
 * Processor time, memory, file handles, garbage collection and event-loop lag under the names that prom-client gives them, which
 * dashboards for node know. One for the process, however many services it has: the lag is measured by a timer that goes on.
 */
export function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
