import { existsSync, rmdirSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { startService } from '../../support/servers/service.ts'
import { makeSpan } from '../../support/values/make-span.ts'

describe('traces over HTTP: their file', () => {
  it('a file that cannot be opened: 503 for questions, a line in /ready, and everything else as ever', async () => {
    const own = await startService()
    await own.post('/workflows/query')
    const file = join(own.storeDir, 'default/traces.db')
    expect(existsSync(file)).to.equal(false)
    mkdirSync(file)
    own.traces.record([makeSpan()])
    expect((await own.post('/traces/query')).status).to.equal(503)
    const { status, body } = await own.get('/ready')
    expect(status).to.equal(200)
    expect(body.traces[0].reason).to.be.a('string')
    expect((await own.post('/workflows/query')).status).to.equal(200)
    rmdirSync(file)
    await own.stop()
  })

  it('a store in memory has none, and keeps its traces in memory', async () => {
    const own = await startService({ fs: memoryFs(), storeDir: '/in-memory' })
    own.traces.record([makeSpan()])
    expect((await own.post('/traces/query')).body).to.have.property('count', 1)
    expect(existsSync('/in-memory')).to.equal(false)
    await own.stop()
  })
})
