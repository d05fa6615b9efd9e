import { expect } from 'chai'
import { Refusal } from '../../../src/errors.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { readTime } from '../../../src/feeds/traces/span-time.ts'
import { isoOf } from '../../../src/feeds/traces/span-record.ts'
import { traceIdsOf } from '../../../src/feeds/traces/query/trace-tree.ts'
import { traceQuestion, type TraceWindow } from '../../../src/feeds/traces/query/trace-page.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'
import { overEachEngine } from './engines/over-each-engine.ts'
import type { TraceProject } from './trace-project.ts'

/** So many traces of two spans, a second apart. */
const COUNT = 250

overEachEngine('traces: windows', (traceProject) => {
  let project: TraceProject
  const ids: string[] = []
  before(() => {
    project = traceProject()
    for (let n = 0; n < COUNT; n++) {
      const root = makeSpan({ startTime: NOON + n * 1000 })
      const child = spanWith(
        { inputs: { n } },
        { traceId: root.traceId, parentId: root.spanId, startTime: NOON + n * 1000 + 1 },
      )
      project.traces.record([child, root])
      ids.unshift(root.traceId)
    }
  })
  after(() => project?.stop())

  const ask = (window: TraceWindow, filtering?: object, focus: 'trace' | 'span' = 'trace') =>
    project.traces.query(traceQuestion(focus, filtering && { value: filtering as Json, loc: [] }, window))
  const micro = (n: number) => (NOON + n * 1000) * 1000

  // interface 12.11
  it('newest first unless ascending; without a limit all of them, each whole', async () => {
    const page = await ask({})
    expect(traceIdsOf(page.spans)).to.deep.equal(ids)
    expect(page.spans).to.have.length(2 * COUNT)
    expect(page.next).to.equal(undefined)
    expect(traceIdsOf((await ask({ order: 'ascending' })).spans)).to.deep.equal(ids.toReversed())
  })

  const ALL = { conditions: [{ field: 'span_name', value: 'completion_v0' }] }
  for (const [how, filtering] of [
    ['without a filter', undefined],
    ['with one', ALL],
  ] as const) {
    for (const focus of ['trace', 'span'] as const) {
      for (const order of ['ascending', 'descending'] as const) {
        it(`pages of ${focus}s ${how}, ${order}, are the whole list, and next is there exactly when more remains`, async () => {
          const whole = (await ask({ order }, filtering, focus)).spans.map(({ span_id: id }) => id)
          const limit = focus === 'trace' ? 50 : 100
          const seen: string[] = []
          let next: string | undefined
          let pages = 0
          do {
            const page = await ask({ order, limit, next }, filtering, focus)
            seen.push(...page.spans.map(({ span_id: id }) => id))
            next = page.next
            pages++
          } while (next !== undefined)
          expect(seen).to.deep.equal(whole)
          expect(pages).to.equal(5)
        })
      }
    }
  }

  it('oldest is within, newest is not, unless a cursor goes on from there', async () => {
    const range = { oldest: micro(10), newest: micro(13) }
    const found = ids.slice(COUNT - 13, COUNT - 10)
    expect(traceIdsOf((await ask(range)).spans)).to.deep.equal(found)
    expect(traceIdsOf((await ask({ ...range, order: 'ascending' })).spans)).to.deep.equal(found.toReversed())
    // As existing clients go on: newest is the last time, next the last id.
    const [first = ''] = found
    expect(
      traceIdsOf((await ask({ oldest: micro(10), newest: micro(12), next: first })).spans),
    ).to.deep.equal(found.slice(1))
  })

  it('a span is gone on from by its id alone, too, beside its time', async () => {
    const [last] = (await ask({ limit: 3 }, undefined, 'span')).spans.slice(-1)
    const { start_time: time } = JSON.parse(last?.record ?? '')
    const page = await ask({ newest: readTime(time), next: last?.span_id, limit: 2 }, undefined, 'span')
    const all = (await ask({ limit: 5 }, undefined, 'span')).spans
    expect(page.spans).to.deep.equal(all.slice(3))
  })

  it('a filter with as many values as SQL is given goes on behind its first rows', async () => {
    const value = ['completion_v0', ...Array.from({ length: 199 }, (_, n) => `other ${n}`)]
    const filtering = { conditions: [{ field: 'span_name', operator: 'in', value }] }
    expect((await ask({}, filtering, 'span')).spans).to.have.length(2 * COUNT)
    expect((await ask({ oldest: micro(10), newest: micro(13) }, filtering, 'span')).spans).to.have.length(6)
  })

  // interface 12.11
  it('a trace of which one span matches is answered whole', async () => {
    const filtering = {
      conditions: [{ field: 'attributes', key: 'svc.data.inputs.n', operator: 'in', value: [3, 200] }],
    }
    const page = await ask({}, filtering)
    expect(traceIdsOf(page.spans)).to.deep.equal([ids[COUNT - 201], ids[COUNT - 4]])
    expect(page.spans).to.have.length(4)
  })

  // interface 12.13
  it('a filter that only names traces knows no window', async () => {
    const named = { conditions: [{ field: 'trace_id', operator: 'in', value: [ids[0], ids[9]] }] }
    expect(traceIdsOf((await ask({ limit: 1, newest: micro(1) }, named)).spans)).to.deep.equal([
      ids[0],
      ids[9],
    ])
    const more = { conditions: [...named.conditions, { field: 'span_type', value: 'workflow' }] }
    expect(traceIdsOf((await ask({ limit: 1 }, more)).spans)).to.deep.equal([ids[0]])
  })

  it('a rate takes about its share, always the same ones', async () => {
    const some = traceIdsOf((await ask({ rate: 0.4 })).spans)
    expect(some.length).to.be.within(COUNT * 0.2, COUNT * 0.6)
    expect(traceIdsOf((await ask({ rate: 0.4 }, ALL)).spans)).to.deep.equal(some)
    expect((await ask({ rate: 0 })).spans).to.deep.equal([])
    expect(traceIdsOf((await ask({ rate: 1 })).spans)).to.have.length(COUNT)
  })

  it('a cursor that names nothing is refused', async () => {
    for (const next of ['a'.repeat(32), 'nonsense'])
      await refuses(() => ask({ next }), /windowing\.next.*Send the `next` of the previous answer/)
    await refuses(() => ask({ next: 'a'.repeat(16) }, undefined, 'span'), /windowing\.next/)
  })

  it('a page ends where it is large enough, and says that more remains', async () => {
    const own = traceProject()
    const large = 'x'.repeat(6 * 1024 * 1024)
    for (let n = 0; n < 5; n++) own.traces.record([spanWith({ outputs: large }, { startTime: NOON + n })])
    const first = await own.traces.query(traceQuestion('trace', undefined, {}))
    expect(first.spans).to.have.length(3)
    const rest = await own.traces.query(traceQuestion('trace', undefined, { next: first.next }))
    expect([rest.spans.length, rest.next]).to.deep.equal([2, undefined])
    const ids = [...first.spans, ...rest.spans].map(({ trace_id: id }) => id)
    const named = { value: { conditions: [{ field: 'trace_id', operator: 'in', value: ids }] }, loc: [] }
    const behind = await own.traces.query(traceQuestion('trace', named, { next: first.next }))
    expect(behind.spans).to.deep.equal(rest.spans)
    await own.stop()
  })

  it('a pattern that backtracks for ever is ended, and delays nobody', async () => {
    const own = traceProject({ queryMs: 1500 })
    const span = makeSpan({ name: `${'a'.repeat(60)}!` })
    own.traces.record([span])
    await own.traces.query(traceQuestion('trace', undefined, {}))
    const hopeless = { conditions: [{ field: 'span_name', operator: 'matches', value: '^(a+)+$' }] }
    let isOver = false
    const slow = refuses(
      () => own.traces.query(traceQuestion('trace', { value: hopeless, loc: [] }, {})),
      /took longer than 1.5 s.*nested repetitions/,
    ).finally(() => (isOver = true))
    const behind = own.traces.query(traceQuestion('trace', undefined, { limit: 1 }))
    expect(await own.traces.read([span.traceId])).to.have.length(1)
    expect(isOver).to.equal(false)
    await slow
    expect((await behind).spans).to.have.length(1)
    await own.stop()
  })

  it('times are read in every form that clients send', () => {
    const noon = '2026-03-01T12:00:00.000000Z'
    for (const text of [
      '2026-03-01T12:00:00Z',
      '2026-03-01 12:00',
      '2026-03-01T13:00:00.000+01:00',
      '1772366400',
      '1772366400000',
      '1772366400000000',
      '1772366400000000000',
    ])
      expect(isoOf(readTime(text) ?? 0), text).to.equal(noon)
    expect(isoOf(readTime('2026-03-01t12:00:00.1234567z') ?? 0)).to.equal('2026-03-01T12:00:00.123456Z')
    for (const text of [
      '',
      'noon',
      '2026-13-01',
      '2026-03-01T25:00:00Z',
      '177236640',
      '2026-03-01T12:00:00Zulu',
    ])
      expect(readTime(text), text).to.equal(undefined)
  })
})

async function refuses(ask: () => Promise<unknown>, message: RegExp): Promise<void> {
  const refusal = await Promise.resolve()
    .then(ask)
    .catch((error: unknown) => error)
  expect(refusal).to.be.instanceOf(Refusal)
  expect((refusal as Refusal).message).to.match(message)
}
