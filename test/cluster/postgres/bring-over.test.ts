import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { openSpanTable } from '../../../src/cluster/postgres/open-postgres.ts'
import { traceQuestion } from '../../../src/feeds/traces/query/trace-page.ts'
import { storedSpan } from '../../../src/feeds/traces/span-record.ts'
import type { SpanTable } from '../../../src/cluster/postgres/span-table.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { traceDatabase } from '../../feeds/traces/engines/over-each-engine.ts'
import { makeSpan, NOON } from '../../support/values/make-span.ts'
import { type TraceProject, traceProject } from '../../feeds/traces/trace-project.ts'

/** So many traces there are, of two spans each, which are four pages. */
const TRACES = 170

describe('postgres: the traces that a server has in a file from before', function () {
  let postgres: PostgresServer
  let url: string
  let project: TraceProject
  let ids: readonly string[]
  let table: (() => SpanTable) | undefined

  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
  })
  beforeEach(async () => {
    url = await traceDatabase(postgres)
    table = undefined
    project = traceProject({}, () => table?.())
    const spans = Array.from({ length: TRACES }, (_, n) => {
      const span = makeSpan({ name: `n\0${n}`, startTime: NOON + n, ...(n % 2 ? { sessionId: 's' } : {}) })
      // The other one begins when all traces have begun.
      return [span, makeSpan({ traceId: span.traceId, startTime: NOON + 1000 + n })]
    })
    ids = spans.flatMap(([span]) => span?.traceId ?? [])
    for (const both of spans) project.traces.record(both)
    await project.traces.stored()
    await project.open.close()
    table = () => openSpanTable(url)
  })
  afterEach(() => project?.stop())
  after(() => postgres?.stop())

  const brought = async (): Promise<void> => {
    while (existsSync(project.file)) await pause(20)
  }
  /** Begins to bring them over, which ends when so many pages are in the database; answers the traces that are there then. */
  const interruptedAfter = async (pages: number): Promise<string[]> => {
    let writes = 0
    table = () =>
      withWrite(openSpanTable(url), async (write) => {
        await write()
        if (++writes === pages) throw new Error('the power fails')
      })
    const { open } = project.another()
    while (project.troubles.length === 0) await pause(20)
    await open.close()
    expect(project.troubles.splice(0)).to.deep.equal([
      'its traces are not in the database yet, and the next start tries again: the power fails',
    ])
    table = () => openSpanTable(url)
    return tracesThere()
  }
  const tracesThere = async (): Promise<string[]> => {
    const rows = await ask<{ trace_id: string }>(url, 'select trace_id from branchpoint.traces')
    return rows.map(({ trace_id: id }) => id).sort()
  }
  const removeAll = async (): Promise<void> => {
    for (const name of ['spans', 'traces']) await ask(url, `delete from branchpoint.${name}`)
  }

  it('are brought over, once, and nothing is left of it but the file by another name', async () => {
    table = undefined
    const before = project.another()
    const rows = await before.traces.read(ids)
    await before.open.close()
    table = () => openSpanTable(url)
    const { traces } = project.another()
    await brought()
    expect(await traces.read(ids)).to.deep.equal(rows)
    const filtering = { value: { conditions: [{ field: 'session_id', value: 's' }] }, loc: [] }
    expect((await traces.query(traceQuestion('span', filtering, {}))).spans).to.have.length(TRACES / 2)
    const named = { value: { conditions: [{ field: 'span_name', value: 'n\u00007' }] }, loc: [] }
    expect((await traces.query(traceQuestion('span', named, {}))).spans).to.have.length(1)
    await project.stop()
    expect(project.troubles).to.deep.equal([])
    expect(await ask(url, `select from branchpoint.document_streams`)).to.have.length(0)
  })

  it('are whole in the database, each of them, wherever it is stopped', async () => {
    const there = await interruptedAfter(2)
    expect(there.length).to.be.within(1, TRACES - 1)
    const spans = await ask(url, 'select from branchpoint.spans')
    expect(spans).to.have.length(2 * there.length)
  })

  it('go on where that was stopped: what was removed meanwhile does not come back, and nothing is missing', async () => {
    const first = await interruptedAfter(1)
    await removeAll()
    const second = await interruptedAfter(2)
    await removeAll()
    const { traces } = project.another()
    await brought()
    const left = new Set((await traces.read(ids)).map(({ trace_id: id }) => id))
    expect([...left].sort()).to.deep.equal(await tracesThere())
    expect([...first, ...second, ...left].sort()).to.deep.equal([...ids].sort())
  })

  it('do not come back where that was stopped when the last of them were there', async () => {
    expect(await interruptedAfter(4)).to.have.length(TRACES)
    expect(existsSync(project.file)).to.equal(true)
    await removeAll()
    project.another()
    await brought()
    expect(await tracesThere()).to.deep.equal([])
  })

  it('are stored once where the answer is lost and a page is sent again', async () => {
    await interruptedAfter(4)
    await removeAll()
    const span = storedSpan(makeSpan(), NOON)
    const shared = openSpanTable(url)
    const [{ mark, stream } = { mark: '', stream: '' }] = await ask<{ mark: string; stream: string }>(
      url,
      'select mark, stream from branchpoint.document_streams',
    )
    const file = stream.split(' ').at(-1) ?? ''
    expect(await shared.broughtUpTo(file)).to.equal(mark)
    await shared.write('bring', [span], { file, last: mark })
    expect(await tracesThere()).to.deep.equal([])
    await shared.write('bring', [span], { file, last: 'another' })
    expect(await tracesThere()).to.deep.equal([span.trace_id])
    await shared.close()
  })

  it('may be none', async () => {
    table = undefined
    const { traces, open } = project.another()
    for (const id of ids) await traces.remove(id)
    await open.close()
    table = () => openSpanTable(url)
    project.another()
    await brought()
    expect(await tracesThere()).to.deep.equal([])
  })
})

function withWrite(table: SpanTable, around: (write: () => Promise<void>) => Promise<void>): SpanTable {
  return new Proxy(table, {
    get: (target, name) => {
      if (name === 'write')
        return (...args: Parameters<SpanTable['write']>) => around(() => target.write(...args))
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
