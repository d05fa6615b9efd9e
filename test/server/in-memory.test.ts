import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cloneOf } from '../support/git/git-client.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

/** The folders in which the git program looks at repositories. */
const copies = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('branchpoint-copy-'))

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
  })

  // interface 12.8
  it('keeps the trace of every run, and finds it by filter, by id and for what it ran', async () => {
    const failed = await service.post('/services/invoke', {
      references: { workflow: { slug: 'bot' } },
      data: { inputs: {}, parameters: { key: 'nobody' } },
    })
    expect(failed.status).to.not.equal(200)
    const { body } = await service.post('/traces/query')
    expect(body.count).to.equal(2)
    const [newest, first] = body.traces.map(({ trace_id }: { trace_id: string }) => trace_id)
    expect(newest).to.equal(failed.body.trace_id)
    expect((await service.get(`/traces/${first}`)).status).to.equal(200)
    const errors = { field: 'status_code', operator: 'eq', value: 'STATUS_CODE_ERROR' }
    const found = await service.post('/traces/query', { filtering: { conditions: [errors] } })
    expect(found.body.traces.map(({ trace_id }: { trace_id: string }) => trace_id)).to.deep.equal([newest])
    const used = await service.call('DELETE', '/simple/workflows/bot')
    expect(used.body.users.map(({ kind }: { kind: string }) => kind)).to.include('trace')
    expect((await service.call('DELETE', `/traces/${first}`)).status).to.equal(200)
    expect((await service.post('/traces/query')).body.count).to.equal(1)
  })

  it('takes a query whose pattern never ends, and keeps its traces', async () => {
    const slow = await startService({ storeDir: ':memory:', env: { TRACES_QUERY_TIMEOUT_MS: '300' } })
    try {
      const data = {
        uri: 'svc:custom:mock:v0',
        parameters: { key: 'static', kwargs: { output: `${'a'.repeat(60)}!` } },
      }
      await slow.post('/simple/workflows/', { workflow: { slug: 'bot', data } })
      await slow.post('/services/invoke', { references: { workflow: { slug: 'bot' } }, data: { inputs: {} } })
      const endless = { field: 'attributes', key: 'svc.data.outputs', operator: 'matches', value: '(a+)+b' }
      const refused = await slow.post('/traces/query', { filtering: { conditions: [endless] } })
      expect(refused.body.code).to.equal('query_too_slow')
      expect((await slow.post('/traces/query')).body.count).to.equal(1)
    } finally {
      await slow.stop()
    }
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

  it('is cloned, fetched from and pushed to by git, whatever the size of a push', async () => {
    const before = copies()
    const clone = await cloneOf(service, 'bot')
    expect(await clone.git('log', '--format=%s')).to.equal('Next\nFirst revision')
    const data = JSON.parse(readFileSync(join(clone.folder, 'data.json'), 'utf8'))
    data.parameters.kwargs.output = 'Lima'
    clone.write('data.json', `${JSON.stringify(data, undefined, 2)}\n`)
    for (let file = 0; file < 250; file++) clone.write(`notes/${file}.md`, `Note ${file}\n`)
    await clone.commit('Say Lima')
    await clone.git('push', '-q')
    await clone.git('push', '-q', 'origin', 'HEAD:refs/heads/bolder')
    const head = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    expect(head.body.workflow_revision).to.deep.include({ version: 3, message: 'Say Lima' })
    expect(head.body.workflow_revision.data.parameters.kwargs.output).to.equal('Lima')
    const made = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { message: 'By REST', delta: { set: { parameters: { key: 'echo' } } } },
      workflow_variant_ref: { slug: 'bot' },
    })
    expect(made.status, made.text).to.equal(200)
    await clone.git('pull', '-q')
    expect(await clone.git('log', '-1', '--format=%s')).to.equal('By REST')
    expect((await clone.try('push', 'origin', 'HEAD~1:bot')).terminal).to.match(/rejected/)
    await clone.git('fsck', '--strict')
    expect(copies()).to.deep.equal(before)
  })

  it('refuses to restore a bundle, and says what to do', async () => {
    const refused = await service.call(
      'PUT',
      '/git/workflows/restored.git?head=refs/heads/restored',
      'a bundle',
    )
    expect(refused.status).to.equal(503)
    expect(refused.body).to.include({ code: 'storage_unavailable' })
    expect(refused.body.detail).to.match(/in memory.*Push to a new artifact/)
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
