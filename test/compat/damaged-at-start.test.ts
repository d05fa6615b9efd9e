import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { startService } from '../support/servers/service.ts'

describe('a server that starts over a damaged repository', () => {
  it('refuses by name what nobody wrote to yet, rather than call it absent', async () => {
    let service = await startService()
    await service.post('/simple/workflows/', { workflow: { slug: 'bot', data: { parameters: {} } } })
    await service.stop({ keepStore: true })
    const packs = join(service.repository('staging', 'environments'), 'objects', 'pack')
    for (const name of readdirSync(packs).filter((it) => it.endsWith('.pack')))
      writeFileSync(join(packs, name), '')
    // Else a start that finds the row of it settled by now does not look into the pack.
    for (const name of ['index.db', 'index.db-wal', 'index.db-shm'])
      rmSync(join(service.storeDir, 'default', name), { force: true })
    service = await startService({ storeDir: service.storeDir })
    try {
      const deploy = (environment: string) =>
        service.post('/workflows/revisions/deploy', {
          workflow_ref: { slug: 'bot' },
          environment_ref: { slug: environment },
        })
      const refused = await deploy('staging')
      expect([refused.status, refused.body.code]).to.deep.equal([503, 'damaged_repository'])
      expect(refused.body.detail).to.contain('staging.git')
      expect((await deploy('production')).status).to.equal(200)
    } finally {
      await service.stop()
    }
  })
})
