import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Json } from '../../../src/base/json/json.ts'
import type { ProjectTraces } from '../../../src/feeds/traces/project-traces.ts'
import { traceIdsOf } from '../../../src/feeds/traces/query/trace-tree.ts'
import { traceQuestion, type TraceWindow } from '../../../src/feeds/traces/query/trace-page.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'
import { ANSWERED_BY_TWO, makeOlderFile, multiply } from './older-files.ts'
import { rowsOfFile } from './trace-file-rows.ts'
import { type TraceProject, traceProject } from './trace-project.ts'

/** So many copies of the nine traces of the example: enough slices to be killed between. */
const COPIES = 300

describe('traces: a file of an older version', () => {
  let project: TraceProject
  beforeEach(() => (project = traceProject()))
  afterEach(() => project.stop())

  const asked = async (
    traces: ProjectTraces,
    condition?: object,
    { focus = 'span', ...window }: TraceWindow & { readonly focus?: 'trace' | 'span' } = {},
  ) => {
    const filtering = condition && { value: { conditions: [condition] } as unknown as Json, loc: [] }
    return traces.query(traceQuestion(focus, filtering, window))
  }

  const recordsOf = async (condition?: object): Promise<readonly string[]> =>
    (await asked(project.traces, condition)).spans.map(({ record }) => record)

  for (const version of [1, 2] as const) {
    describe(`version ${version}`, () => {
      let answered: readonly string[]
      beforeEach(() => {
        makeOlderFile(project.file, version)
        answered =
          version === 2
            ? ANSWERED_BY_TWO
            : rowsOfFile<{ record: string }>(project.file, 'SELECT record FROM spans').map((it) => it.record)
      })

      it('its records are read as they were answered, by id and by question, before and after they are brought over', async () => {
        const inOrder = answered.toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1))
        const ids = [...new Set(answered.map(traceIdOf))]
        const all = async () => {
          expect((await project.traces.read(ids)).map(({ record }) => record)).to.have.members(answered)
          expect(await recordsOf()).to.deep.equal(inOrder.toReversed())
          const pages: string[] = []
          let next: string | undefined
          do {
            const page = await asked(project.traces, undefined, { order: 'ascending', limit: 2, next })
            pages.push(...page.spans.map(({ record }) => record))
            next = page.next
          } while (next !== undefined)
          expect(pages).to.deep.equal(inOrder)
          const newest = traceIdsOf((await asked(project.traces, undefined, { focus: 'trace' })).spans)
          expect(newest).to.have.members(ids)
        }
        await all()
        expect(olderTables(project.file)).to.have.length(3)
        await project.traces.retain()
        await all()
        expect(olderTables(project.file)).to.deep.equal([])
        expect(rowsOfFile(project.file, 'PRAGMA user_version')).to.deep.equal([{ user_version: 3 }])
      })

      it('every column has what its record says, once it is brought over', async () => {
        await project.traces.retain()
        for (const { id: _, record, ...columns } of rowsOfFile<Record<string, string>>(
          project.file,
          'SELECT * FROM spans',
        )) {
          const said = JSON.parse(record ?? '')
          for (const [name, value] of Object.entries(columns))
            expect(value, name).to.equal(said[name] ?? null)
        }
      })
    })
  }

  it('conditions find the same spans before and after', async () => {
    makeOlderFile(project.file, 2)
    const conditions = [
      { field: 'trace_id', value: '55555555555555555555555555555551' },
      { field: 'span_name', value: 'model' },
      { field: 'session_id', value: 's-1' },
      { field: 'start_time', operator: 'gte', value: '2026-03-01T12:00:10.000123Z' },
      { field: 'start_time', operator: 'lt', value: '2026-03-01T12:00:10.000123Z' },
      { field: 'references', operator: 'has', value: { slug: 'bot-3', version: 3 } },
      { field: 'attributes', key: 'svc.references.workflow.slug', value: 'bot' },
      { field: 'attributes', key: 'svc.references', operator: 'exists' },
      { field: 'attributes', key: 'gen_ai.request.model', value: 'm' },
    ]
    const found = async () => Promise.all(conditions.map(recordsOf))
    const naming = async () => [await project.traces.naming('once'), await project.traces.naming('9999')]
    const before = [...(await found()), await naming()]
    for (const some of before.slice(0, -1)) expect(some.length).to.be.within(1, 9)
    await project.traces.retain()
    expect([...(await found()), await naming()]).to.deep.equal(before)
  })

  it('a span that joins an older trace, or takes the place of one of its spans, finds it whole', async () => {
    makeOlderFile(project.file, 2)
    const traceId = '55555555555555555555555555555551'
    const child = makeSpan({ traceId, name: 'later', startTime: NOON + 60_000 })
    const again = spanWith({ outputs: 2 }, { traceId, spanId: '5555555555555556', startTime: NOON + 6000 })
    project.traces.record([child, again])
    for (let round = 0; round < 2; round++) {
      const names = (await project.traces.read([traceId])).map(({ span_name: name }) => name)
      expect(names).to.deep.equal(['completion_v0', 'completion_v0', 'later'])
      expect(traceIdsOf((await asked(project.traces, undefined, { focus: 'trace' })).spans)).to.have.length(9)
      expect(await recordsOf()).to.have.length(11)
      await project.traces.retain()
    }
  })

  it('several processes open it at once, record and bring it over together', async () => {
    makeOlderFile(project.file, 2)
    multiply(project.file, 20)
    const others = [project, project.another(), project.another()]
    const spans = others.map(() => makeSpan())
    for (const [n, { traces }] of others.entries()) traces.record([spans[n] ?? expect.fail()])
    await Promise.all(others.map(async ({ traces }) => traces.retain()))
    for (const { traces } of others) {
      const { spans: found } = await asked(traces)
      expect(new Set(found.map(({ span_id: id, trace_id: trace }) => trace + id)).size).to.equal(203)
      expect(found).to.have.length(203)
    }
    expect(olderTables(project.file)).to.deep.equal([])
  })

  it('who asks while it is brought over finds everything, once', async () => {
    makeOlderFile(project.file, 2)
    multiply(project.file, COPIES / 3)
    const whole = await recordsOf()
    expect(whole).to.have.length((10 * COPIES) / 3)
    let isOver = false
    const retaining = project.traces.retain().finally(() => (isOver = true))
    let rounds = 0
    for (; !isOver; rounds++) {
      expect(await recordsOf()).to.deep.equal(whole)
      expect(await recordsOf({ field: 'span_type', value: 'llm' })).to.have.length(COPIES / 3)
    }
    await retaining
    expect(rounds).to.be.above(2)
    expect(await recordsOf()).to.deep.equal(whole)
  })

  it('a server that is killed half way leaves each trace in one place, and the next goes on', async () => {
    makeOlderFile(project.file, 2)
    multiply(project.file, COPIES)
    const whole = await recordsOf()
    const total = 9 * COPIES
    for (const kept of [0.8, 0.4]) {
      const script = fileURLToPath(new URL('./bring-over-process.js', import.meta.url))
      const child = spawn(process.execPath, [script, project.folder], { stdio: 'inherit' })
      while (olderTraces(project.file) > total * kept) await pause(5)
      child.kill('SIGKILL')
      await once(child, 'exit')
      expect(olderTraces(project.file)).to.be.within(1, total * kept)
      const [{ both } = expect.fail()] = rowsOfFile<{ both: number }>(
        project.file,
        `SELECT (SELECT count(*) FROM traces JOIN older_traces USING (trace_id)) +
          (SELECT count(*) FROM spans WHERE trace_id NOT IN (SELECT trace_id FROM traces)) AS both`,
      )
      expect(both).to.equal(0)
      expect(await recordsOf()).to.deep.equal(whole)
    }
    await project.traces.retain()
    expect(olderTables(project.file)).to.deep.equal([])
    expect(await recordsOf()).to.deep.equal(whole)
  })

  it('its traces are removed by one, by age, and the oldest past the greatest size', async () => {
    makeOlderFile(project.file, 2)
    multiply(project.file, COPIES)
    const ids = traceIdsOf((await asked(project.traces, undefined, { focus: 'trace' })).spans)
    expect(await project.traces.remove(ids[0] ?? '')).to.equal(true)
    expect(await project.traces.remove(ids[0] ?? '')).to.equal(false)
    await project.open.close()
    const small = project.another({ retention: { maxAgeDays: 30, maxBytes: 1024 * 1024 } })
    await small.traces.retain()
    const left = traceIdsOf((await asked(small.traces, undefined, { focus: 'trace' })).spans)
    expect(left.length).to.be.within(300, 900)
    expect(left).to.deep.equal(ids.slice(1, 1 + left.length))
    const late = project.another({ now: () => new Date('2027-03-01T00:00:00Z') })
    await late.traces.retain()
    expect((await asked(late.traces)).spans).to.deep.equal([])
  })
})

function traceIdOf(record: string): string {
  return JSON.parse(record).trace_id
}

function startOf(record: string): string {
  return JSON.parse(record).start_time
}

function olderTables(file: string): readonly object[] {
  return rowsOfFile(file, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'older%'")
}

function olderTraces(file: string): number {
  const [row] = rowsOfFile<{ count: number }>(file, 'SELECT count(*) AS count FROM older_traces')
  return row?.count ?? 0
}
