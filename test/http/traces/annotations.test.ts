import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'
import { makeSpan } from '../../support/values/make-span.ts'

const STRANGE = 'e'.repeat(32)

// POST /annotations, GET and DELETE /annotations/{id}
describe('annotations', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())
  annotating(
    () => service,
    () => service,
  )

  const say = (traceId: string, more: object = {}, headers = {}): Promise<Reply> =>
    service.post(
      '/annotations/',
      { annotation: { trace_id: traceId, data: { outputs: { approved: true } }, ...more } },
      headers,
    )
  const keyOf = async (scopes: readonly string[]): Promise<Record<string, string>> => {
    const { body } = await service.post('/keys', { key: { name: scopes.join(' '), scopes } })
    return { authorization: `ApiKey ${body.key.secret}` }
  }

  // interface 12.18
  it('fit the schema of the evaluator that they name', async () => {
    const properties = { score: { type: 'number', maximum: 5 } }
    const data = {
      uri: 'svc:custom:feedback:v0',
      schemas: { outputs: { type: 'object', properties, required: ['score'] } },
    }
    const evaluator = { slug: 'stars', data }
    expect((await service.post('/simple/evaluators/', { evaluator })).status).to.equal(200)
    const { traceId } = recorded(service)
    const references = { evaluator: { slug: 'stars' } }
    const { body } = await say(traceId, { references, data: { outputs: { score: 4 } } })
    expect(body.annotation.references.evaluator).to.include({ slug: 'stars' })
    expect(body.annotation.references.evaluator_revision).to.include({ slug: 'stars-1', version: 1 })
    const wrong = await say(traceId, { references, data: { outputs: { score: 6 } } })
    expect(refused(wrong)).to.equal('422 invalid_request')
    expect(wrong.body.errors[0]).to.deep.include({
      loc: ['body', 'annotation', 'data', 'outputs'],
      type: 'invalid_outputs',
    })
    expect(wrong.body.detail).to.include('stars-1').and.include('score')
    const unknown = await say(traceId, { references: { evaluator: { slug: 'none' } } })
    expect(refused(unknown)).to.equal('404 artifact_not_found')
    const by = async (evaluator: object): Promise<number> =>
      (await service.post('/annotations/query', { annotation: { evaluator } })).body.count
    expect([await by({ slug: 'stars' }), await by({ slug: 'exact' })]).to.deep.equal([1, 0])
    expect(await by({ id: body.annotation.references.evaluator.id })).to.equal(1)
    // What names an evaluator uses it.
    expect((await service.call('DELETE', '/simple/evaluators/stars')).body.code).to.equal('in_use')
  })

  it('need the scope annotate or write, and to be read the scope read', async () => {
    const { traceId } = recorded(service)
    const annotating = await keyOf(['annotate'])
    const made = await say(traceId, {}, annotating)
    expect(made.status, made.text).to.equal(200)
    const { id } = made.body.annotation
    expect((await say(traceId, {}, await keyOf(['write']))).status).to.equal(200)
    for (const scopes of [['read'], ['invoke', 'deploy']])
      expect((await say(traceId, {}, await keyOf(scopes))).status).to.equal(403)
    expect((await service.get(`/annotations/${id}`, annotating)).status).to.equal(403)
    expect((await service.post('/annotations/query', {}, annotating)).status).to.equal(403)
    const reader = await keyOf(['read'])
    expect((await service.get(`/annotations/${id}`, reader)).status).to.equal(200)
    expect((await service.call('DELETE', `/annotations/${id}`, undefined, reader)).status).to.equal(403)
    const removed = await service.call('DELETE', `/annotations/${id}`, undefined, annotating)
    expect(removed.status, removed.text).to.equal(200)
    expect(removed.body.annotation).to.not.have.property('data')
  })

  it('are made once by a repeated request', async () => {
    const { traceId } = recorded(service)
    const once = { 'idempotency-key': 'thumb 1' }
    const [first, second] = [await say(traceId, {}, once), await say(traceId, {}, once)]
    expect(second.body).to.deep.equal(first.body)
    const { body } = await service.post('/annotations/query', { annotation: { trace_id: traceId } })
    expect(body.count).to.equal(1)
  })

  it('refuse what is not there, what is too long and what nobody reads', async () => {
    const span = recorded(service)
    expect(refused(await say(STRANGE))).to.equal('404 trace_not_found')
    expect(refused(await say(span.traceId, { span_id: 'e'.repeat(16) }))).to.equal('404 span_not_found')
    const outputs = { comment: 'x'.repeat(70_000) }
    expect(refused(await say(span.traceId, { data: { outputs } }))).to.equal('413 limit_exceeded')
    for (const more of [
      { data: {} },
      { data: { outputs: 'good' } },
      { nobody: 1 },
      { references: { application: { slug: 'x' } } },
    ])
      expect((await say(span.traceId, more)).status, JSON.stringify(more)).to.equal(422)
    for (const method of ['GET', 'DELETE'])
      expect(refused(await service.call(method, `/annotations/${STRANGE}`))).to.equal(
        '404 annotation_not_found',
      )
    expect(refused(await service.get(`/annotations/${span.traceId}`))).to.equal('404 annotation_not_found')
    const { body } = await say(span.traceId)
    expect(refused(await say(body.annotation.id))).to.equal('422 invalid_request')
    expect((await service.post('/traces/query', { annotated: {} })).status).to.equal(422)
    expect((await service.post('/spans/query', { annotated: { approved: true } })).status).to.equal(422)
  })

  // interface 18.8
  it('are seen with their trace by a key that is limited to folders', async () => {
    const create = async (slug: string, folder: string): Promise<string> => {
      const data = { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'Hi' } } }
      await service.post('/simple/applications/', { application: { slug, folder, data } })
      const references = { application: { slug } }
      return (await service.post('/services/invoke', { references })).body.trace_id
    }
    const [mine, theirs] = [await create('mine', 'support'), await create('theirs', 'sales')]
    const evaluator = { slug: 'sales-stars', folder: 'sales', data: { uri: 'svc:custom:feedback:v0' } }
    await service.post('/simple/evaluators/', { evaluator })
    const references = { evaluator: { slug: 'sales-stars' } }
    const comment = (text: string) => ({ data: { outputs: { approved: true, comment: text } } })
    const own = (await say(mine, comment('ours'))).body.annotation.id
    const foreign = (await say(theirs, comment('SECRET'))).body.annotation.id
    const judged = (await say(mine, { references, ...comment('SECRET') })).body.annotation.id
    const { token } = await createApiKey(nodeFs, service.storeDir, {
      ...{ project: 'default', name: 'limited', scopes: ['read', 'write'], folders: ['support/**'] },
    })
    const limited = { authorization: `ApiKey ${token}` }
    const asked = async (path: string, body: object): Promise<any> => {
      const reply = await service.post(path, body, limited)
      expect(reply.status, reply.text).to.equal(200)
      expect(reply.text).to.not.include('SECRET').and.not.include(theirs).and.not.include('sales')
      return reply.body
    }
    const ids = (body: any): string[] => body.annotations.map((it: any) => it.id)
    expect(ids(await asked('/annotations/query', {}))).to.deep.equal([own])
    expect(ids(await asked('/annotations/query', { windowing: { limit: 1 } }))).to.deep.equal([own])
    expect(
      (await service.post('/annotations/query', { annotation: { trace_id: theirs } }, limited)).body.count,
    ).to.equal(0)
    for (const id of [foreign, judged])
      for (const method of ['GET', 'DELETE'])
        expect(refused(await service.call(method, `/annotations/${id}`, undefined, limited))).to.equal(
          '404 annotation_not_found',
        )
    expect(refused(await say(theirs, {}, limited))).to.equal('404 trace_not_found')
    expect(refused(await say(mine, { references }, limited))).to.equal('404 artifact_not_found')
    const { traces } = await asked('/traces/query', { include_annotations: true })
    expect(traces.map((it: any) => it.trace_id)).to.deep.equal([mine])
    expect(ids(traces.find((it: any) => it.trace_id === mine))).to.deep.equal([own])
    const found = await asked('/traces/query', { annotated: { approved: true } })
    expect(found.traces.map((it: any) => it.trace_id)).to.deep.equal([mine])
    const page = await service.post('/annotations/query', { windowing: { limit: 2 } })
    expect(
      (await service.post('/annotations/query', { windowing: page.body.windowing }, limited)).status,
    ).to.equal(422)
  })
})

