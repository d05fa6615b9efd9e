import { statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { DatabaseFile } from '../../../src/storage/sqlite/database-file.ts'
import { unsearched } from '../../../src/feeds/search/index/search-work.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post } from '../call.ts'
import type { ChildServer } from '../../../test/support/servers/child-server.ts'
import { startReady } from '../../../test/support/servers/child-server.ts'
import type { Goal } from '../figures/figure.ts'
import { amount } from '../figures/amount.ts'
import { median } from '../figures/median.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { FILLED_FROM, fillStore, ON_SHELF, PAGE, SCARCE_WORD } from '../fill-store.ts'
import { timesOf } from '../load.ts'
import { progress } from '../progress.ts'

/** Of each artifact. */
const REVISIONS = 3

/**
 * What a start, lists, queries and searches take that go over the index file of a store of many artifacts, warm, by the median of each
 * round; what it takes of memory and of the disk.
 */
export async function measureIndex({ folder, rounds, indexed, add }: BenchSetting): Promise<void> {
  const storeDir = join(folder, 'index')
  const emptyDir = join(folder, 'index-of-nothing')
  await fillStore(storeDir, indexed, REVISIONS)
  await fillStore(emptyDir, 0)
  const size = await fillIndex(storeDir)
  const visits: Visit[] = []
  const empty: Start[] = []
  for (let round = 0; round <= rounds; round++) {
    progress(`the index of ${indexed} artifacts: round ${round} of ${rounds}`)
    const before = await startOf(emptyDir)
    await before.service.stop()
    const visit = await visitStore(storeDir, indexed)
    // The first round reads from the disk what the others find in memory.
    if (round === 0) continue
    empty.push(before)
    visits.push(visit)
  }
  const of = `${indexed} artifacts of ${REVISIONS} revisions:`
  const figure = (what: string, rounds: readonly number[], unit: string, goal: Goal, note?: string): void =>
    add(plainFigure({ work: `${of} ${what}`, rounds, unit, goal, ...(note === undefined ? {} : { note }) }))
  const least = (figures: readonly number[]): number => median(figures)
  figure(
    'from the start of the process to /ready and a retrieve by slug',
    visits.map(({ served }) => served / 1000),
    's',
    { is: '≤', value: 2 },
    `ready after ${amount(least(visits.map(({ ready }) => ready)), 'ms')}, over an empty store after ${amount(least(empty.map(({ ready }) => ready)), 'ms')}`,
  )
  figure(
    'resident memory of each, beyond an empty store’s, after that retrieve',
    visits.map(({ resident }, round) => (resident - (empty[round]?.resident ?? Number.NaN)) / 1024 / indexed),
    'KB',
    { is: '≤', value: 1.5 },
    amount(least(visits.map(({ resident }) => resident / 1024 ** 2)), 'MB in all'),
  )
  figure(
    'the first list',
    visits.map(({ firstList }) => firstList / 1000),
    's',
    { is: '≤', value: 5 },
  )
  for (const [what, { most }] of Object.entries(questions(indexed)))
    figure(
      what,
      visits.map(({ times }) => median(times[what] ?? [])),
      'ms',
      { is: '≤', value: most },
    )
  // Of a revision half a kilobyte and its text, which has two (see promptData).
  figure('index.db of each artifact', [size / 1024 / indexed], 'KB', { is: '≤', value: REVISIONS * 2.5 })
}

interface Start {
  readonly service: ChildServer
  /** Milliseconds. */
  readonly ready: number
  /** Bytes. */
  readonly resident: number
}

/** What one start of a server gave; times are in milliseconds. */
interface Visit extends Omit<Start, 'service'> {
  readonly served: number
  readonly firstList: number
  readonly times: Readonly<Record<string, readonly number[]>>
}

async function startOf(storeDir: string): Promise<Start> {
  const { service, ready } = await startReady(storeDir)
  return { service, ready, resident: service.resident() }
}

async function visitStore(storeDir: string, count: number): Promise<Visit> {
  const { service, ready } = await startReady(storeDir)
  const named = `bot-${Math.floor(count / 2)}`
  const found = z.object({ application_revision: z.object({ slug: z.literal(`${named}-${REVISIONS}`) }) })
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }
  const retrieve = { application_ref: { slug: named } }
  const retrieved = await timed(() => post(service, '/applications/revisions/retrieve', retrieve, found))
  const resident = service.resident()
  const page = { windowing: { limit: PAGE } }
  const firstList = await timed(() =>
    post(service, '/applications/query', page, rowsOf(Math.min(PAGE, count))),
  )
  const times: Record<string, readonly number[]> = {}
  for (const [what, { path, body, rows }] of Object.entries(questions(count)))
    times[what] = await timesOf(() => post(service, path, body, rowsOf(rows)))
  await service.stop()
  return { ready, served: ready + retrieved, resident, firstList, times }
}

function rowsOf(least: number) {
  return z.object({ count: z.number().min(least) })
}

interface Question {
  readonly path: string
  readonly body: object
  /** So many rows at least are in the answer. */
  readonly rows: number
  /** Milliseconds that it may take. */
  readonly most: number
}

function questions(count: number): Readonly<Record<string, Question>> {
  const middle = new Date(FILLED_FROM + Math.floor((count * REVISIONS) / 2) * 1000).toISOString()
  const windowing = { limit: PAGE, newest: middle }
  const page = (filter: object): Omit<Question, 'rows'> => ({
    path: '/applications/revisions/query',
    body: { application_revision: filter, windowing },
    most: 20,
  })
  const search = (query: string): Pick<Question, 'path' | 'body'> => ({ path: '/search', body: { query } })
  const scarce = Math.ceil(count / 100)
  return {
    [`a query by a tag that ${ON_SHELF} have`]: {
      path: '/applications/query',
      body: { application: { tags: { shelf: 'front' } } },
      rows: Math.min(count, ON_SHELF / 2),
      most: 8,
    },
    [`a page of ${PAGE} revisions from the middle by date`]: { ...page({}), rows: Math.min(PAGE, count) },
    [`a page of ${PAGE} revisions from the middle by author`]: {
      ...page({ author: 'bench 7 <bench@example.org>' }),
      rows: Math.min(PAGE, Math.floor(count / 10)),
    },
    [`a page of ${PAGE} revisions from the middle by a word of one message in 100`]: {
      ...page({ message: SCARCE_WORD }),
      rows: Math.min(PAGE, Math.floor(scarce / 2)),
    },
    'a search for a word of one text in 100': {
      ...search(SCARCE_WORD),
      rows: Math.min(scarce, PAGE),
      most: 30,
    },
    'a search for a word of every text': { ...search('kind'), rows: Math.min(count, PAGE), most: 300 },
  }
}

/** Has a server fill the index of a store, words and all; answers how many bytes it takes. */
async function fillIndex(storeDir: string): Promise<number> {
  const { service } = await startReady(storeDir)
  const path = join(storeDir, 'default', 'index.db')
  for (let isFilled = false; !isFilled;) {
    // A search takes in some of what is not to be found yet.
    await post(service, '/search', { query: 'kind' }, rowsOf(0))
    const file = new DatabaseFile(path, 5000, () => undefined)
    isFilled = unsearched(file, { most: 1 }).length === 0
    file.close()
    progress('the index is filled')
  }
  await service.stop()
  return statSync(path).size
}
