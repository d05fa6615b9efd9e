import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { makeSpan, NOON, spanWith } from '../../support/values/make-span.ts'

describe('traces over HTTP', () => {
  let service: RunningService
  const root = makeSpan({ name: 'chat_v0', startTime: NOON })
  const child = spanWith(
    { outputs: 'Paris' },
    { traceId: root.traceId, parentId: root.spanId, name: 'model', startTime: NOON + 1 },
  )
  const later = makeSpan({ startTime: NOON + 60_000, statusCode: 'STATUS_CODE_ERROR' })
  before(async () => {
    service = await startService()
    service.traces.record([child, root])
    service.traces.record([later])
  })
  after(() => service.stop())

  const uuidOf = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

  it('GET /traces/{id} answers the tree, for an id in hex, as a UUID, and in upper case', async () => {
    for (const id of [root.traceId, uuidOf(root.traceId), root.traceId.toUpperCase()]) {
      const { status, body } = await service.get(`/traces/${id}`)
      expect(status).to.equal(200)
      expect(body.count).to.equal(1)
      expect(body.trace.trace_id).to.equal(root.traceId)
      expect(body.trace.spans.chat_v0.spans.model.attributes.svc.data.outputs).to.equal('Paris')
    }
    expect((await service.get(`/api/traces/${root.traceId}/`)).status).to.equal(200)
  })

  it('an unknown trace is 404, an id that is none 422', async () => {
    const unknown = await service.get(`/traces/${'e'.repeat(32)}`)
    expect([unknown.status, unknown.body.code, unknown.body.count]).to.deep.equal([404, 'trace_not_found', 0])
    const malformed = await service.get('/traces/abc')
    expect(malformed.status).to.equal(422)
    expect(malformed.body.errors[0].loc).to.deep.equal(['path', 'id'])
    expect(malformed.body.detail).to.include('"abc" is no trace id; send its 32 hex digits')
  })

  it('GET /traces answers those that there are; without ids 400', async () => {
    const unknown = 'e'.repeat(32)
    const both = await service.get(`/traces/?trace_id=${root.traceId}&trace_ids=${later.traceId},${unknown}`)
    expect(both.body.count).to.equal(2)
    expect(both.body.traces.map((it: { trace_id: string }) => it.trace_id)).to.deep.equal([
      root.traceId,
      later.traceId,
    ])
    expect((await service.get('/traces')).status).to.equal(400)
    expect((await service.get('/traces?trace_id=x')).status).to.equal(422)
  })

  it('GET /spans/{trace}/{span} answers one span', async () => {
    const { body } = await service.get(`/spans/${root.traceId}/${child.spanId}`)
    expect(body.span).to.include({ span_name: 'model', parent_id: root.spanId })
    const noSpan = await service.get(`/spans/${root.traceId}/${'e'.repeat(16)}`)
    expect([noSpan.status, noSpan.body.code]).to.deep.equal([404, 'span_not_found'])
    const noTrace = await service.get(`/spans/${'e'.repeat(32)}/${child.spanId}`)
    expect(noTrace.body.code).to.equal('trace_not_found')
    expect((await service.get(`/spans/${root.traceId}/zz`)).status).to.equal(422)
  })

  it('queries: everything, a filter, a page and the next', async () => {
    const all = await service.post('/traces/query')
    expect(all.body.traces.map((it: { trace_id: string }) => it.trace_id)).to.deep.equal([
      later.traceId,
      root.traceId,
    ])
    expect(all.body).to.not.have.property('windowing')
    const named = { conditions: [{ field: 'span_name', operator: 'like', value: 'MOD%' }] }
    const spans = await service.post('/spans/query', { filtering: named })
    expect(spans.body.spans.map((it: { span_id: string }) => it.span_id)).to.deep.equal([child.spanId])
    const trace = await service.post('/traces/query', { filtering: named })
    expect(trace.body.traces[0].spans.chat_v0.spans.model.span_id).to.equal(child.spanId)
    const first = await service.post('/spans/query', { windowing: { limit: 2, oldest: NOON } })
    expect(first.body.windowing).to.deep.equal({
      limit: 2,
      oldest: '2026-03-01T12:00:00.000000Z',
      next: `${root.traceId}.${child.spanId}`,
    })
    const rest = await service.post('/spans/query', { windowing: first.body.windowing })
    expect(rest.body.spans.map((it: { span_id: string }) => it.span_id)).to.deep.equal([root.spanId])
  })

  it('heads_only leaves out what lies below, and finds traces by any of their spans all the same', async () => {
    const named = { conditions: [{ field: 'span_name', value: 'model' }] }
    const { body } = await service.post('/traces/query', { filtering: named, heads_only: true })
    expect(body.traces).to.have.length(1)
    expect(body.traces[0].spans.chat_v0).to.include({ span_id: root.spanId }).and.not.have.property('spans')
    // The caller's span is not here: the run below it heads the trace.
    const called = makeSpan({ startTime: NOON - 60_000, parentId: 'b7ad6b7169203331', name: 'called' })
    const below = makeSpan({ traceId: called.traceId, parentId: called.spanId, startTime: NOON - 59_000 })
    service.traces.record([called, below])
    const all = await service.post('/traces/query', { heads_only: true, windowing: { newest: NOON } })
    expect(all.body.traces[0].spans).to.have.all.keys('called')
    expect(all.body.traces[0].spans.called).to.not.have.property('spans')
    await service.call('DELETE', `/traces/${called.traceId}`)
    expect((await service.post('/spans/query', { heads_only: true })).status).to.equal(422)
  })

  it('a window may come in the query string, too; that of the body wins', async () => {
    const one = await service.post('/traces/query?limit=1&newest=2026-03-01T12:00:30Z', '')
    expect(one.body.traces.map((it: { trace_id: string }) => it.trace_id)).to.deep.equal([root.traceId])
    const two = await service.post('/traces/query?limit=1', { windowing: { limit: 2 } })
    expect(two.body.count).to.equal(2)
    expect((await service.post('/spans/query?limit=none')).status).to.equal(422)
  })

  it('what is wrong with a query is 422 at its place', async () => {
    const bad = async (body: object) => {
      const { status, body: problem } = await service.post('/traces/query', body)
      expect(status).to.equal(422)
      return problem.errors.map((it: { loc: string[] }) => it.loc.join('.'))
    }
    const conditions = [
      { field: 'span_name', value: 'a' },
      { field: 'x', value: 1 },
      { operator: 'or', conditions: [{ field: 'trace_id', value: 'q' }] },
    ]
    expect(await bad({ filtering: { conditions } })).to.deep.equal([
      'body.filtering.conditions.1.field',
      'body.filtering.conditions.2.conditions.0.value',
    ])
    expect(await bad({ filtering: { conditions: [], more: 1 } })).to.deep.equal(['body.filtering.more'])
    expect(await bad({ windowing: { newest: 'soon', limit: 0, rate: 2 } })).to.have.members([
      'body.windowing.newest',
      'body.windowing.limit',
      'body.windowing.rate',
    ])
    expect(await bad({ windowing: { next: 'nonsense' } })).to.deep.equal(['body.windowing.next'])
  })

  it('DELETE removes a trace once, with the scope write', async () => {
    const span = makeSpan()
    service.traces.record([span])
    const made = await service.post('/keys', { key: { name: 'reader', scopes: ['read'] } })
    const asReader = { authorization: `ApiKey ${made.body.key.secret}` }
    expect((await service.get(`/traces/${span.traceId}`, asReader)).status).to.equal(200)
    expect((await service.call('DELETE', `/traces/${span.traceId}`, undefined, asReader)).status).to.equal(
      403,
    )
    const { body } = await service.call('DELETE', `/traces/${span.traceId}`)
    expect(body).to.deep.equal({ count: 1, trace_id: span.traceId })
    expect((await service.call('DELETE', `/traces/${span.traceId}`)).status).to.equal(404)
  })

  it('a query that takes too long is 422, and the server goes on', async () => {
    const own = await startService({ env: { TRACES_QUERY_TIMEOUT_MS: '300' } })
    own.traces.record([makeSpan({ name: `${'a'.repeat(60)}!` })])
    const conditions = [{ field: 'span_name', operator: 'matches', value: '^(a+)+$' }]
    const { status, body } = await own.post('/traces/query', { filtering: { conditions } })
    expect([status, body.code]).to.deep.equal([422, 'query_too_slow'])
    expect((await own.get('/health')).status).to.equal(200)
    await own.stop()
  })

  it('traces are there after a restart, and none come with TRACES=off', async () => {
    const first = await startService()
    await first.post('/workflows/query')
    const span = makeSpan()
    first.traces.record([span])
    await first.stop({ keepStore: true })
    const second = await startService({ storeDir: first.storeDir, env: { TRACES: 'off' } })
    second.traces.record([later])
    expect((await second.post('/traces/query')).body.count).to.equal(1)
    expect((await second.get(`/traces/${span.traceId}`)).status).to.equal(200)
    expect((await second.get('/ready')).body).to.not.have.property('traces')
    await second.stop()
  })
})