describe('annotations, in memory', () => {
  let service: RunningService
  before(async () => (service = await startService({ fs: memoryFs() })))
  after(() => service.stop())
  annotating(
    () => service,
    () => service,
  )
})

describe('annotations, of two servers over one PostgreSQL', function () {
  let postgres: PostgresServer
  let services: RunningService[] = []
  before(async function () {
    needsPostgres(this)
    postgres = await startPostgres()
    const url = await postgres.database()
    const server = (): Promise<RunningService> => {
      const folder = mkdtempSync(join(tmpdir(), 'branchpoint-annotations-'))
      return startService({ storeDir: folder, env: { STORE: url, CACHE_DIR: folder } })
    }
    services = [await server(), await server()]
  })
  after(async () => {
    for (const service of services) await service.stop()
    await postgres?.stop()
  })
  annotating(
    () => services[0]!,
    () => services[1]!,
  )
})

/** What holds wherever traces are: one server says it, and the other one knows it. */
function annotating(one: () => RunningService, other: () => RunningService): void {
  const say = async (traceId: string, outputs: object, more: object = {}): Promise<any> => {
    const annotation = { trace_id: traceId, data: { outputs }, ...more }
    const { status, text, body } = await one().post('/annotations/', { annotation })
    expect(status, text).to.equal(200)
    return body.annotation
  }
  const ask = async (path: string, body: object): Promise<any> => {
    const reply = await other().post(path, body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const idsOf = async (annotation: object, more: object = {}): Promise<string[]> =>
    (await ask('/annotations/query', { annotation, ...more })).annotations.map((it: any) => it.id)

  // interface 12.18
  it('are traces of their own, with a link to what they are about', async () => {
    const span = recorded(one())
    const outputs = { approved: false, comment: 'Too <b>long</b>', number: 1e300 }
    const made = await say(span.traceId, outputs, { span_id: span.spanId })
    expect(made).to.deep.include({ trace_id: span.traceId, span_id: span.spanId, data: { outputs } })
    expect(made.author).to.include({ id: 'key:admin', kind: 'key' })
    expect(made).to.not.have.property('retracted_at')
    const { body } = await other().get(`/annotations/${made.id}`)
    expect(body).to.deep.equal({ count: 1, annotation: made })
    const { traces: listed } = await ask('/traces/query', { include_annotations: true })
    expect(listed.map((it: any) => it.trace_id))
      .to.include(span.traceId)
      .and.not.include(made.id)
    const { traces: all } = await ask('/traces/query', {})
    expect(all.map((it: any) => it.trace_id)).to.include.members([span.traceId, made.id])
    const { trace } = (await other().get(`/traces/${made.id}`)).body
    expect(trace.spans.annotation).to.include({ trace_type: 'annotation', trace_id: made.id })
    expect(trace.spans.annotation.links).to.deep.equal([
      { trace_id: span.traceId, span_id: span.spanId, attributes: { key: 'invocation' } },
    ])
    expect(trace.spans.annotation.attributes.svc.data.outputs).to.deep.equal(outputs)
  })

  // interface 12.18
  it('are listed newest first, by trace and by values, a page at a time', async () => {
    const [a, b] = [recorded(one()).traceId, recorded(one()).traceId]
    const first = await say(a, { approved: true, list: 'this' })
    const second = await say(b, { approved: false, list: 'this' })
    const third = await say(a, { approved: false, comment: 'no', list: 'this' })
    const outputs = { list: 'this' }
    expect(await idsOf({ outputs })).to.deep.equal([third.id, second.id, first.id])
    expect(await idsOf({ trace_id: a })).to.deep.equal([third.id, first.id])
    expect(await idsOf({ trace_id: STRANGE })).to.deep.equal([])
    expect(await idsOf({ outputs: { approved: false, ...outputs } })).to.deep.equal([third.id, second.id])
    const page = await ask('/annotations/query', { annotation: { outputs }, windowing: { limit: 2 } })
    expect(page.annotations.map((it: any) => it.id)).to.deep.equal([third.id, second.id])
    const { windowing } = page
    const rest = await ask('/annotations/query', { annotation: { outputs }, windowing })
    expect(rest.annotations.map((it: any) => it.id)).to.deep.equal([first.id])
    expect(rest).to.not.have.property('windowing')
  })

  // interface 12.18, 12.19
  it('that are retracted are left out of lists, filters and columns, and GET answers them', async () => {
    const { traceId } = recorded(one())
    const kept = await say(traceId, { approved: true, of: traceId })
    const gone = await say(traceId, { approved: false, of: traceId })
    const annotated = { approved: true, of: traceId }
    const found = async (): Promise<any[]> =>
      (await ask('/traces/query', { annotated, include_annotations: true })).traces
    // The newest decides.
    expect(await found()).to.deep.equal([])
    const { status, text, body } = await other().call('DELETE', `/annotations/${gone.id}`)
    expect(status, text).to.equal(200)
    const { retracted_at: at, ...others } = body.annotation
    expect(others).to.deep.equal(gone)
    expect(Date.parse(at)).to.be.closeTo(Date.now(), 60_000)
    for (const server of [one(), other()])
      expect((await server.get(`/annotations/${gone.id}`)).body.annotation).to.deep.equal(body.annotation)
    // Once more changes nothing.
    expect((await one().call('DELETE', `/annotations/${gone.id}`)).body).to.deep.equal(body)
    expect(await idsOf({ trace_id: traceId })).to.deep.equal([kept.id])
    expect(await idsOf({ outputs: { of: traceId } })).to.deep.equal([kept.id])
    const [trace, ...more] = await found()
    expect([trace.trace_id, more]).to.deep.equal([traceId, []])
    expect(trace.annotations).to.deep.equal([kept])
  })

  // interface 12.19
  it('filter traces beside a filtering, and stand beside each trace', async () => {
    const name = `s${Math.random()}`
    const spans = Array.from({ length: 5 }, (_, at) => recorded(one(), { name, startTime: Date.now() + at }))
    const ids = spans.map((it) => it.traceId)
    await say(ids[1]!, { approved: true })
    await say(ids[3]!, { approved: true, comment: 'yes' })
    await say(ids[4]!, { approved: false })
    const filtering = { conditions: [{ field: 'span_name', value: name }] }
    const found = async (more: object): Promise<any> => ask('/traces/query', { filtering, ...more })
    const tracesOf = ({ traces }: any): string[] => traces.map((it: any) => it.trace_id)
    expect(tracesOf(await found({ annotated: { approved: true } }))).to.deep.equal([ids[3], ids[1]])
    expect(tracesOf(await found({ annotated: { approved: true, comment: 'yes' } }))).to.deep.equal([ids[3]])
    expect(tracesOf(await found({ annotated: { approved: 1 } }))).to.deep.equal([])
    expect(tracesOf(await found({ annotated: { nothing: 1 } }))).to.deep.equal([])
    const page = await found({ annotated: { approved: true }, windowing: { limit: 1 } })
    expect(tracesOf(page)).to.deep.equal([ids[3]])
    const next = await found({ annotated: { approved: true }, windowing: page.windowing })
    expect(tracesOf(next)).to.deep.equal([ids[1]])
    const all = await found({ include_annotations: true, heads_only: true })
    expect(
      all.traces.map((it: any) => it.annotations.map((one: any) => one.data.outputs.approved)),
    ).to.deep.equal([[false], [true], [], [true], []])
  })

  it('go with the trace that they are about', async () => {
    const { traceId } = recorded(one())
    const { id } = await say(traceId, { approved: true })
    const other = await say(traceId, { approved: false })
    expect((await one().call('DELETE', `/traces/${other.id}`)).status).to.equal(200)
    expect(await idsOf({ trace_id: traceId })).to.deep.equal([id])
    expect((await one().call('DELETE', `/traces/${traceId}`)).status).to.equal(200)
    for (const it of [id, other.id])
      expect(refused(await one().get(`/annotations/${it}`))).to.equal('404 annotation_not_found')
    expect(await idsOf({ trace_id: traceId })).to.deep.equal([])
    expect((await one().get(`/traces/${id}`)).status).to.equal(404)
  })
}

function recorded(service: RunningService, more: Parameters<typeof makeSpan>[0] = {}) {
  const span = makeSpan({ startTime: Date.now(), ...more })
  service.traces.record([span])
  return span
}

function refused({ status, body }: Reply): string {
  return `${status} ${body?.code}`
}
