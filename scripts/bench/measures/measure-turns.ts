import { join } from 'node:path'
import {
  type ApiDocument,
  type Operation,
  readApiDocument,
} from '../../../test/support/clients/api-document.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { startMonitored } from '../bench-servers.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { tableCsv } from '../figures/table-rows.ts'
import { hostileBodies } from '../turns/hostile-bodies.ts'
import { HOSTILE_FILES } from '../turns/hostile-files.ts'
import { hostilePayloads } from '../turns/hostile-payloads.ts'
import { hostileRuns } from '../turns/hostile-runs.ts'
import { exampleAbout, plainRequest } from '../turns/plain-request.ts'
import { isTwin, operationsOf } from '../turns/operations-of.ts'
import { makeSubjects, singular, type Subject, subjectOf, SURFACES } from '../turns/subjects.ts'
import { type TurnAnswer, TurnClient } from '../turns/turn-client.ts'
import { boundOf, turnTable } from '../turns/turn-row.ts'

/**
 * The longest piece between two turns of the main thread, for each route that takes or gives user data: bodies of every hostile shape,
 * what was stored of them read in every way, and many rows. Routes come from the document, so that a new one is not forgotten.
 */
export async function measureTurns({
  folder,
  turnBytes,
  turnRows,
  turnRoutes,
  add,
}: BenchSetting): Promise<void> {
  const server = await startMonitored(join(folder, 'turns'), {
    SANDBOX_TIMEOUT_MS: '5000',
  })
  const document = await readApiDocument(server.url)
  const client = new TurnClient(server)
  const bench = { client, document, subjects: await makeSubjects(client), isWanted }
  for (const bytes of turnBytes) {
    for (const surface of SURFACES) await readWhatIsStored(bench, surface, bytes)
    await sendBodies(bench, bytes)
  }
  if (turnRows > 0) await readRows(bench, turnRows)
  await server.stop()
  const without = [...document.operations.map(({ name }) => name), ...GIT].filter(
    (name) => !client.asked.has(name) && !isTwin(name),
  )
  process.stdout.write(`${turnTable(client.rows, turnRoutes === undefined ? without : [])}\n`)
  for (const size of new Set(client.rows.map((row) => row.size))) {
    const rows = client.rows.filter((row) => row.size === size)
    const work = `the longest piece between two turns of the server, whatever is asked of ${size}`
    const bound = Math.min(...rows.map((row) => row.bound))
    add(
      plainFigure({
        work,
        rounds: rows.map(({ longest }) => longest),
        judged: 'worst',
        unit: 'ms',
        goal: { is: '≤', value: bound },
      }),
    )
  }

  function isWanted({ name }: Operation): boolean {
    return turnRoutes === undefined || name.includes(turnRoutes)
  }
}

/** git over HTTP is not in the tables of the document's operations. */
const GIT = ['GET', 'POST', 'PUT'].map((method) => `${method} /git/…, which npm run proof -- push sends`)

interface TurnBench {
  readonly client: TurnClient
  readonly document: ApiDocument
  readonly subjects: ReadonlyMap<string, Subject>
  readonly isWanted: (operation: Operation) => boolean
}

/** Stores each payload of the surface, twice with a difference, and asks for it in every way. */
async function readWhatIsStored(bench: TurnBench, surface: string, bytes: number): Promise<void> {
  const { client, document } = bench
  const size = sizeName(bytes)
  const asked = operationsOf(document, surface).filter(bench.isWanted)
  if (asked.length === 0) return
  for (const [name, make] of Object.entries(hostilePayloads(surface))) {
    const shape = `stored: ${name}`
    const path = `/simple/${surface}`
    const create = `{"${singular(surface)}":{"data":${make(bytes - 200)}}}`
    const made = await client.measure({ method: 'POST', route: path, path, shape, body: create }, size)
    const subject = subjectOf(made, surface)
    if (!subject) continue
    const variant = `"${singular(surface)}_variant_id":"${subject.variantId}"`
    const commit = `{"${singular(surface)}_revision_commit":{${variant},"data":${make(bytes * 0.98 - 300)}}}`
    const route = `/${surface}/revisions/commit`
    await client.measure({ method: 'POST', route, path: route, shape, body: commit }, size)
    for (const operation of asked) {
      await client.measure(plainRequest(operation, surface, subject, shape), size, boundOf(bytes))
    }
    await putAway(client, made)
  }
}

