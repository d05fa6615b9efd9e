import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { cloneOf, keyWith, remoteOf } from '../../support/git/git-client.ts'
import { create, REMOVABLES, remove } from '../../support/clients/removal-client.ts'

describe('removal is refused', () => {
  let service: RunningService

  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  // interface 4.32
  it('of what is or was deployed, embedded, traced, evaluated, watched, or forked, and says by what', async () => {
    const [workflows, testsets] = REMOVABLES
    if (!workflows || !testsets) throw new Error('there are families')
    const application = async (slug: string, data: object = { parameters: { v: 1 } }) =>
      (await service.post('/simple/applications/', { application: { slug, data } })).body.application
    const usersOf = async (id: string, path = 'workflows'): Promise<string[]> => {
      const reply = await remove(service, { path }, id)
      expect(reply.status, reply.text).to.equal(409)
      expect(reply.body.code).to.equal('in_use')
      return reply.body.users.map((it: any) => it.kind)
    }
    // deployed, and undeployed since
    const deployed = await application('deployed')
    const deploy = await service.post('/applications/revisions/deploy', {
      application_revision_ref: { id: deployed.revision_id },
      environment_ref: { slug: 'staging' },
    })
    expect(deploy.status, deploy.text).to.equal(200)
    expect(await usersOf(deployed.id)).to.deep.equal(['deployment'])
    const staging = (
      await service.post('/environments/revisions/retrieve', { environment_ref: { slug: 'staging' } })
    ).body
    const { environment_variant_id: variant, environment_id: stagingId } = staging.environment_revision
    const undeployed = await service.post('/environments/revisions/commit', {
      environment_revision_commit: {
        environment_variant_id: variant,
        delta: { remove: ['deployed.revision'] },
      },
    })
    expect(undeployed.status, undeployed.text).to.equal(200)
    expect(await usersOf(deployed.id)).to.deep.equal(['deployment'])
    expect(await usersOf(stagingId, 'environments')).to.deep.equal(['deployment'])
    // embedded
    const tone = await create(service, workflows, 'tone')
    await create(
      service,
      { ...workflows, data: { parameters: { text: '@{{workflow.slug=tone, path=n}}' } } },
      'speaker',
    )
    expect(await usersOf(tone.id)).to.deep.equal(['embed'])
    // traced, and evaluated
    const script = 'export function evaluate() { return "x" }'
    const code = { uri: 'svc:custom:code:v0', runtime: 'javascript', script, parameters: { version: '3' } }
    const traced = await application('traced', code)
    expect(
      (
        await service.post('/services/invoke', {
          references: { application: { slug: 'traced' } },
          data: { inputs: {} },
        })
      ).status,
    ).to.equal(200)
    expect(await usersOf(traced.id)).to.deep.equal(['trace'])
    const rows = await create(service, testsets, 'rows')
    const run = await service.post('/evaluations/run', {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'traced' },
      evaluator_refs: [
        {
          id: (
            await service.post('/simple/evaluators/', {
              evaluator: {
                slug: 'judge',
                template: 'auto_exact_match',
                data: { parameters: { correct_answer_key: 'q' } },
              },
            })
          ).body.evaluator.id,
        },
      ],
      wait: true,
    })
    expect(run.status, run.text).to.equal(200)
    expect(await usersOf(rows.id, 'testsets')).to.include('evaluation')
    // watched
    const watched = await create(service, workflows, 'watched')
    const webhook = {
      url: 'https://hooks.example.org/x',
      events: [],
      filters: { artifacts: [{ slug: 'watched' }] },
    }
    expect((await service.post('/webhooks/', { webhook })).status).to.equal(200)
    expect(await usersOf(watched.id)).to.deep.equal(['webhook'])
    // forked: another artifact went on from its history
    const origin = await create(service, workflows, 'origin')
    await create(service, workflows, 'offspring')
    const clone = await cloneOf(service, 'origin')
    await clone.git('push', '-q', remoteOf(service, 'offspring'), 'HEAD:refs/heads/from-origin')
    expect(await usersOf(origin.id)).to.deep.equal(['fork'])
    for (const id of [deployed.id, tone.id, traced.id, watched.id, origin.id])
      expect((await service.get(`/simple/workflows/${id}`)).status).to.equal(200)
  })

  it('without the scope write, or deploy where an environment is guarded, and shows no users to a key without read', async () => {
    const [workflows, , , environments] = REMOVABLES
    if (!workflows || !environments) throw new Error('there are families')
    const as = async (...scopes: Parameters<typeof keyWith>[1][]) => ({
      authorization: `ApiKey ${await keyWith(service, ...(scopes as [never]))}`,
    })
    const made = await create(service, workflows, 'scoped')
    const remover = (path: string, headers: Record<string, string>) =>
      service.call('DELETE', path, undefined, headers)
    expect((await remover(`/simple/workflows/${made.id}`, await as('read'))).status).to.equal(403)
    const guarded = await create(service, environments, 'fenced')
    await service.post(`/simple/environments/${guarded.id}/guard`)
    const refused = await remover(`/simple/environments/${guarded.id}`, await as('read', 'write'))
    expect(refused.body).to.include({ status: 403, code: 'guarded' })
    const deployer = await as('read', 'write', 'deploy')
    expect((await remover(`/simple/environments/${guarded.id}`, deployer)).status).to.equal(200)
    const back = `/simple/environments/${guarded.id}/undelete`
    expect((await service.post(back, {}, await as('read', 'write'))).body.code).to.equal('guarded')
    expect((await service.post(back, {}, deployer)).status).to.equal(200)

    await create(
      service,
      { ...workflows, data: { parameters: { t: '@{{workflow.slug=scoped}}' } } },
      'embeds-scoped',
    )
    const blind = await remover(`/simple/workflows/${made.id}`, await as('write'))
    expect(blind.body.users).to.deep.equal([{ kind: 'embed' }])
    const lonely = await create(service, workflows, 'lonely')
    const withheld = await remover(`/simple/workflows/${lonely.id}`, await as('write'))
    expect(withheld.status).to.equal(200)
    expect(Object.keys(withheld.body.workflow)).to.include.members(['id', 'slug', 'trashed_at'])
    expect(withheld.body.workflow).to.not.have.property('data')
    expect(
      (await service.call('DELETE', `/trash/${lonely.id}`, undefined, await as('write'))).status,
    ).to.equal(403)
    const purged = await service.call('DELETE', `/trash/${lonely.id}`)
    expect(purged.body.trash).to.include({ id: lonely.id, slug: 'lonely' })
    expect((await service.call('DELETE', `/trash/${lonely.id}`)).status).to.equal(404)
    await create(service, workflows, 'lonely')
  })
})
