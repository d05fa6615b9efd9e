import { parseArgs } from 'node:util'
import { fuzzDepartures } from './fuzz/runs/fuzz-departures.ts'
import { fuzzPushes } from './fuzz/runs/fuzz-pushes.ts'
import { fuzzRepositories } from './fuzz/runs/fuzz-repositories.ts'
import { AT_ONCE, fuzzRequests } from './fuzz/runs/fuzz-requests.ts'
import { fuzzSizes } from './fuzz/runs/fuzz-sizes.ts'

const USAGE = `Sends random requests of every operation in the OpenAPI document and judges the answers by the document; pushes
packs with changed bytes; serves repositories with changed bytes; leaves in the midst of requests and answers; sends requests as large
as they may be and measures who waits.

  npm run proof -- fuzz [--requests N] [--pushes N] [--damages N] [--departures N] [--sizes N] [--seed S]

  --requests  how many (50000)            --damages     files of a served store that are changed (500)
  --pushes    how many (2000)             --departures  clients that leave in the midst (12000)
  --sizes     large requests (1000)       --seed        of the first of each (the time)`

/** Requests per store. The process grows by about 90 KB with each request. */
const MOST_PER_STORE = 20_000

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '50000' },
    pushes: { type: 'string', default: '2000' },
    damages: { type: 'string', default: '500' },
    departures: { type: 'string', default: '12000' },
    sizes: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(USAGE)
} else {
  const seed = Number(values.seed)
  console.log(`seed ${seed}`)
  const requests = Number(values.requests)
  for (let done = 0; done < requests; done += MOST_PER_STORE)
    await proveRequests(Math.min(MOST_PER_STORE, requests - done), seed + done * AT_ONCE)
  const pushes = Number(values.pushes)
  if (pushes > 0) tell(`${pushes} pushes`, await fuzzPushes({ pushes, seed }))
  const damages = Number(values.damages)
  if (damages > 0)
    tell(`${damages} damaged files`, await fuzzRepositories({ damages, seed, onProgress: console.error }))
  const departures = Number(values.departures)
  if (departures > 0) tell(`${departures} departures`, await fuzzDepartures({ departures, seed }))
  const sizes = Number(values.sizes)
  if (sizes > 0)
    tell(`${sizes} large requests`, await fuzzSizes({ requests: sizes, seed, onProgress: console.error }))
}

async function proveRequests(requests: number, seed: number): Promise<void> {
  const started = Date.now()
  const finding = await fuzzRequests({
    requests,
    seed,
    onProgress: (done) => console.error(`${done} of ${requests}`),
  })
  const { operations, neverSucceeded } = finding
  tell(`${requests} requests in ${Math.round((Date.now() - started) / 1000)} s`, finding)
  console.log(
    `${operations.length - neverSucceeded.length} of ${operations.length} operations were done; never:`,
  )
  for (const operation of neverSucceeded) console.log(`  ${operation}`)
}

function tell(
  what: string,
  {
    outcomes,
    problems,
  }: { readonly outcomes: ReadonlyMap<unknown, number>; readonly problems: readonly string[] },
): void {
  console.log(`\n${what}: ${problems.length} problems`)
  for (const [outcome, count] of [...outcomes].sort(([, a], [, b]) => b - a))
    console.log(`  ${outcome}: ${count}`)
  for (const problem of problems) console.log(`\n${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
