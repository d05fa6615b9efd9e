import { expect } from 'chai'
import { type Reply, type RunningService, startService } from '../../support/servers/service.ts'

const PARAMETERS = {
  type: 'object',
  properties: { tone: { enum: ['calm', 'brisk'] }, limit: { type: 'integer', minimum: 1 } },
  required: ['tone'],
}

/** Looked through by a worker: a pattern is not sure to be quick. */
const PATTERN = { type: 'object', properties: { tone: { pattern: '^c(al)+m$' } } }

const OF_BUILT_IN = { uri: 'svc:builtin:auto_exact_match:v0' }

describe('commits: parameters that break their schema', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  let made = 0
  const create = (data: object): Promise<Reply> =>
    service.post('/simple/workflows/', { workflow: { slug: `held-${++made}`, data } })

  const violations = ({ status, body, text }: Reply): readonly string[] => {
    expect(status, text).to.equal(200)
    const warnings: readonly any[] = body.warnings ?? []
    return warnings.filter(({ code }) => code === 'schema_violation').map(({ message }) => message)
  }

  // interface 7.18
  it('are stored, and the answer says where, as inspect says it of the draft', async () => {
    const data = { uri: 'user:custom:mine:v0', parameters: { limit: 0 }, schemas: { parameters: PARAMETERS } }
    const first = await create(data)
    const { id, variant_id: variant } = first.body.workflow
    const commit = { workflow_variant_id: variant, message: 'again' }
    const replies = [
      first,
      await service.put(`/simple/workflows/${id}`, {
        workflow: { data: { ...data, parameters: { limit: 0, a: 1 } } },
      }),
      await service.post('/workflows/revisions/commit', { workflow_revision_commit: { ...commit, data } }),
      await service.post('/workflows/revisions/commit', {
        workflow_revision_commit: { ...commit, delta: { set: { parameters: { limit: 0 } } } },
      }),
    ]
    for (const reply of replies) {
      expect(violations(reply)).to.have.length(1)
      expect(reply.body.warnings[0].target).to.deep.equal(['parameters'])
      expect(reply.body.warnings[0].message).to.match(/^The parameters break their schema: .*tone/)
    }
    const draft = await service.post('/services/inspect', { data: { revision: { data } } })
    expect(draft.body.warnings.map(({ message }: any) => message)).to.deep.equal(violations(first))
    const repaired = { ...data, parameters: { tone: 'calm', limit: 1 } }
    expect(
      violations(
        await service.post('/workflows/revisions/commit', {
          workflow_revision_commit: { ...commit, data: repaired },
        }),
      ),
    ).to.deep.equal([])
  })

  it('are looked for in what an embed brings, and in a worker where a schema may take long', async () => {
    await create({ parameters: { tone: 'loud' } })
    const tone = `@{{workflow.slug=held-${made}, path=tone}}`
    const through = await create({ parameters: { tone }, schemas: { parameters: PARAMETERS } })
    expect(violations(through)[0]).to.contain('tone')
    const nothing = await create({
      parameters: { tone: '@{{workflow.slug=gone, path=tone}}' },
      schemas: { parameters: PARAMETERS },
    })
    expect(nothing.body.warnings.map(({ code }: any) => code)).to.deep.equal(['dangling_reference'])
    expect(
      violations(await create({ parameters: { tone: 'x' }, schemas: { parameters: PATTERN } })),
    ).to.have.length(1)
    expect(
      violations(await create({ parameters: { tone: 'calm' }, schemas: { parameters: PATTERN } })),
    ).to.deep.equal([])
  })

  it('of a built-in handler are held against the schema that it brings', async () => {
    const wrong = await create({ ...OF_BUILT_IN, parameters: { correct_answer_key: 5 } })
    expect(violations(wrong)[0]).to.contain('correct_answer_key')
    expect(
      violations(await create({ ...OF_BUILT_IN, parameters: { correct_answer_key: 'a' } })),
    ).to.deep.equal([])
    expect(violations(await create({ parameters: { anything: 1 } }))).to.deep.equal([])
  })

  it('are no way to learn what an embed holds for a key that may only write', async () => {
    const name = 'writes the schema'
    const { key } = (await service.post('/keys', { key: { name, scopes: ['write'] } })).body
    await create({ parameters: { tone: 'loud' } })
    const tone = `@{{workflow.slug=held-${made}, path=tone}}`
    const data = { parameters: { tone }, schemas: { parameters: PARAMETERS } }
    const body = { workflow: { slug: 'held-oracle', data } }
    const reply = await service.post('/simple/workflows/', body, { authorization: `ApiKey ${key.secret}` })
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.body).to.not.have.property('warnings')
  })

  it('are warned of again where a request is repeated under its key', async () => {
    const body = {
      workflow: { slug: 'held-again', data: { parameters: {}, schemas: { parameters: PARAMETERS } } },
    }
    const headers = { 'idempotency-key': 'held again' }
    const replies = [
      await service.post('/simple/workflows/', body, headers),
      await service.post('/simple/workflows/', body, headers),
    ]
    expect(replies[1]?.body).to.deep.equal(replies[0]?.body)
    expect(violations(replies[1] ?? expect.fail())).to.have.length(1)
  })
})
