import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'

describe('http: a revision that was invoked before', () => {
  let service: RunningService
  let url: string
  before(async () => {
    service = await startService()
    const evaluator = { slug: 'exact', data: { uri: 'svc:builtin:auto_exact_match:v0' } }
    const { body } = await service.post('/simple/evaluators/', { evaluator })
    url = `${new URL(body.evaluator.data.url).pathname}/invoke`
  })
  after(() => service.stop())

  const invoke = (headers?: Record<string, string>) =>
    service.post(url, { data: { inputs: { correct_answer: 'Paris' }, outputs: 'Paris' } }, headers)

  it('runs again, also after something else has changed', async () => {
    for (const slug of ['first', 'second']) {
      expect((await invoke()).body.data).to.deep.equal({ outputs: { success: true } })
      expect((await invoke()).body.data).to.deep.equal({ outputs: { success: true } })
      await service.post('/simple/applications/', { application: { slug } })
    }
  })

  // interface 1.15
  it('is not there for the key of another project', async () => {
    const wanted = { project: 'other', name: 'other', scopes: ['invoke'] } as const
    const { token } = await createApiKey(nodeFs, service.storeDir, wanted)
    expect((await invoke()).status).to.equal(200)
    const { status, body } = await invoke({ authorization: `ApiKey ${token}` })
    expect([status, body.code]).to.deep.equal([404, 'revision_not_found'])
  })

  it('is gone when its repository is', async () => {
    expect((await invoke()).status).to.equal(200)
    rmSync(join(service.storeDir, 'default', 'workflows', 'exact.git'), { recursive: true })
    const { status, body } = await invoke()
    expect([status, body.code]).to.deep.equal([404, 'revision_not_found'])
  })
})
