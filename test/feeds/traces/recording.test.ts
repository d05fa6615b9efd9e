import { basename } from 'node:path'
import { expect } from 'chai'
import { ExactNumber, fromEntries, type Json, type JsonObject } from '../../../src/base/json/json.ts'
import { startTrace } from '../../../src/feeds/traces/open-span.ts'
import type { Span } from '../../../src/feeds/traces/span.ts'
import { traceQuestion } from '../../../src/feeds/traces/query/trace-page.ts'
import { flatTraces, traceTrees } from '../../../src/feeds/traces/query/trace-tree.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'
import { overEachEngine } from './engines/over-each-engine.ts'
import type { TraceProject } from './trace-project.ts'

overEachEngine('traces: recording and reading back', (traceProject) => {
  let project: TraceProject
  let own: TraceProject | undefined
  before(() => (project = traceProject()))
  after(async () => {
    await own?.stop()
    await project?.stop()
  })

  /** What is answered, parsed. */
  const treeOf = async (traceId: string) =>
    JSON.parse(stringifyJson(traceTrees(await project.traces.read([traceId]))))[0]

  it('a name and a session with U+0000 in them are kept whole, and found', async () => {
    own = traceProject()
    const { traces } = own
    const { traceId } = makeSpan()
    const names = ['x', 'x\0y', 'x\0z', '\0', 'x\ufffdy']
    const spans = names.map((name, n) =>
      makeSpan({ traceId, name, startTime: NOON + n, sessionId: `s\0${n}` }),
    )
    traces.record(spans)
    const namesIn = (rows: readonly { readonly span_name: string }[]): string[] =>
      rows.map(({ span_name: name }) => name)
    expect(namesIn(await traces.read([traceId]))).to.deep.equal(names)
    for (const focus of ['trace', 'span'] as const) {
      const page = await traces.query(traceQuestion(focus, undefined, {}))
      expect(namesIn(page.spans)).to.have.members(names)
    }
    const found = async (field: string, value: string): Promise<string[]> => {
      const filtering = { value: { conditions: [{ field, value }] }, loc: [] }
      return namesIn((await traces.query(traceQuestion('span', filtering, {}))).spans)
    }
    for (const name of names) expect(await found('span_name', name)).to.deep.equal([name])
    expect(await found('session_id', 's\u00002')).to.deep.equal(['x\0z'])
    expect(await found('session_id', 's')).to.deep.equal([])
  })

  // interface 12.8, 12.9
  it('a run is one trace whose record has what the run was told', async () => {
    const root = startTrace({ record: (spans) => project.traces.record(spans), sessionId: 's-1' }, 'chat_v0')
    root
      .setData('inputs', { country: 'France' })
      .setData('outputs', 'Paris')
      .addReference('workflow_revision', { id: 'r-1', slug: 'bot-3', version: '3' })
    root
      .child('model', 'llm')
      .setUsage({ tokens: { prompt: 3, completion: 1, total: 4 } })
      .end()
    root.end()
    const { trace_id, spans } = await treeOf(root.traceId)
    expect(trace_id).to.equal(root.traceId)
    const run = spans.chat_v0
    expect(run).to.include({
      trace_id,
      span_id: root.spanId,
      trace_type: 'invocation',
      span_type: 'workflow',
      span_kind: 'SPAN_KIND_SERVER',
      status_code: 'STATUS_CODE_OK',
      session_id: 's-1',
      created_at: '2026-03-01T13:00:00.000000Z',
    })
    expect(run.attributes.svc.data).to.deep.equal({ inputs: { country: 'France' }, outputs: 'Paris' })
    expect(run.references).to.deep.equal([
      { id: 'r-1', slug: 'bot-3', version: '3', attributes: { key: 'workflow_revision' } },
    ])
    expect(run.spans.model).to.include({ parent_id: root.spanId, span_type: 'llm' })
    expect(run.spans.model.attributes.svc.metrics.tokens.incremental.total).to.equal(4)
  })

  // interface 12.9
  it('what a span counts is its own; cumulative has what is inside', async () => {
    const root = startTrace({ record: (spans) => project.traces.record(spans) }, 'judge_v0')
    const inner = root.child('retry')
    inner
      .child('model', 'llm')
      .setUsage({ tokens: { prompt: 3, completion: 1, total: 4 } })
      .end()
    inner.child('broken').fail({ type: 'E', message: 'no', stacktrace: undefined }).end()
    inner.end()
    root.setUsage({ tokens: { prompt: 10, completion: 0, total: 10 } }).end()
    const { judge_v0: run } = (await treeOf(root.traceId)).spans
    const { metrics } = run.attributes.svc
    expect(metrics.tokens).to.deep.equal({
      incremental: { prompt: 10, completion: 0, total: 10 },
      cumulative: { prompt: 13, completion: 1, total: 14 },
    })
    expect(metrics.errors).to.deep.equal({ cumulative: 1 })
    expect(run.spans.retry.attributes.svc.metrics.tokens).to.deep.equal({
      cumulative: { prompt: 3, completion: 1, total: 4 },
    })
    expect(run.spans.retry.spans.broken.attributes.svc.metrics.errors).to.deep.equal({
      incremental: 1,
      cumulative: 1,
    })
  })

  it('costs are summed while every price is known', async () => {
    const priced = {
      tokens: { prompt: 3, completion: 1, total: 4 },
      costs: { prompt: 0.5, completion: 0.25, total: 0.75 },
    }
    const root = startTrace({ record: (spans) => project.traces.record(spans) }, 'judge_v0')
    const known = root.child('known')
    known.child('model', 'llm').setUsage(priced).end()
    known.child('model', 'llm').setUsage(priced).end()
    known.end()
    root.child('unknown', 'llm').setUsage({ tokens: priced.tokens }).end()
    root.end()
    const { judge_v0: run } = (await treeOf(root.traceId)).spans
    expect(run.spans.known.attributes.svc.metrics.costs).to.deep.equal({
      cumulative: { prompt: 1, completion: 0.5, total: 1.5 },
    })
    expect(run.spans.known.spans.model[0].attributes.svc.metrics.costs).to.deep.equal({
      incremental: priced.costs,
      cumulative: priced.costs,
    })
    expect(run.attributes.svc.metrics.tokens.cumulative.total).to.equal(12)
    expect(run.attributes.svc.metrics, 'a sum without the unknown price would be too small').to.not.have.key(
      'costs',
    )
  })

  // interface 12.8
  it('a failed run says why, and has an event of it', async () => {
    const root = startTrace({ record: (spans) => project.traces.record(spans) }, 'code_v0')
    root.fail({ type: 'TypeError', message: 'no "x"\n', stacktrace: ['a.js:1', 'b.js:2'] }).end()
    const { code_v0: run } = (await treeOf(root.traceId)).spans
    expect(run.status_message).to.equal('no "x"\n')
    expect(run.exception).to.deep.equal({
      type: 'TypeError',
      message: 'no "x"\n',
      stacktrace: ['a.js:1', 'b.js:2'],
    })
    expect(run.events).to.deep.equal([
      { name: 'exception', timestamp: run.end_time, attributes: run.exception },
    ])
  })

  it('times are kept to the microsecond', async () => {
    const span = makeSpan({ startTime: NOON + 0.123, endTime: NOON + 999.999 })
    project.traces.record([span])
    const { completion_v0: run } = (await treeOf(span.traceId)).spans
    expect([run.start_time, run.end_time]).to.deep.equal([
      '2026-03-01T12:00:00.000123Z',
      '2026-03-01T12:00:00.999999Z',
    ])
  })

  it('JSON comes back digit for digit and key for key', async () => {
    const odd: Json = fromEntries([
      ['10', new ExactNumber('12345678901234567890')],
      ['2', new ExactNumber('1.0')],
      ['__proto__', { constructor: [null, true, 'é\u0000"\\'] }],
    ])
    const span = spanWith({ inputs: odd })
    project.traces.record([span])
    const [row] = await project.traces.read([span.traceId])
    expect(row?.record).to.include(stringifyJson(odd))
  })

  it('references are the last member of svc, whatever else it has and whatever follows it', async () => {
    const references = new Map([['workflow', { id: 'a-1', slug: 'bot' }]])
    const recorded = async (attributes: JsonObject): Promise<string | undefined> => {
      const span = makeSpan({ attributes, references })
      project.traces.record([span])
      const [row] = await project.traces.read([span.traceId])
      return row && stringifyJson(JSON.parse(row.record).attributes)
    }
    const own = '"references":{"workflow":{"id":"a-1","slug":"bot"}}'
    expect(await recorded({ svc: { data: { outputs: 1 } }, gen_ai: { system: 'x' } })).to.equal(
      `{"svc":{"data":{"outputs":1},${own}},"gen_ai":{"system":"x"}}`,
    )
    expect(await recorded({ svc: {} })).to.equal(`{"svc":{${own}}}`)
    expect(await recorded({ gen_ai: {} })).to.equal('{"gen_ai":{}}')
  })

  it('texts of any characters come back, and each span has its own references', async () => {
    const odd = 'a\tb\nc\u0001d"$&é😀'
    const spans = ['1', '2'].map((id) =>
      spanWith(
        { inputs: odd },
        {
          name: odd,
          sessionId: odd,
          statusMessage: odd,
          references: new Map([['workflow', { id, slug: odd }]]),
        },
      ),
    )
    const bare = makeSpan()
    project.traces.record([...spans, bare])
    const rows = await project.traces.read([...spans, bare].map(({ traceId }) => traceId))
    const records = rows.map(({ record }) => JSON.parse(record))
    for (const [at, id] of ['1', '2'].entries()) {
      expect(rows[at]?.span_name).to.equal(odd)
      const { attributes, references, ...record } = records[at]
      expect(record).to.include({ span_name: odd, session_id: odd, status_message: odd })
      expect(attributes.svc).to.deep.equal({
        data: { inputs: odd },
        references: { workflow: { id, slug: odd } },
      })
      expect(references).to.deep.equal([{ id, slug: odd, attributes: { key: 'workflow' } }])
    }
    expect(records[2]).to.not.have.any.keys(
      'references',
      'session_id',
      'status_message',
      'links',
      'exception',
    )
    expect(records[2].attributes).to.deep.equal(bare.attributes)
  })

  it('half a character does not keep the span from being found', async () => {
    const span = spanWith({ outputs: 'cut \ud83d' }, { name: 'cut_v0' })
    project.traces.record([span])
    const conditions = [{ field: 'span_name', value: 'cut_v0' }]
    const page = await project.traces.query(traceQuestion('span', { value: { conditions }, loc: [] }, {}))
    expect(page.spans.map(({ span_id }) => span_id)).to.deep.equal([span.spanId])
  })

  it('attributes that are no JSON cost their trace, are told of, and nothing else', async () => {
    const own = traceProject()
    const good = makeSpan()
    own.traces.record([spanWith({ outputs: Number.NaN })])
    own.traces.record([good])
    expect(await own.traces.read([good.traceId])).to.have.length(1)
    expect(own.troubles.join()).to.match(
      /cannot be written as JSON \(JSON cannot say NaN.*1 spans have been dropped/,
    )
    expect(own.open.problems()).to.deep.equal([{ project: basename(own.folder), dropped: 1 }])
  })

  // interface 12.14
  it('recording a span again overwrites it, and leaves the others of its trace', async () => {
    const [first, second] = [makeSpan(), makeSpan({ name: 'other' })]
    const { traceId } = first
    project.traces.record([first, { ...second, traceId }])
    project.traces.record([{ ...first, name: 'renamed' }])
    expect(Object.keys((await treeOf(traceId)).spans)).to.have.members(['renamed', 'other'])
  })

  it('one that is different among many alike, in any column, is found by what it is', async () => {
    const odd: readonly (readonly [Partial<Span>, string, string])[] = [
      [{ traceType: 'annotation' }, 'trace_type', 'annotation'],
      [{ type: 'rerank' }, 'span_type', 'rerank'],
      [{ name: 'odd' }, 'span_name', 'odd'],
      [{ statusCode: 'STATUS_CODE_ERROR' }, 'status_code', 'STATUS_CODE_ERROR'],
      [{ sessionId: 'odd' }, 'session_id', 'odd'],
      [{ parentId: 'd'.repeat(16) }, 'parent_id', 'd'.repeat(16)],
    ]
    for (const [fields, field, value] of odd) {
      const own = traceProject()
      const spans = Array.from({ length: 170 }, (_, n) => makeSpan(n === 70 ? fields : {}))
      for (const span of spans) own.traces.record([span])
      const filtering = { value: { conditions: [{ field, value }] }, loc: [] }
      const page = await own.traces.query(traceQuestion('span', filtering, {}))
      expect(page.spans.map(({ span_id }) => span_id)).to.deep.equal([spans[70]?.spanId])
      expect((await own.traces.query(traceQuestion('span', undefined, {}))).spans).to.have.length(170)
      await own.stop()
    }
  })

  it('siblings of one name are a list; a span whose parent is elsewhere heads a tree', async () => {
    const root = makeSpan({ parentId: 'f'.repeat(16), name: '__proto__' })
    const child = (name: string, startTime: number, parentId = root.spanId) =>
      makeSpan({ traceId: root.traceId, parentId, name, startTime })
    const [b, a, lone] = [child('step', NOON + 2), child('step', NOON + 1), child('last', NOON + 3)]
    project.traces.record([b, a, lone, child('deep', NOON + 4, lone.spanId), root])
    const rows = await project.traces.read([root.traceId])
    const text = stringifyJson(traceTrees(rows)[0]?.spans)
    const run = Object.entries(JSON.parse(text))[0]
    expect(run?.[0]).to.equal('__proto__')
    const { spans } = run?.[1] as { spans: any }
    expect(spans.step.map((it: { span_id: string }) => it.span_id)).to.deep.equal([a.spanId, b.spanId])
    expect(spans.last.spans.deep.span_name).to.equal('deep')
    const flat = JSON.parse(stringifyJson(flatTraces(rows)))[0]
    expect(Object.keys(flat.spans)).to.have.length(5)
  })

  it('spans that are each other’s parents do not hang it', async () => {
    const [a, b] = [makeSpan(), makeSpan()]
    project.traces.record([
      { ...a, parentId: b.spanId },
      { ...b, traceId: a.traceId, parentId: a.spanId },
    ])
    expect(await treeOf(a.traceId)).to.deep.equal({ trace_id: a.traceId, spans: {} })
  })

  it('whoever recorded finds it at once, many times over', async () => {
    for (let round = 0; round < 12; round++) {
      const spans = Array.from({ length: round * 60 + 1 }, () => makeSpan())
      for (const span of spans) project.traces.record([span])
      const last = spans.at(-1)?.traceId ?? ''
      expect(await project.traces.read([last])).to.have.length(1)
    }
  })

  it('a trace that is removed is gone, once', async () => {
    const span = makeSpan()
    project.traces.record([span])
    expect(await project.traces.remove(span.traceId)).to.equal(true)
    expect(await project.traces.remove(span.traceId)).to.equal(false)
    expect(await project.traces.read([span.traceId])).to.deep.equal([])
  })

  it('what was recorded before closing is there after opening, unless it was in memory', async () => {
    const span = makeSpan()
    const { open, traces } = project.another()
    traces.record([span])
    await open.close()
    expect(await project.traces.read([span.traceId])).to.have.length(project.isKept ? 1 : 0)
  })

  it('nothing is recorded when that is turned off, and no file made', async () => {
    const own = traceProject({ isRecording: false })
    const span = makeSpan()
    own.traces.record([span])
    expect(await own.traces.read([span.traceId])).to.deep.equal([])
  })
})
