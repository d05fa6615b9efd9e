import { expect } from 'chai'
import { existsSync } from 'node:fs'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

const inMemory = (): Promise<RunningService> => startService({ storeDir: ':memory:' })

describe('server: STORE_DIR=:memory:', () => {
  let service: RunningService
  before(async () => (service = await inMemory()))
  after(() => service.stop())

  it('creates, commits, retrieves, deploys and invokes', async () => {
    const data = { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'Suva' } } }
    const made = await service.post('/simple/workflows/', { workflow: { slug: 'bot', data } })
    expect(made.status, made.text).to.equal(200)
    const committed = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: {
        workflow_variant_id: made.body.workflow.variant_id,
        message: 'Next',
        data: { ...data, parameters: { key: 'static', kwargs: { output: 'Oslo' } } },
        deploy: ['production'],
      },
    })
    expect(committed.status, committed.text).to.equal(200)
    const deployed = await service.post('/workflows/revisions/retrieve', {
      environment_ref: { slug: 'production' },
      key: 'bot.revision',
    })
    expect(deployed.body.workflow_revision.version, deployed.text).to.equal(2)
    const invoked = await service.post('/services/invoke', {
      references: { workflow: { slug: 'bot' } },
      data: { inputs: {} },
    })
    expect(invoked.text).to.include('Oslo')
    const traces = await service.post('/traces/query')
    expect(traces.body).to.deep.equal({ count: 0, traces: [] })
  })

  it('takes a testset as a file, and gives it back', async () => {
    const form = new FormData()
    form.set('file', new File(['country,capital\nFiji,Suva\n'], 'capitals.csv'))
    form.set('file_type', 'csv')
    form.set('testset_slug', 'capitals')
    const uploaded = await service.call('POST', '/simple/testsets/upload', form)
    expect(uploaded.status, uploaded.text).to.equal(200)
    const { id } = uploaded.body.testset
    const file = await service.call('POST', `/simple/testsets/${id}/download?file_type=csv`)
    expect(file.text).to.include('Suva')
  })

  it('refuses clone, fetch and push with a sentence that says what to do', async () => {
    for (const program of ['git-upload-pack', 'git-receive-pack']) {
      const refused = await service.get(`/git/workflows/bot.git/info/refs?service=${program}`)
      expect(refused.status).to.equal(503)
      expect(refused.text).to.match(/keeps its store in memory.*Use the REST interface, or start the server/)
    }
  })

  it('leaves nothing on the disk, and nothing to the next one', async () => {
    expect(existsSync(':memory:') || existsSync('/memory')).to.equal(false)
    const next = await inMemory()
    try {
      const { status } = await next.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
      expect(status).to.equal(404)
    } finally {
      await next.stop()
    }
  })
})
