import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { makeSpan, NOON } from '../../support/values/make-span.ts'

describe('traces over HTTP: saved queries', () => {
  let service: RunningService
  // Newest first.
  const spans = [3, 2, 1, 0].map((n) =>
    makeSpan({ name: n === 3 ? 'other' : 'bot', startTime: NOON + n * 1000 }),
  )
  const [other, ...bots] = spans.map(({ traceId }) => traceId)
  before(async () => {
    service = await startService()
    const filtering = { operator: 'and', conditions: [{ field: 'span_name', value: 'bot' }] }
    await save('bots', { filtering, windowing: { limit: 2, order: 'descending' } })
    for (const span of spans) service.traces.record([span])
    await save('all-spans', { formatting: { focus: 'span' }, filtering: { conditions: [] } })
    await save('all-traces', { formatting: { focus: 'trace' } })
    await save('wrong', { filtering: { conditions: [{ field: 'nonsense', value: 1 }] } })
    await save('none', { filtering: { conditions: [{ field: 'span_name', value: 'nobody' }] } })
    const { query } = (await service.post('/queries', { query: { slug: 'empty' } })).body
    const variant = { query_id: query.id, slug: 'empty' }
    const { query_variant } = (await service.post('/queries/variants', { query_variant: variant })).body
    const revision = { query_variant_id: query_variant.id }
    expect((await service.post('/queries/revisions', { query_revision: revision })).status).to.equal(200)
  })
  after(() => service.stop())

  const save = async (slug: string, data: object): Promise<void> => {
    const { status, text } = await service.post('/simple/queries', { query: { slug, data } })
    expect(status, text).to.equal(200)
  }
  const idsOf = ({ body }: { readonly body: any }): string[] =>
    (body.traces ?? body.spans).map((it: { trace_id: string }) => it.trace_id)

  // interface 13.5
  it('runs by artifact, variant and revision; the request may change limit and next, and nothing else', async () => {
    for (const ref of [
      { query_ref: { slug: 'bots' } },
      { query_variant_ref: { slug: 'bots' } },
      { query_revision_ref: { slug: 'bots', version: 1 } },
    ])
      expect(idsOf(await service.post('/traces/query', ref))).to.deep.equal(bots.slice(0, 2))
    const named = { query_ref: { slug: 'bots' } }
    const one = await service.post('/traces/query', {
      ...named,
      windowing: { limit: 1, order: 'ascending', oldest: '2030-01-01' },
    })
    expect(idsOf(one)).to.deep.equal(bots.slice(0, 1))
    expect(one.body.windowing).to.deep.equal({ limit: 1, order: 'descending', next: bots[0] })
    const rest = await service.post('/traces/query', { ...named, windowing: { next: bots[0] } })
    expect(idsOf(rest)).to.deep.equal(bots.slice(1, 3))
    expect(idsOf(await service.post('/spans/query', named))).to.deep.equal(bots.slice(0, 2))
  })

  // interface 13.5
  it('a query about the other thing is 409, an unknown one 404, one with a filtering beside it 400', async () => {
    const codes = []
    for (const [path, body] of [
      ['/traces/query', { query_ref: { slug: 'all-spans' } }],
      ['/spans/query', { query_ref: { slug: 'all-traces' } }],
      ['/traces/query', { query_ref: { slug: 'nobody' } }],
      ['/traces/query', { query_ref: { slug: 'bots' }, filtering: { conditions: [] } }],
      ['/traces/query', { query_ref: { slug: 'wrong' } }],
    ] as const) {
      const reply = await service.post(path, body)
      codes.push([reply.status, reply.body.code])
    }
    expect(codes).to.deep.equal([
      [409, 'focus_mismatch'],
      [409, 'focus_mismatch'],
      [404, 'artifact_not_found'],
      [400, 'contradictory_request'],
      [422, 'invalid_request'],
    ])
    expect((await service.post('/spans/query', { query_ref: { slug: 'all-spans' } })).body.count).to.equal(4)
  })

  const retrieve = (slug: string, more: object = {}) =>
    service.post('/queries/revisions/retrieve', { query_ref: { slug }, ...more })

  it('a retrieve answers what is stored unless asked for more', async () => {
    for (const more of [
      {},
      { include_traces: false, include_trace_ids: false },
      { windowing: { limit: 1 } },
    ]) {
      const { body } = await retrieve('bots', more)
      expect(body.query_revision.data).to.have.all.keys('filtering', 'windowing')
    }
  })

  // interface 13.5
  it('include_trace_ids adds the ids, include_traces the traces too, with spans by id', async () => {
    const ids = await retrieve('bots', { include_trace_ids: true })
    expect(ids.body.query_revision.data.trace_ids).to.deep.equal(bots.slice(0, 2))
    expect(ids.body.query_revision.data).to.not.have.property('traces')
    expect(ids.body.windowing).to.deep.equal({ limit: 2, order: 'descending', next: bots[1] })
    expect(ids.body.retrieval_info.references.query.slug).to.equal('bots')
    const whole = await retrieve('bots', { include_traces: true, windowing: { limit: 1 } })
    const { data } = whole.body.query_revision
    expect(data.trace_ids).to.deep.equal(bots.slice(0, 1))
    expect(data.windowing).to.deep.equal({ limit: 2, order: 'descending' })
    const { spanId } = spans[1] ?? expect.fail()
    expect(data.traces).to.have.length(1)
    expect(data.traces[0].trace_id).to.equal(bots[0])
    expect(data.traces[0].spans[spanId].span_name).to.equal('bot')
  })

  it('nothing found is empty lists; a query without data is answered plainly', async () => {
    const { data } = (await retrieve('none', { include_traces: true })).body.query_revision
    expect([data.trace_ids, data.traces]).to.deep.equal([[], []])
    const empty = await retrieve('empty', { include_traces: true })
    expect([empty.status, empty.body.query_revision.data]).to.deep.equal([200, undefined])
  })

  it('without a stored windowing the request’s is used whole', async () => {
    const windowing = { order: 'ascending', limit: 1 }
    const { body } = await retrieve('all-traces', { include_trace_ids: true, windowing })
    expect(body.query_revision.data.trace_ids).to.deep.equal([bots[2]])
  })

  it('the entity tag follows what is found', async () => {
    const first = await retrieve('all-traces', { include_trace_ids: true })
    const etag = first.headers.get('etag') ?? ''
    const again = () =>
      service.post(
        '/queries/revisions/retrieve',
        { query_ref: { slug: 'all-traces' }, include_trace_ids: true },
        { 'if-none-match': etag },
      )
    expect((await again()).status).to.equal(304)
    service.traces.record([makeSpan({ startTime: NOON + 9000 })])
    const after = await again()
    expect(after.status).to.equal(200)
    expect(after.body.query_revision.data.trace_ids).to.have.length(5)
    expect(after.body.query_revision.data.trace_ids[1]).to.equal(other)
  })

  it('the GET form asks with parameters; other families know nothing of it', async () => {
    const { body } = await service.get(
      '/queries/revisions/retrieve?query_ref.slug=bots&include_trace_ids=true&windowing.limit=1',
    )
    expect(body.query_revision.data.trace_ids).to.deep.equal(bots.slice(0, 1))
    const bad = await service.get('/queries/revisions/retrieve?query_ref.slug=bots&include_trace_ids=perhaps')
    expect(bad.status).to.equal(422)
    await service.post('/simple/workflows', { workflow: { slug: 'w', data: { parameters: { a: 1 } } } })
    const plain = await service.post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'w' },
      include_traces: true,
    })
    expect([plain.status, plain.body.code]).to.deep.equal([422, 'unknown_field'])
  })
})
