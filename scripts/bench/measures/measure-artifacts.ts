import { join } from 'node:path'
import { z } from 'zod'
import { digits } from '../figures/amount.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post } from '../call.ts'
import { startReady } from '../../../test/support/servers/child-server.ts'
import { FILLED_FROM, fillStore, PAGE, RARE_WORD } from '../fill-store.ts'
import { timesOf } from '../load.ts'
import { median } from '../figures/median.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { progress } from '../progress.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'

/**
 * Stores of many artifacts: how long until a server is ready, how much memory it takes beyond one over an empty store, queries over
 * all of it; and how time and memory grow from each size to the next.
 */
export async function measureArtifacts({ folder, rounds, artifacts, add }: BenchSetting): Promise<void> {
  const stores = [0, ...artifacts].map((size) => ({
    size,
    storeDir: join(folder, `store-of-${size}`),
    visits: new Array<Visit>(),
  }))
  for (const { size, storeDir } of stores) await fillStore(storeDir, size)
  for (let round = 0; round <= rounds; round++) {
    for (const { size, storeDir, visits } of stores) {
      progress(`a start over ${size} artifacts: round ${round} of ${rounds}`)
      const visit = await visitStore(storeDir, size)
      // The first round reads from the disk what the others find in memory.
      if (round > 0) visits.push(visit)
    }
  }
  const [empty, ...sizes] = stores.map(({ size, visits }) => ({ size, visits }))
  const growth = ({ visits }: Sized): number[] =>
    visits.map(({ resident }, round) => resident - (empty?.visits[round]?.resident ?? Number.NaN))
  for (const [index, sized] of sizes.entries()) {
    addFigures(sized, growth(sized), add)
    const fewer = sizes[index - 1]
    if (!fewer) continue
    const goal = { is: '≤', value: (LINEAR * sized.size) / fewer.size } as const
    add(
      ratioFigure({
        work: `${sized.size} artifacts: ready after, against ${fewer.size}`,
        as: '×',
        ours: readyTimes(sized),
        floor: readyTimes(fewer),
        unit: 's',
        goal,
      }),
    )
    add(
      ratioFigure({
        work: `${sized.size} artifacts: resident memory beyond an empty store's, against ${fewer.size}`,
        as: '×',
        ours: growth(sized).map((bytes) => bytes / MB),
        floor: growth(fewer).map((bytes) => bytes / MB),
        unit: 'MB',
        goal,
      }),
    )
  }
}

/** What still counts as linear: a tenth more than the sizes' ratio. */
const LINEAR = 1.1

const MB = 1024 ** 2

interface Sized {
  readonly size: number
  readonly visits: readonly Visit[]
}

/** What one start of a server gave. */
interface Visit {
  /** Milliseconds from the start of the process until /ready says yes. */
  readonly ready: number
  /** Bytes, after the queries. */
  readonly resident: number
  /** Milliseconds that each query took, in order, by what was asked. */
  readonly queries: ReadonlyMap<string, readonly number[]>
}

async function visitStore(storeDir: string, size: number): Promise<Visit> {
  const { service, ready } = await startReady(storeDir)
  const queries = new Map<string, number[]>()
  for (const { what, path, body } of questions(size)) {
    const rows = z.object({ count: z.number().min(Math.min(size, 1)) })
    queries.set(what, await timesOf(() => post(service, path, body, rows)))
  }
  const resident = service.resident()
  await service.stop()
  return { ready, resident, queries }
}

const TAG = 'tag-filtered query'
const DATE = `a page of ${PAGE} of revisions/query from the middle by date`
const DATES = `a page of ${PAGE} of revisions/query by their dates`
const MESSAGE = `a page of ${PAGE} of revisions/query by a word of the message`

/** Every row with such a date or the word is on the page, so all are looked at. */
function questions(size: number): readonly { what: string; path: string; body: object }[] {
  const windowing = { limit: PAGE }
  const madeAt = (number: number): string => new Date(FILLED_FROM + Math.floor(number) * 1000).toISOString()
  const dates = Array.from({ length: PAGE }, (_, number) => madeAt((number * size) / PAGE))
  const revisions = '/applications/revisions/query'
  return [
    {
      what: TAG,
      path: '/applications/query',
      body: { application: { tags: { team: 'support' } }, windowing },
    },
    { what: DATE, path: revisions, body: { windowing: { ...windowing, newest: madeAt(size / 2) } } },
    { what: DATES, path: revisions, body: { application_revision: { dates }, windowing } },
    { what: MESSAGE, path: revisions, body: { application_revision: { message: RARE_WORD }, windowing } },
  ]
}

function addFigures(sized: Sized, growth: readonly number[], add: BenchSetting['add']): void {
  const { size, visits } = sized
  add(
    plainFigure({
      work: `${size} artifacts: ready after`,
      rounds: readyTimes(sized),
      unit: 's',
      goal: { is: '≤', value: 3 * Math.max(1, size / 10_000) },
    }),
  )
  add(
    plainFigure({
      work: `${size} artifacts: resident memory of each, beyond an empty store's`,
      rounds: growth.map((bytes) => bytes / 1024 / size),
      unit: 'KB',
      goal: { is: '≤', value: 20 },
      note: `${digits(median(visits.map(({ resident }) => resident / MB)))} MB in all`,
    }),
  )
  for (const [what, most] of [
    [TAG, 10],
    [DATE, 50],
    [DATES, 50],
    [MESSAGE, 50],
  ] as const) {
    const times = visits.map(({ queries }) => queries.get(what) ?? [])
    const first = Math.max(...times.map(([one]) => one ?? Number.NaN))
    add(
      plainFigure({
        work: `${size} artifacts: ${what}`,
        rounds: times.map(median),
        unit: 'ms',
        goal: { is: '≤', value: most },
        note: `the first after a start up to ${digits(first)}`,
      }),
    )
  }
}

function readyTimes({ visits }: Sized): number[] {
  return visits.map(({ ready }) => ready / 1000)
}
