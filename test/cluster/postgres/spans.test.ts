import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { Client } from 'pg'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { CannotStart } from '../../../src/errors.ts'
import { ExactNumber } from '../../../src/base/json/json.ts'
import { openPostgres, openSpanTable } from '../../../src/cluster/postgres/open-postgres.ts'
import { traceQuestion } from '../../../src/feeds/traces/query/trace-page.ts'
import { traceIdsOf } from '../../../src/feeds/traces/query/trace-tree.ts'
import type { ProjectTraces, TraceSettings } from '../../../src/feeds/traces/project-traces.ts'
import type { Span } from '../../../src/feeds/traces/span.ts'
import { makeVersion2 } from './earlier-database.ts'
import { traceDatabase } from '../../feeds/traces/engines/over-each-engine.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'
import { type TraceProject, traceProject } from '../../feeds/traces/trace-project.ts'

const DAY = 24 * 3_600_000

describe('postgres: spans', function () {
  let postgres: PostgresServer
  let url: string
  const projects: TraceProject[] = []
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  beforeEach(async () => {
    url = await traceDatabase(postgres)
  })
  afterEach(() => Promise.all(projects.splice(0).map((project) => project.stop())))
  after(() => postgres?.stop())

  const inDatabase = (settings: Partial<TraceSettings> = {}): TraceProject => {
    const project = traceProject(settings, () => openSpanTable(url))
    projects.push(project)
    return project
  }
  const tracesOf = async (traces: ProjectTraces): Promise<string[]> =>
    traceIdsOf((await traces.query(traceQuestion('trace', undefined, {}))).spans)
  const named = async (traces: ProjectTraces, name: string): Promise<string[]> => {
    const filtering = { value: { conditions: [{ field: 'span_name', value: name }] }, loc: [] }
    return (await traces.query(traceQuestion('span', filtering, {}))).spans.map(({ span_id: id }) => id)
  }
  const days = async (): Promise<string[]> => {
    const rows = await ask<{ name: string }>(
      url,
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'branchpoint.spans'::regclass order by 1`,
    )
    return rows.map(({ name }) => /\d{4}-\d\d-\d\d/.exec(name)?.[0] ?? name)
  }
  const counts = async (): Promise<{ traces: number; spans: number }> => {
    const [row] = await ask<{ traces: string; spans: string }>(
      url,
      'select (select count(*) from branchpoint.traces) as traces, (select count(*) from branchpoint.spans) as spans',
    )
    return { traces: Number(row?.traces), spans: Number(row?.spans) }
  }

  it('what one server says is stored another answers, in its project and in no other', async () => {
    const here = inDatabase()
    const other = inDatabase()
    const there = here.another()
    const span = makeSpan({ references: new Map([['workflow', { id: 'w-77', slug: 'bot' }]]) })
    here.traces.record([span])
    await here.traces.stored()
    expect((await there.traces.read([span.traceId])).map(({ span_id: id }) => id)).to.deep.equal([
      span.spanId,
    ])
    expect(await tracesOf(there.traces)).to.deep.equal([span.traceId])
    expect(await there.traces.naming('77')).to.equal(span.traceId)
    expect(await there.traces.naming('bot-none')).to.equal(undefined)
    expect(await tracesOf(other.traces)).to.deep.equal([])
    expect(await other.traces.remove(span.traceId)).to.equal(false)
    expect(await there.traces.remove(span.traceId)).to.equal(true)
    expect(await here.traces.read([span.traceId])).to.deep.equal([])
    expect(await counts()).to.deep.equal({ traces: 0, spans: 0 })
  })

  it('a record is to the letter what a file has of it, and a name what it was, whatever they have in them', async () => {
    const odd: readonly Span[] = [
      spanWith(
        { inputs: 'a\0b\u0001\n\t"\\ é😀 \u2028' },
        { name: 'nul \0', sessionId: 's\0', statusMessage: '\0' },
      ),
      spanWith({ outputs: 'half \ud83d', '\0': 'key', '\udc00': 1 }, { name: 'stand-in \ufffd' }),
      spanWith({ outputs: 'x"\\'.repeat(1024 * 1024) }),
      spanWith({
        big: new ExactNumber('12345678901234567890.000000000000000000001'),
        huge: new ExactNumber('1e400'),
      }),
      makeSpan({ startTime: -1, endTime: 8.64e15, parentId: 'f'.repeat(16) }),
    ]
    const inFile = traceProject()
    projects.push(inFile)
    const { traces } = inDatabase()
    for (const span of odd) {
      for (const each of [inFile.traces, traces]) each.record([span])
      const [inTable, row] = [await traces.read([span.traceId]), await inFile.traces.read([span.traceId])]
      expect(inTable.map(({ record }) => record)).to.deep.equal(row.map(({ record }) => record))
      expect(inTable.map((it) => [it.span_name, it.parent_id])).to.deep.equal([
        [span.name, span.parentId ?? null],
      ])
    }
    expect(await named(traces, 'nul \0')).to.deep.equal([odd[0]?.spanId])
    expect(await named(traces, 'nul \ufffd')).to.deep.equal([])
    expect(await named(traces, 'stand-in \ufffd')).to.deep.equal([odd[1]?.spanId])
    expect(await tracesOf(traces)).to.deep.equal(await tracesOf(inFile.traces))
  })

  it('servers that record spans of the same traces at once lose none, and wait for each other in one order', async () => {
    const first = inDatabase()
    const servers = [first.traces, ...Array.from({ length: 3 }, () => first.another().traces)]
    const roots = Array.from({ length: 200 }, (_, n) => makeSpan({ startTime: NOON + n * 1000 }))
    for (const [number, traces] of servers.entries()) {
      const order = number % 2 === 0 ? roots : roots.toReversed()
      for (const { traceId, spanId } of order)
        traces.record([makeSpan({ traceId, parentId: spanId, startTime: NOON - number * DAY })])
    }
    await Promise.all(servers.map((traces) => traces.stored()))
    const spans = await first.traces.read(roots.map(({ traceId }) => traceId))
    expect(spans).to.have.length(800)
    expect(first.troubles).to.deep.equal([])
    expect(await counts()).to.deep.equal({ traces: 200, spans: 800 })
    const [found] = await ask<{ deadlocks: string }>(
      url,
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    expect(found?.deadlocks).to.equal('0')
  })

  it('days that are wholly too old go with their partitions, those of all projects', async () => {
    const retention = { maxAgeDays: 2, maxBytes: 1024 ** 3 }
    const { traces, troubles } = inDatabase({ retention })
    const other = inDatabase({ retention })
    // It is 13 o'clock of 1 March: what began before 13 o'clock of 27 February is too old, and the day of that is not over.
    const [old, edge, young] = [NOON - 3 * DAY, NOON - 2 * DAY, NOON].map((startTime) =>
      makeSpan({ startTime }),
    )
    const late = makeSpan({ traceId: old?.traceId ?? '', parentId: old?.spanId, startTime: NOON })
    for (const span of [old, late, edge, young]) if (span) traces.record([span])
    await traces.stored()
    for (let n = 0; n < 1500; n++) other.traces.record([makeSpan({ startTime: NOON - 4 * DAY + n })])
    await other.traces.stored()
    expect(await days()).to.deep.equal(['2026-02-25', '2026-02-26', '2026-02-27', '2026-03-01'])
    await traces.retain()
    expect(await days()).to.deep.equal(['2026-02-27', '2026-03-01'])
    expect(await tracesOf(traces)).to.deep.equal([young?.traceId, edge?.traceId])
    expect(await counts()).to.deep.equal({ traces: 2, spans: 2 })
    // The day is made again where something of it comes late.
    if (old) other.traces.record([old])
    expect(await tracesOf(other.traces)).to.deep.equal([old?.traceId])
    expect(troubles).to.deep.equal([])
  })

  it('a day that somebody is at work in stays, and goes the next time', async () => {
    const { traces, troubles } = inDatabase()
    traces.record([makeSpan({ startTime: NOON - 40 * DAY })])
    await traces.stored()
    const reader = new Client({ connectionString: url })
    await reader.connect()
    await reader.query('begin; select count(*) from branchpoint.spans')
    await traces.retain()
    expect(await days()).to.deep.equal(['2026-01-20'])
    await reader.end()
    await traces.retain()
    expect(await days()).to.deep.equal([])
    expect(troubles).to.deep.equal([])
  })

  it('a day that goes while spans of it are on their way is made again for them', async () => {
    const { traces, troubles } = inDatabase()
    traces.record([makeSpan()])
    await traces.stored()
    const other = new Client({ connectionString: url })
    await other.connect()
    await other.query(
      'begin; lock table branchpoint.spans in access exclusive mode; drop table branchpoint."spans_2026-03-01"; delete from branchpoint.traces',
    )
    const span = makeSpan()
    traces.record([span])
    const isWaiting = async (): Promise<boolean> =>
      (await ask(url, "select 1 from pg_stat_activity where wait_event_type = 'Lock'")).length > 0
    while (!(await isWaiting())) await pause(20)
    await other.query('commit')
    await other.end()
    expect(await tracesOf(traces)).to.deep.equal([span.traceId])
    expect(await days()).to.deep.equal(['2026-03-01'])
    expect(troubles).to.deep.equal([])
  })

  it('a question that the database takes too long for is ended there, too', async () => {
    const { traces } = inDatabase({ queryMs: 300 })
    const span = makeSpan()
    traces.record([span])
    await traces.stored()
    const holder = new Client({ connectionString: url })
    await holder.connect()
    await holder.query('begin; lock table branchpoint.spans in access exclusive mode')
    for (const ask of [() => named(traces, 'a'), () => traces.naming('a')])
      expect(await ask().catch((error: { code?: string }) => error.code)).to.equal('query_too_slow')
    const isWaiting = async (): Promise<boolean> =>
      (await ask(url, "select 1 from pg_stat_activity where wait_event_type = 'Lock'")).length > 0
    while (await isWaiting()) await pause(20)
    await holder.end()
    // On a busy machine a question may take too long by itself.
    const found = async (): Promise<string[]> => {
      for (;;) {
        try {
          return await named(traces, span.name)
        } catch (error) {
          if ((error as { code?: string }).code !== 'query_too_slow') throw error
        }
      }
    }
    expect(await found()).to.deep.equal([span.spanId])
  })

  it('past the greatest size the oldest of a project go, no more than must, and what is recorded again counts once', async () => {
    const maxBytes = 1024 * 1024
    const { traces } = inDatabase({ retention: { maxAgeDays: 30, maxBytes } })
    const other = inDatabase()
    const spans = Array.from({ length: 200 }, (_, n) =>
      spanWith({ inputs: 'x'.repeat(9000) }, { startTime: NOON - n * 1000 }),
    )
    for (let round = 0; round < 3; round++) {
      for (const span of spans) traces.record([span])
      await traces.stored()
    }
    for (const span of spans) other.traces.record([span])
    await other.traces.stored()
    await traces.retain()
    const left = await tracesOf(traces)
    expect(left).to.deep.equal(spans.slice(0, left.length).map(({ traceId }) => traceId))
    expect(left.length).to.be.within(100, 115)
    expect(await counts()).to.deep.equal({ traces: 200 + left.length, spans: 200 + left.length })
    await traces.retain()
    expect(await tracesOf(traces)).to.have.length(left.length)
  })

  it('while the database is away spans wait, who records waits for nothing, and who asks is refused; then all are there', async () => {
    const own = await startPostgres()
    url = await traceDatabase(own)
    const { traces, open, troubles } = inDatabase()
    const before = makeSpan()
    traces.record([before])
    expect(await traces.read([before.traceId])).to.have.length(1)
    await own.halt()
    const spans = Array.from({ length: 1200 }, () => makeSpan())
    for (const span of spans) traces.record([span])
    expect(traces.state.waiting).to.equal(1200)
    const refusal = await tracesOf(traces).catch((error: { code?: string }) => error.code)
    expect(refusal).to.equal('storage_unavailable')
    expect(open.problems()[0]?.reason).to.match(/The database is away/)
    expect(troubles.join()).to.match(/traces cannot be stored, and wait/)
    await own.again()
    while (open.problems().length > 0) await pause(50)
    await traces.stored()
    expect(await traces.read([before, ...spans].map(({ traceId }) => traceId))).to.have.length(1201)
    expect(traces.state).to.include({ dropped: 0, waiting: 0 })
    expect(troubles.join()).to.match(/can be stored again/)
    await projects.pop()?.stop()
    await own.stop()
  })

  it('what a row of the database refuses is dropped and told of, and what comes behind is stored', async () => {
    await ask(url, `alter table branchpoint.spans add check (span_name <> 'bad')`)
    const { traces, troubles } = inDatabase()
    traces.record([makeSpan({ name: 'bad' })])
    await traces.stored()
    const good = makeSpan()
    traces.record([good])
    expect(await tracesOf(traces)).to.deep.equal([good.traceId])
    expect(traces.state.dropped).to.equal(1)
    expect(troubles.join()).to.match(/spans could not be stored/)
  })

  it('a database of before gets the tables, and one in an encoding that lacks characters is refused', async () => {
    await ask(url, 'drop schema branchpoint cascade')
    await makeVersion2(url)
    await (await openPostgres({ url, reads: undefined, warn: () => undefined })(undefined)).close()
    const { traces } = inDatabase()
    const span = makeSpan()
    traces.record([span])
    expect(await tracesOf(traces)).to.deep.equal([span.traceId])
    await ask(url, `create database latin encoding 'LATIN1' locale 'C' template template0`)
    const latin = url.replace(/[^/]+$/, 'latin')
    const refusal = await openPostgres({ url: latin, reads: undefined, warn: () => undefined })(
      undefined,
    ).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(CannotStart)
    expect((refusal as Error).message).to.match(/encoding LATIN1.*Make one with the encoding UTF8/)
  })
})