async function sendBodies(bench: TurnBench, bytes: number): Promise<void> {
  const { client, document, subjects } = bench
  const size = sizeName(bytes)
  for (const operation of document.operations.filter(bench.isWanted)) {
    const { method, path } = operation
    const surface = /^(?:\/simple)?\/(\w+)/.exec(path)?.[1] ?? ''
    if (isTwin(operation.name)) continue
    const subject = subjects.get(surface) ?? subjects.get('workflows')
    if (!subject) throw new Error('there is no workflow')
    const plain = plainRequest(operation, surface, subject, 'as documented')
    const asked = { method, route: path, path: plain.path }
    if (operation.isUpload) {
      for (const { shape, type, make } of HOSTILE_FILES)
        await putAway(client, await client.measure({ ...asked, shape, type, body: make(bytes) }, size))
    } else if (operation.body) {
      const example = exampleAbout(operation, surface, subject)
      for (const { shape, make } of hostileBodies(operation, surface, document.schemas, example))
        await putAway(client, await client.measure({ ...asked, shape, body: make(bytes) }, size))
    } else {
      await client.measure(plain, 'no body')
    }
    if (path !== '/services/invoke') continue
    for (const { shape, make } of hostileRuns())
      await client.measure({ ...asked, shape, body: make(bytes) }, size)
  }
}

/** What a simple create made is archived, so that the lists that come after it are as long as those before. */
async function putAway(client: TurnClient, answer: TurnAnswer): Promise<void> {
  for (const surface of SURFACES) {
    const subject = subjectOf(answer, surface)
    const path = `/simple/${surface}/${subject?.id}/archive`
    if (subject) await client.send({ method: 'POST', route: path, path, shape: 'archive' })
  }
}

async function readRows({ client, document, isWanted }: TurnBench, rows: number): Promise<void> {
  const size = `${rows} rows`
  const path = '/simple/testsets/upload'
  const body = [...tableCsv(rows)].join('')
  const asked = { method: 'POST', route: path, path, shape: 'CSV of five columns', type: 'text/csv', body }
  const subject = subjectOf(await client.measure(asked, size), 'testsets')
  if (!subject) return
  const shape = 'stored'
  const byTestset = JSON.stringify({ testset_id: subject.id })
  const testcases = '/testcases/query'
  await client.measure(
    { method: 'POST', route: testcases, path: testcases, shape: 'by testset', body: byTestset },
    size,
    ROWS_BOUND,
  )
  const commit = '/testsets/revisions/commit'
  for (const [change, delta] of Object.entries(ROW_DELTAS)) {
    const sent = { testset_revision_commit: { testset_variant_id: subject.variantId, delta } }
    await client.measure(
      { method: 'POST', route: commit, path: commit, shape: change, body: JSON.stringify(sent) },
      size,
      ROWS_BOUND,
    )
  }
  for (const operation of operationsOf(document, 'testsets').filter(isWanted)) {
    await client.measure(plainRequest(operation, 'testsets', subject, shape), size, ROWS_BOUND)
  }
}

/** The requests are small, whatever they bring about. */
const ROWS_BOUND = boundOf(0)

const ROW_DELTAS: Readonly<Record<string, object>> = {
  'a row added': { rows: { add: [{ data: { question: 'one more' } }] } },
  'a column added': { columns: { add: ['extra'] } },
  'a column removed': { columns: { remove: ['extra'] } },
}

function sizeName(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`
}
