import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'
import { postEverywhere } from './post-everywhere.ts'

/** Every request that the interface writes out for workflows, sent as it stands there (testsets: interface-testsets). */
describe('interface', () => {
  let service: RunningService

  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const everywhere = (path: string, body: object) => postEverywhere(service, path, body)

  const prompt = {
    messages: [
      { role: 'system', content: 'You answer tickets in the language they came in.' },
      { role: 'user', content: 'Ticket: {{ticket}}' },
    ],
    llm_config: { model: 'gpt-4o-mini', temperature: 0.2, max_tokens: 512, top_p: 0.9 },
    template_format: 'curly',
  }

  interface Story {
    readonly workflow: { readonly id: string; readonly slug: string }
    readonly variant: { readonly id: string; readonly slug: string }
    readonly revision: { readonly id: string; readonly slug: string }
  }
  let stories = 0

  /** A workflow, a variant and a revision, made by the requests of 4.1. */
  const tell = async (): Promise<Story> => {
    const slug = `support-${++stories}`
    const created = await service.post('/workflows/', {
      workflow: { slug, name: 'Support', description: 'Answers tickets' },
    })
    const { workflow } = created.body
    const made = await service.post('/workflows/variants/', {
      workflow_variant: { workflow_id: workflow.id, slug: `${slug}-main`, name: 'Main' },
    })
    const variant = made.body.workflow_variant
    const committed = await service.post('/workflows/revisions/commit', {
      workflow_revision: {
        workflow_variant_id: variant.id,
        message: 'First',
        data: { parameters: { prompt } },
      },
    })
    expect(committed.status, committed.text).to.equal(200)
    return { workflow, variant, revision: committed.body.workflow_revision }
  }

  describe('4.1 workflows', () => {
    it('POST /workflows/ answers the created artifact', async () => {
      const workflow = { slug: 'w1', name: 'Workflow', description: 'What it does' }
      for (const [n, path] of ['/workflows/', '/workflows', '/api/workflows/', '/api/workflows'].entries()) {
        const { body } = await service.post(path, { workflow: { ...workflow, slug: `w${n}` } })
        expect(body.count).to.equal(1)
        expect(body.workflow).to.include({ ...workflow, slug: `w${n}` })
        expect(body.workflow).to.not.have.property('deleted_at')
      }
    })

    it('POST /workflows/variants/ answers the created variant', async () => {
      const { workflow } = await tell()
      const body = { workflow_variant: { workflow_id: workflow.id, slug: 'second', name: 'Second' } }
      const reply = await service.post('/workflows/variants/', body)
      expect(reply.body.workflow_variant).to.include({ ...body.workflow_variant, artifact_id: workflow.id })
    })

    for (const wrapper of ['workflow_revision', 'workflow_revision_commit']) {
      it(`POST /workflows/revisions/commit {${wrapper}} answers id, version, author, date, data`, async () => {
        const { variant } = await tell()
        const data = { parameters: { prompt } }
        const body = { [wrapper]: { workflow_variant_id: variant.id, message: 'Cooler', data } }
        const { status, body: answer } = await service.post('/workflows/revisions/commit', body)
        expect(status).to.equal(200)
        const { id, version, author, date, message, ...rest } = answer.workflow_revision
        expect(id).to.match(/^[0-9a-f-]{36}$/)
        expect([version, message]).to.deep.equal([2, 'Cooler'])
        expect(author).to.match(/^\S.* <\S+@\S+>$/)
        expect(date).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
        expect(rest.data).to.deep.equal(data)
        expect(rest).to.include({ variant_id: variant.id, workflow_variant_id: variant.id })
      })
    }

    it('POST /workflows/revisions/retrieve by a variant’s slug answers its latest', async () => {
      const { variant, revision } = await tell()
      const reply = await everywhere('/workflows/revisions/retrieve', {
        workflow_variant_ref: { slug: variant.slug },
      })
      expect(reply.body.workflow_revision).to.deep.equal(revision)
    })

    it('POST /workflows/query {} lists workflows, archived ones only with include_archived', async () => {
      const [shown, hidden] = [await tell(), await tell()]
      await service.post(`/workflows/${hidden.workflow.id}/archive`, undefined)
      const ids = async (body: object): Promise<string[]> => {
        const reply = await everywhere('/workflows/query', body)
        expect(reply.body.count).to.equal(reply.body.workflows.length)
        return reply.body.workflows.map(({ id }: { id: string }) => id)
      }
      expect(await ids({}))
        .to.include(shown.workflow.id)
        .and.to.not.include(hidden.workflow.id)
      expect(await ids({ include_archived: true })).to.include.members([
        shown.workflow.id,
        hidden.workflow.id,
      ])
    })

    const levels = [
      ['/workflows', 'workflow', (story: Story) => story.workflow.id],
      ['/workflows/variants', 'workflow_variant', (story: Story) => story.variant.id],
      ['/workflows/revisions', 'workflow_revision', (story: Story) => story.revision.id],
    ] as const
    for (const [path, key, idOf] of levels) {
      it(`POST ${path}/{id}/archive and /unarchive set and clear deleted_at`, async () => {
        const id = idOf(await tell())
        const archived = await everywhere(`${path}/${id}/archive`, {})
        expect(archived.body[key].deleted_at).to.match(/Z$/)
        const restored = await everywhere(`${path}/${id}/unarchive`, {})
        expect(restored.body[key]).to.include({ id }).and.to.not.have.property('deleted_at')
      })
    }
  })

  it('POST /simple/workflows/query {} merges artifact, variant and latest revision', async () => {
    const data = { uri: 'svc:builtin:completion:v0', parameters: { prompt } }
    const { body } = await service.post('/simple/workflows/', {
      workflow: { slug: 'flat', name: 'Flat', data },
    })
    const reply = await everywhere('/simple/workflows/query', {})
    expect(reply.body.count).to.equal(reply.body.workflows.length)
    const row = reply.body.workflows.find(({ id }: { id: string }) => id === body.workflow.id)
    expect(row).to.include({ slug: 'flat', name: 'Flat' })
    expect(row).to.include.keys('variant_id', 'revision_id')
    expect(row.data).to.include({ uri: data.uri })
    expect(row.data.url).to.equal(`${service.url}/services/completion/v0/${row.revision_id}`)
    expect(row.data.schemas).to.include.keys('parameters', 'outputs')
  })

  describe('4.5 applications', () => {
    // interface 7.9
    it('POST /applications/revisions/commit takes a prompt and gives it back', async () => {
      const { variant } = await tell()
      const reply = await service.post('/applications/revisions/commit', {
        application_revision_commit: {
          application_variant_id: variant.id,
          message: 'A prompt',
          data: { parameters: { prompt } },
        },
      })
      expect(reply.status, reply.text).to.equal(200)
      const revision = reply.body.application_revision
      expect(revision).to.include({ version: 2, message: 'A prompt', application_variant_id: variant.id })
      expect(revision.data).to.deep.equal({ parameters: { prompt } })
      expect(revision).to.include.keys('id', 'author', 'date')
    })

    it('POST /applications/revisions/retrieve by application_revision_ref', async () => {
      const { variant, revision } = await tell()
      for (const ref of [
        { id: revision.id },
        { slug: revision.slug },
        { slug: variant.slug, version: 1 },
        { slug: variant.slug, version: '1' },
      ]) {
        const reply = await everywhere('/applications/revisions/retrieve', { application_revision_ref: ref })
        expect(reply.body.application_revision.id).to.equal(revision.id)
      }
    })

    it('POST /applications/revisions/retrieve by application_variant_ref', async () => {
      const { variant, revision } = await tell()
      for (const ref of [{ id: variant.id }, { slug: variant.slug }]) {
        const reply = await everywhere('/applications/revisions/retrieve', { application_variant_ref: ref })
        expect(reply.body.application_revision.id).to.equal(revision.id)
      }
    })

    // interface 9.3
    it('POST /applications/revisions/retrieve by environment_ref: the revision deployed there; it is as it was', async () => {
      const { workflow, variant, revision } = await tell()
      await service.post('/environments', { environment: { slug: 'canary' } })
      const deployed = { application_revision_ref: { id: revision.id }, environment_ref: { slug: 'canary' } }
      await service.post('/applications/revisions/deploy', deployed)
      await everywhere('/applications/revisions/deploy', deployed) // where it is already nothing changes
      const body = { workflow_variant_id: variant.id, message: 'Second', data: { parameters: {} } }
      await service.post('/workflows/revisions/commit', { workflow_revision_commit: body })
      const ref = { environment_ref: { slug: 'canary' } }
      const named = { ...ref, application_ref: { id: workflow.id } }
      const reply = await everywhere('/applications/revisions/retrieve', named)
      expect(reply.body.application_revision.id).to.equal(revision.id)
      const alone = await everywhere('/workflows/revisions/retrieve', ref)
      expect(alone.body.workflow_revision).to.deep.equal(revision)
    })

    it('POST /applications/revisions/retrieve by an environment_ref that is not there', async () => {
      const ref = { environment_ref: { slug: 'no-such-environment' } }
      const reply = await service.post('/applications/revisions/retrieve', ref)
      expect([reply.status, reply.body.code]).to.deep.equal([404, 'environment_not_found'])
      expect(reply.body.detail).to.include('no-such-environment')
    })

    // interface 5.3
    it('of several references the most specific wins', async () => {
      const [one, two] = [await tell(), await tell()]
      const reply = await service.post('/applications/revisions/retrieve', {
        application_revision_ref: { id: one.revision.id },
        application_variant_ref: { id: two.variant.id },
        environment_ref: { slug: 'production' },
      })
      expect(reply.body.application_revision.id).to.equal(one.revision.id)
      const variantWins = await service.post('/applications/revisions/retrieve', {
        application_variant_ref: { id: two.variant.id },
        environment_ref: { slug: 'production' },
      })
      expect(variantWins.body.application_revision.id).to.equal(two.revision.id)
    })

    it('POST /applications/revisions/log answers the variant’s revisions in order, without payloads', async () => {
      const { variant, revision } = await tell()
      const body = { workflow_variant_id: variant.id, message: 'Second', data: { parameters: {} } }
      await service.post('/workflows/revisions/commit', { workflow_revision_commit: body })
      const reply = await everywhere('/applications/revisions/log', {
        application: { application_variant_id: variant.id },
      })
      const rows = reply.body.application_revisions
      expect(reply.body.count).to.equal(2)
      expect(rows.map(({ version }: { version: number }) => version)).to.deep.equal([2, 1])
      expect(rows[1]).to.include({ id: revision.id, message: 'First' })
      for (const row of rows) expect(row).to.include.keys('author', 'date').and.to.not.have.property('data')
    })

    it('POST /variants/fork makes a variant from an existing revision', async () => {
      const { variant, revision } = await tell()
      const reply = await service.post('/variants/fork', {
        application_variant: { slug: 'forked', name: 'Forked' },
        application_variant_ref: { id: variant.id },
        application_revision_ref: { id: revision.id },
      })
      expect(reply.status, reply.text).to.equal(200)
      const latest = await service.post('/workflows/revisions/retrieve', {
        workflow_variant_ref: { slug: 'forked' },
      })
      expect(latest.body.workflow_revision.id).to.equal(revision.id)
    })
  })

  it('/workflows/{id} and /applications/{id} return the same record in their envelopes', async () => {
    const { workflow } = await tell()
    const asWorkflow = await service.get(`/workflows/${workflow.id}`)
    const asApplication = await service.get(`/applications/${workflow.id}`)
    expect(asWorkflow.body).to.deep.equal({ count: 1, workflow })
    expect(asApplication.body).to.deep.equal({ count: 1, application: workflow })
  })

  it('the key comes in the Authorization header with the scheme ApiKey', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${service.url}/workflows/query`, {
        method: 'POST',
        body: '{}',
        headers: { 'Content-Type': 'application/json', ...headers },
      })
    expect((await ask({ Authorization: `ApiKey ${ADMIN_KEY}` })).status).to.equal(200)
    expect((await ask({})).status).to.equal(401)
    expect((await ask({ Authorization: 'ApiKey another' })).status).to.equal(401)
    expect((await ask({ Authorization: `Digest ${ADMIN_KEY}` })).status).to.equal(401)
  })

  it('revisions cannot be edited', async () => {
    const { revision } = await tell()
    const body = { workflow_revision: { id: revision.id, message: 'Changed' } }
    const reply = await service.put(`/workflows/revisions/${revision.id}`, body)
    expect([reply.status, reply.body.code]).to.deep.equal([405, 'method_not_allowed'])
  })
})
