import { expect } from 'chai'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'
import { type CountingHook, startCountingHook } from '../../support/servers/counting-hook.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'

const ORDER = { testset_ref: { slug: 'numbers' }, application_ref: { slug: 'doubler' }, concurrency: 1 }

describe('http: how many evaluations run at once', () => {
  let service: RunningService
  let hook: CountingHook
  let hasRoom = true
  const run = (more: object = {}): Promise<Reply> =>
    service.post('/evaluations/run', { ...ORDER, wait: false, ...more })
  const idOf = ({ body, text }: Reply): string => body.evaluation?.id ?? expect.fail(text)
  const count = async (): Promise<number> => (await service.post('/evaluations/query')).body.count

  before(async () => {
    hook = await startCountingHook()
    service = await startService({
      env: { EVALUATIONS_AT_ONCE: '2', HOOK_ALLOW_PRIVATE: 'true' },
      fs: { ...nodeFs, createSynced: createWhereThereIsRoom },
    })
    const client = new EvaluationClient(service)
    await client.testset(
      'numbers',
      Array.from({ length: 20 }, (_, n) => ({ n })),
    )
    await client.workflow('doubler', { uri: 'svc:custom:hook:v0', url: hook.url })
  })
  beforeEach(() => (hook.delay = 50))
  after(async () => {
    await service.stop()
    await hook.close()
  })

  async function createWhereThereIsRoom(path: string, bytes: Uint8Array): Promise<void> {
    if (hasRoom || !path.includes('/evaluations/')) return nodeFs.createSynced(path, bytes)
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'open' })
  }

  function expectRefused({ status, headers, body }: Reply): void {
    expect([status, headers.get('retry-after'), body.code]).to.deep.equal([503, '1', 'overloaded'])
    expect(body.detail).to.contain('2 evaluations').and.contain('EVALUATIONS_AT_ONCE')
  }

  it('is bounded: one more is refused and leaves nothing; a place is free once one has ended or was stopped', async () => {
    const [first, second] = [idOf(await run()), idOf(await run())]
    const before = await count()
    expectRefused(await run())
    expectRefused(await run({ wait: true }))
    expect(await count()).to.equal(before)
    expect((await service.get('/metrics')).text).to.match(/^branchpoint_evaluations_running 2$/m)

    await service.post(`/evaluations/${first}/stop`)
    const third = idOf(await run())
    expectRefused(await service.post(`/evaluations/${first}/resume`))
    hook.delay = 0
    const followed = [second, third].map((id) => service.post(`/evaluations/${id}/resume`))
    for (const { body } of await Promise.all(followed))
      expect(body.evaluation).to.include({ state: 'finished' })
    const { body } = await service.post(`/evaluations/${first}/resume`)
    expect(body.evaluation).to.include({ state: 'finished' })
    expect((await service.get('/metrics')).text).to.match(/^branchpoint_evaluations_running 0$/m)
  })

  it('does not count one that could not begin', async () => {
    hasRoom = false
    for (let tries = 0; tries < 3; tries++) expect((await run()).body.code).to.equal('storage_unavailable')
    hasRoom = true
    hook.delay = 0
    expect((await run({ wait: true })).body.evaluation).to.include({ state: 'finished' })
  })

  it('refuses a request with an Idempotency-Key so that it may be sent again', async () => {
    const held = [idOf(await run()), idOf(await run())]
    const key = { 'idempotency-key': 'again' }
    const order = { ...ORDER, wait: false }
    expectRefused(await service.post('/evaluations/run', order, key))
    for (const id of held) await service.post(`/evaluations/${id}/stop`)
    const id = idOf(await service.post('/evaluations/run', order, key))
    expect(idOf(await service.post('/evaluations/run', order, key))).to.equal(id)
  })
})
