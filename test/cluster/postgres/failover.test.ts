import { expect } from 'chai'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSpan } from '../../support/values/make-span.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { type PostgresPair, startPair } from '../../support/postgres/postgres.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'

describe('postgres: a failover', function () {
  let pair: PostgresPair
  const services: RunningService[] = []

  beforeEach(async function () {
    needsPostgres(this)
    pair = await startPair()
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop()
    await pair?.stop()
  })

  const start = async (url: string, reads?: string): Promise<RunningService> => {
    const folder = mkdtempSync(join(tmpdir(), 'branchpoint-copy-'))
    const service = await startService({
      storeDir: folder,
      env: { STORE: url, CACHE_DIR: folder, ...(reads === undefined ? {} : { READS: reads }) },
    })
    services.push(service)
    return service
  }
  const create = async (service: RunningService): Promise<string> => {
    const workflow = { slug: 'bot', data: { parameters: { number: 1 } } }
    const reply = await service.post('/simple/workflows/', { workflow })
    expect(reply.status, reply.text).to.equal(200)
    return reply.body.workflow.variant_id
  }
  const commit = (service: RunningService, variant: string, number: number) =>
    service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, data: { parameters: { number } } },
    })
  const latest = async (service: RunningService): Promise<number> => {
    const reply = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    expect(reply.status, reply.text).to.equal(200)
    return reply.body.workflow_revision.version
  }

  it('to a standby that waits for nobody loses nothing that was acknowledged', async () => {
    const service = await start(pair.url('postgres'))
    const variant = await create(service)
    expect((await commit(service, variant, 2)).status).to.equal(200)
    await pair.primary.kill()
    await pair.promote()
    expect(await latest(service)).to.equal(2)
    const reply = await commit(service, variant, 3)
    expect(reply.status, reply.text).to.equal(200)
    expect(await latest(await start(pair.url('postgres')))).to.equal(3)
  })

  it('that a server does not notice is read stale with READS=primary, and never with READS=quorum', async () => {
    const plain = await start(pair.url('postgres'), 'primary')
    const quorum = await start(pair.url('postgres'), 'quorum')
    const variant = await create(plain)
    expect((await commit(quorum, variant, 2)).status).to.equal(200)
    // The primary lives, and knows nothing of it.
    await pair.promote()
    const other = await start(pair.standby.url('postgres'))
    const reply = await commit(other, variant, 3)
    expect(reply.status, reply.text).to.equal(200)
    expect(await latest(plain)).to.equal(2)
    expect(await latest(quorum)).to.equal(3)
  })

  it('loses no span: what was stored is there, and what was on its way is stored then', async () => {
    const service = await start(pair.url('postgres'))
    const spans = Array.from({ length: 3 }, () => makeSpan())
    const [before, meanwhile, after] = spans.map(({ traceId }) => traceId)
    service.traces.record(spans.slice(0, 1))
    expect(await service.traces.read([before ?? ''])).to.have.length(1)
    await pair.primary.kill()
    service.traces.record(spans.slice(1, 2))
    await pair.promote()
    expect(await service.traces.read([before ?? '', meanwhile ?? ''])).to.have.length(2)
    service.traces.record(spans.slice(2))
    await service.traces.stored()
    const other = await start(pair.standby.url('postgres'))
    for (const id of [before, meanwhile, after])
      expect((await other.get(`/traces/${id}`)).status).to.equal(200)
    expect(service.traces.state).to.include({ dropped: 0, waiting: 0 })
  })

  it('that a server does not notice keeps its spans until the primary of now has them', async () => {
    const service = await start(pair.url('postgres'))
    const [before, after] = [makeSpan(), makeSpan()]
    service.traces.record([before])
    await service.traces.stored()
    await pair.promote()
    service.traces.record([after])
    while (service.traces.state.waiting > 0) await service.traces.stored()
    const other = await start(pair.standby.url('postgres'))
    for (const { traceId } of [before, after])
      expect((await other.get(`/traces/${traceId}`)).status).to.equal(200)
    expect(service.traces.state.dropped).to.equal(0)
  })

  it('that loses a commit which nobody waited for has the folders forget it, before they answer', async () => {
    await pair.primary.halt()
    await pair.primary.again([])
    const service = await start(pair.url('postgres'))
    const variant = await create(service)
    expect((await commit(service, variant, 2)).status).to.equal(200)
    await pair.caughtUp()
    await pair.standby.halt()
    expect((await commit(service, variant, 3)).status).to.equal(200)
    expect(await latest(service)).to.equal(3)
    await pair.primary.kill()
    await pair.standby.again()
    await pair.promote()
    expect(await latest(service)).to.equal(2)
    const reply = await commit(service, variant, 30)
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.body.workflow_revision.version).to.equal(3)
  })
})
