import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ChildServer } from './bench/child-server.ts'
import { KEY, startBranchpoint, startFloor } from './bench/child-server.ts'
import { fillStore, lengthen, promptData } from './bench/fill-store.ts'
import { median, requestsPerSecond } from './bench/load.ts'

/**
 * `npm run bench`: the figures of the README, each measured beside its floor in the same run, five alternating rounds after a
 * warm-up. They are ratios, to be read, not tests. `--artifacts N` changes the size of the large store, `--json FILE` keeps
 * the figures.
 */
interface Figure {
  readonly work: string
  readonly figure: string
  readonly goal: string
  readonly met: boolean
}

const { values: options } = parseArgs({
  options: {
    artifacts: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
})
const rounds = Number(options.rounds)
const artifacts = Number(options.artifacts)
const folder = mkdtempSync(join(tmpdir(), 'branchpoint-bench-'))
const figures: Figure[] = []

try {
  await measureCommitAndRetrieve()
  await measureLongHistory()
  await measureManyArtifacts()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
printTable()
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, undefined, 2)}\n`)

async function measureCommitAndRetrieve(): Promise<void> {
  const storeDir = join(folder, 'one')
  const service = await startBranchpoint(storeDir)
  const created = await post(service, '/simple/applications', {
    application: { slug: 'bot', data: promptData(1) },
  })
  const commit = JSON.stringify({
    application_revision_commit: {
      application_variant_id: created.application.variant_id,
      message: 'Next',
      data: promptData(2),
    },
  })
  const retrieve = JSON.stringify({ application_variant_ref: { slug: 'bot' } })
  const answer = await (
    await fetch(`${service.url}/applications/revisions/retrieve`, request(retrieve))
  ).text()
  const floor = await startFloor({ APPEND_TO: join(folder, 'append.log'), ANSWER: answer })

  const commits = await alternate('durable commit, 1 client', {
    floor: (seconds) =>
      requestsPerSecond({ url: `${floor.url}/append`, method: 'POST', body: commit, clients: 1, seconds }),
    ours: (seconds) =>
      requestsPerSecond({
        url: `${service.url}/applications/revisions/commit`,
        method: 'POST',
        body: commit,
        clients: 1,
        seconds,
      }),
  })
  const ratio = commits.floor / commits.ours
  add(
    'durable commit, 1 client, against append and sync',
    `${ratio.toFixed(2)} × (${(1000 / commits.ours).toFixed(2)} ms against ${(1000 / commits.floor).toFixed(2)} ms)`,
    '≤ 4 ×',
    ratio <= 4,
  )

  const retrieves = await alternate('retrieve the latest, 32 clients', {
    floor: (seconds) =>
      requestsPerSecond({
        url: `${floor.url}/answer`,
        method: 'POST',
        body: retrieve,
        clients: 32,
        seconds,
      }),
    ours: (seconds) =>
      requestsPerSecond({
        url: `${service.url}/applications/revisions/retrieve`,
        method: 'POST',
        body: retrieve,
        clients: 32,
        seconds,
      }),
  })
  const share = retrieves.ours / retrieves.floor
  add(
    'retrieve the latest by variant slug, 32 clients, against the same bytes from bare Koa',
    `${(share * 100).toFixed(0)} % (${retrieves.ours.toFixed(0)} against ${retrieves.floor.toFixed(0)} a second)`,
    '≥ 60 %',
    share >= 0.6,
  )
  await Promise.all([service.stop(), floor.stop()])
}

async function measureLongHistory(): Promise<void> {
  const storeDir = join(folder, 'long')
  const first = await startBranchpoint(storeDir)
  await post(first, '/simple/applications', { application: { slug: 'bot', data: promptData(1) } })
  await first.stop()
  const repository = join(storeDir, 'default', 'workflows', 'bot.git')
  lengthen(repository, 'bot', 10_000)
  const retrieve = JSON.stringify({ application_variant_ref: { slug: 'bot' } })
  const coldRetrieve = async (prepare: () => void): Promise<number> => {
    prepare()
    const service = await startBranchpoint(storeDir)
    // Another artifact's request warms the way through the code; the history is as cold as it was.
    await (await fetch(`${service.url}/applications/query`, request('{}'))).text()
    const started = performance.now()
    const answer = await fetch(`${service.url}/applications/revisions/retrieve`, request(retrieve))
    const body = (await answer.json()) as { application_revision: { version: number } }
    const took = performance.now() - started
    if (body.application_revision.version !== 10_000)
      throw new Error(`version ${body.application_revision.version}`)
    await service.stop()
    return took
  }
  const without = []
  const kept = []
  for (let round = 0; round < rounds; round++) {
    without.push(await coldRetrieve(() => rmSync(join(repository, 'first-parents'), { force: true })))
    kept.push(await coldRetrieve(() => undefined))
  }
  add(
    'latest of 10,000 revisions, cold server',
    `${median(kept).toFixed(1)} ms`,
    '≤ 20 ms',
    median(kept) <= 20,
  )
  add(
    'the same, derived depths deleted',
    `${median(without).toFixed(1)} ms`,
    '≤ 200 ms',
    median(without) <= 200,
  )
}

async function measureManyArtifacts(): Promise<void> {
  const storeDir = join(folder, 'many')
  await fillStore(storeDir, artifacts)
  const starts = []
  let resident = 0
  const queries = []
  for (let round = 0; round < 3; round++) {
    const service = await startBranchpoint(storeDir)
    while (!(await fetch(`${service.url}/ready`)).ok) await new Promise((resolve) => setTimeout(resolve, 5))
    starts.push(service.startedIn)
    const query = JSON.stringify({ application: { tags: { team: 'support' } }, windowing: { limit: 20 } })
    for (let number = 0; number < 20; number++) {
      const started = performance.now()
      await (await fetch(`${service.url}/applications/query`, request(query))).text()
      queries.push(performance.now() - started)
    }
    resident = Math.max(resident, service.resident())
    await service.stop()
  }
  const start = median(starts) / 1000
  const megabytes = resident / 1024 / 1024
  add(`${artifacts} artifacts: ready after`, `${start.toFixed(2)} s`, '≤ 5 s', start <= 5)
  add(`${artifacts} artifacts: resident memory`, `${megabytes.toFixed(0)} MB`, '≤ 300 MB', megabytes <= 300)
  const worst = Math.max(...queries)
  add(
    `${artifacts} artifacts: tag-filtered query`,
    `${median(queries).toFixed(1)} ms (worst ${worst.toFixed(1)} ms)`,
    '≤ 20 ms',
    median(queries) <= 20,
  )
}

/** Measures both in turn, after a round that does not count; the median of each. */
async function alternate(
  what: string,
  {
    floor,
    ours,
  }: {
    readonly floor: (seconds: number) => Promise<number>
    readonly ours: (seconds: number) => Promise<number>
  },
): Promise<{ floor: number; ours: number }> {
  const floors = []
  const mine = []
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(`\r  ${what}: round ${round} of ${rounds}`)
    // The first round only warms up, longer than the others measure: compilers need thousands of runs.
    const seconds = round === 0 ? 8 : 3
    floors.push(await floor(seconds))
    mine.push(await ours(seconds))
  }
  process.stderr.write('\r'.padEnd(70) + '\r')
  return { floor: median(floors.slice(1)), ours: median(mine.slice(1)) }
}

async function post(
  server: ChildServer,
  path: string,
  body: object,
): Promise<{ application: { variant_id: string } }> {
  const answer = await fetch(server.url + path, request(JSON.stringify(body)))
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as { application: { variant_id: string } }
}

function request(body: string): RequestInit {
  return {
    method: 'POST',
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
    body,
  }
}

function add(work: string, figure: string, goal: string, met: boolean): void {
  figures.push({ work, figure, goal, met })
  process.stderr.write(`  ${met ? 'met ' : 'MISS'}  ${work}: ${figure} (goal ${goal})\n`)
}

function printTable(): void {
  process.stdout.write('| work | figure | goal | met |\n|---|---|---|---|\n')
  for (const { work, figure, goal, met } of figures) {
    process.stdout.write(`| ${work} | ${figure} | ${goal} | ${met ? 'yes' : 'no'} |\n`)
  }
}
