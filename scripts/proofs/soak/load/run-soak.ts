import { setTimeout as pause } from 'node:timers/promises'
import type { ChildServer } from '../../../../test/support/servers/child-server.ts'
import { startBranchpoint } from '../../../../test/support/servers/child-server.ts'
import { IntervalTally } from '../interval-tally.ts'
import { populate } from './population.ts'
import { pushingLoad } from './pushing-load.ts'
import { readingLoad } from './reading-load.ts'
import { runningLoad } from './running-load.ts'
import type { Sample } from '../sample.ts'
import { Sampler } from '../sampler.ts'
import { SoakClient } from './soak-client.ts'
import { startSteadyLoad } from './steady-load.ts'
import { writingLoad } from './writing-load.ts'

export interface SoakOptions {
  readonly storeDir: string
  readonly seconds: number
  /** Seconds between two samples. */
  readonly every: number
  /** Is told of every sample, and of how much went wrong so far. */
  readonly onSample: (sample: Sample, problems: number) => void
}

/** What a soak has seen, from the first sample to the last. */
export interface Soak {
  readonly samples: readonly Sample[]
  readonly requests: number
  /** Answers that nobody expected, and failures, as sentences. */
  readonly problems: readonly string[]
}

/** Runs a server of its own on an empty store under a steady mixed load, and looks at it every few seconds. */
export async function runSoak({ storeDir, ...options }: SoakOptions): Promise<Soak> {
  const server = await startBranchpoint(storeDir)
  try {
    return await soak(server, options)
  } finally {
    await server.stop()
  }
}

async function soak(server: ChildServer, options: Omit<SoakOptions, 'storeDir'>): Promise<Soak> {
  const tally = new IntervalTally()
  const client = new SoakClient(server.url, tally)
  const population = await populate(client)
  const pushing = pushingLoad(server.url, 'pushed')
  const tasks = [
    ...readingLoad(client, population),
    ...writingLoad(client, population),
    ...runningLoad(client),
    ...pushing.tasks,
  ]
  // What it took to get ready is not looked at.
  tally.take()
  const sampler = await Sampler.begin(server)
  const stop = startSteadyLoad(tasks, tally)
  try {
    return await watch(sampler, tally, options)
  } finally {
    await stop()
    pushing.end()
  }
}

async function watch(
  sampler: Sampler,
  tally: IntervalTally,
  { seconds, every, onSample }: Omit<SoakOptions, 'storeDir'>,
): Promise<Soak> {
  const samples: Sample[] = []
  const problems: string[] = []
  let requests = 0
  while (sampler.seconds < seconds) {
    await pause(every * 1000)
    const interval = tally.take()
    requests += interval.requests
    problems.push(...interval.problems)
    try {
      const sample = await sampler.take(interval)
      samples.push(sample)
      onSample(sample, problems.length)
    } catch (error) {
      problems.push(`the look at the server: ${String(error)}`)
    }
  }
  return { samples, requests, problems }
}
