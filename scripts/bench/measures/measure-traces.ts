import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { openPostgres, openSpanTable } from '../../../src/cluster/postgres/open-postgres.ts'
import { OpenTraces } from '../../../src/feeds/traces/open-traces.ts'
import type { ProjectTraces } from '../../../src/feeds/traces/project-traces.ts'
import { traceQuestion } from '../../../src/feeds/traces/query/trace-page.ts'
import type { Span } from '../../../src/feeds/traces/span.ts'
import { sharedTraces } from '../../../src/cluster/postgres/shared-traces.ts'
import type { SpanTable } from '../../../src/cluster/postgres/span-table.ts'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres/postgres.ts'
import { postgresPrograms } from '../../../test/support/postgres/postgres-programs.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { alternate } from '../figures/alternate.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'
import { progress } from '../progress.ts'

/** Spans that wait at most while traces are recorded as fast as they are stored. */
const WAITING = 4000

/** Traces in the store that is asked; one in so many is of another name. */
const ASKED = 20_000
const SELDOM = 1000

/**
 * Traces of two spans with a kilobyte of inputs, in PostgreSQL against SQLite: how many are stored, what of processors that takes, and how
 * long questions take.
 */
export async function measureTraces({ folder, rounds, seconds, add }: BenchSetting): Promise<void> {
  if (postgresPrograms() === undefined) {
    progress('')
    process.stderr.write('There is no PostgreSQL here: traces in one are not measured.\n')
    return
  }
  const postgres = await startPostgres()
  try {
    const url = await postgres.database()
    await (await openPostgres({ url, reads: undefined, warn: () => undefined })(undefined)).close()
    const files = openTraces(join(folder, 'traces'))
    const shared = openTraces(join(folder, 'shared'), openSpanTable(url))
    await measureStoring({ files: files.traces, shared: shared.traces }, postgres, { rounds, seconds, add })
    await measureQuestions({ files: files.another(), shared: shared.another() }, { rounds, seconds, add })
    await Promise.all([files.open.close(), shared.open.close()])
  } finally {
    await postgres.stop()
  }
}

type Places = Readonly<Record<'files' | 'shared', ProjectTraces>>

async function measureStoring(
  { files, shared }: Places,
  postgres: PostgresServer,
  { rounds, seconds, add }: Pick<BenchSetting, 'rounds' | 'seconds' | 'add'>,
): Promise<void> {
  const spent = { files: new Array<number>(), here: new Array<number>(), database: new Array<number>() }
  const storing =
    (traces: ProjectTraces, own: number[], database?: number[]) =>
    async (seconds: number): Promise<number> => {
      const before = { own: process.cpuUsage(), database: database ? postgres.processorSeconds() : 0 }
      const began = performance.now()
      let count = 0
      while (performance.now() - began < seconds * 1000) {
        for (let n = 0; n < 100; n++) traces.record(aTrace('bench', Date.now()))
        count += 200
        if (traces.state.waiting > WAITING) await traces.stored()
        else await new Promise(setImmediate)
      }
      await traces.stored()
      const took = (performance.now() - began) / 1000
      const { user, system } = process.cpuUsage(before.own)
      own.push((user + system) / count)
      database?.push((1e6 * (postgres.processorSeconds() - before.database)) / count)
      return count / took
    }
  const stored = await alternate(
    'store traces',
    { rounds, seconds },
    {
      files: storing(files, spent.files),
      shared: storing(shared, spent.here, spent.database),
    },
  )
  add(
    ratioFigure({
      work: 'spans stored, in PostgreSQL against SQLite',
      as: '%',
      unit: 'a second',
      ours: stored.shared,
      floor: stored.files,
      goal: { is: '≥', value: 50 },
    }),
  )
  const cost = (work: string, rounds: readonly number[], most: number): void =>
    // The first is of the warm-up.
    add(plainFigure({ work, rounds: rounds.slice(1), unit: 'µs', goal: { is: '≤', value: most } }))
  cost('processor time of the server, a span stored in SQLite', spent.files, 100)
  cost('processor time of the server, a span stored in PostgreSQL', spent.here, 100)
  cost('processor time of the database, a span stored in PostgreSQL', spent.database, 100)
}

async function measureQuestions(
  places: Places,
  { rounds, seconds, add }: Pick<BenchSetting, 'rounds' | 'seconds' | 'add'>,
): Promise<void> {
  const now = Date.now()
  for (const traces of Object.values(places)) {
    progress('traces to be asked for')
    for (let n = 0; n < ASKED; n++) {
      traces.record(aTrace(n % SELDOM === 0 ? 'seldom' : 'often', now - n * 60_000))
      if (n % 1000 === 0) await traces.stored()
    }
    await traces.stored()
  }
  const seldom = {
    conditions: [{ field: 'attributes', key: 'svc.data.outputs.name', operator: 'is', value: 'seldom' }],
  }
  const questions = {
    'a page of the 50 newest traces': traceQuestion('trace', undefined, { limit: 50 }),
    [`the ${ASKED / SELDOM} of ${ASKED} traces that an attribute is true of`]: traceQuestion(
      'trace',
      { value: seldom, loc: [] },
      {},
    ),
  }
  for (const [work, question] of Object.entries(questions)) {
    const asking =
      (traces: ProjectTraces) =>
      async (seconds: number): Promise<number> => {
        const began = performance.now()
        let count = 0
        do {
          await traces.query(question)
          count++
        } while (performance.now() - began < seconds * 1000)
        return (performance.now() - began) / count
      }
    const took = await alternate(
      work,
      { rounds, seconds },
      { files: asking(places.files), shared: asking(places.shared) },
    )
    add(
      ratioFigure({
        work: `${work}, from PostgreSQL against SQLite`,
        as: '×',
        unit: 'ms',
        ours: took.shared,
        floor: took.files,
        goal: { is: '≤', value: 5 },
      }),
    )
  }
}

function openTraces(
  folder: string,
  table?: SpanTable,
): {
  readonly open: OpenTraces
  readonly traces: ProjectTraces
  readonly another: () => ProjectTraces
} {
  const settings = {
    isRecording: true,
    retention: { maxAgeDays: 30, maxBytes: 100 * 1024 ** 3 },
    queryMs: 60_000,
    now: () => new Date(),
    onTrouble: ({ message }: { readonly message: string }) => process.stderr.write(`${message}\n`),
  }
  const open = new OpenTraces(settings, table && sharedTraces(table))
  const project = (name: string): ProjectTraces => {
    const path = join(folder, name)
    mkdirSync(path, { recursive: true })
    return open.of({ store: { folder: path, fs: nodeFs } })
  }
  return { open, traces: project('stored'), another: () => project('asked') }
}

/** A run with a call of a model in it. Ids begin with the time, as those of real runs do. */
function aTrace(name: string, startTime: number): Span[] {
  const traceId = startTime.toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  const span = (fields: Pick<Span, 'name' | 'spanId' | 'parentId' | 'type' | 'kind'>): Span => ({
    traceId,
    traceType: 'invocation',
    startTime,
    endTime: startTime + 12.5,
    statusCode: 'STATUS_CODE_OK',
    statusMessage: undefined,
    sessionId: undefined,
    attributes: { svc: { data: { inputs: { text: INPUT }, outputs: { name, 'a text': 'Paris' } } } },
    references: REFERENCES,
    links: new Map(),
    exception: undefined,
    ...fields,
  })
  return [
    span({ name, spanId, parentId: undefined, type: 'workflow', kind: 'SPAN_KIND_SERVER' }),
    span({
      name: 'model',
      spanId: randomBytes(8).toString('hex'),
      parentId: spanId,
      type: 'llm',
      kind: 'SPAN_KIND_CLIENT',
    }),
  ]
}

const INPUT = 'What is the capital of "France"?\n'.repeat(30)

const REFERENCES = new Map([
  ['workflow', { id: '01890000-0000-7000-8000-000000000001', slug: 'bot' }],
  ['workflow_revision', { id: '01890000-0000-7000-8000-000000000002', slug: 'bot-3', version: 3 }],
])
