import { expect } from 'chai'
import type { WebhookClient } from '../../support/clients/webhook-client.ts'
import { startWebhooks } from '../../support/clients/webhook-client.ts'

describe('webhooks: filters', () => {
  let client: WebhookClient
  before(async () => (client = await startWebhooks()))
  after(() => client.stop())

  /** What came to each of the webhooks, as `type subject`. */
  const cameTo = (path: string) =>
    client.receiver.received
      .filter(({ url }) => url === path)
      .map(({ body }) => {
        const { workflow, testset, environment } = body.data.references
        return `${body.type} ${(workflow ?? testset ?? environment).slug}`
      })

  it('by family, artifact, environment and event; all that are there must fit', async () => {
    const wanted = await client.workflow('wanted')
    const base = client.receiver.url.replace('/hook', '')
    const filters: Record<string, object> = {
      '/family': { filters: { families: ['testsets'] } },
      '/id': { filters: { artifacts: [{ id: wanted.id }] } },
      '/slug': { filters: { artifacts: [{ slug: 'nothing' }, { slug: 'wanted' }] } },
      '/environment': {
        filters: { environments: [{ slug: 'production' }] },
        events: ['environment.deployed'],
      },
      '/both': { filters: { environments: [{ slug: 'production' }], artifacts: [{ slug: 'wanted' }] } },
      '/event': { events: ['environment.undeployed', 'revision.archived'] },
      '/off': { is_active: false },
    }
    for (const [path, fields] of Object.entries(filters))
      await client.register({ url: base + path, ...fields })
    const archived = await client.register({ url: `${base}/archived` })
    await client.post(`/webhooks/${archived.id}/archive`)
    await client.commit(wanted.variant_id)
    const other = await client.workflow('other')
    await client.deploy('other', 1, 'production')
    await client.deploy('wanted', 2, 'staging')
    await client.deploy('wanted', 1, 'production')
    await client.post('/simple/testsets', {
      testset: { slug: 'rows', data: { testcases: [{ data: { country: 'Peru' } }] } },
    })
    await client.post(`/workflows/revisions/${other.revision_id}/archive`)
    const counts = { '/family': 3, '/id': 3, '/slug': 3, '/environment': 2, '/both': 1, '/event': 1 }
    for (const [path, count] of Object.entries(counts))
      await client.receiver.waitFor(count, ({ url }) => url === path)
    expect(cameTo('/family')).to.deep.equal([
      'artifact.created rows',
      'variant.created rows',
      'revision.committed rows',
    ])
    // In whichever order: they are in three repositories.
    const aboutWanted = [
      'revision.committed wanted',
      'environment.deployed staging',
      'environment.deployed production',
    ]
    expect(cameTo('/id')).to.have.members(aboutWanted)
    expect(cameTo('/slug')).to.have.members(aboutWanted)
    expect(cameTo('/environment')).to.deep.equal([
      'environment.deployed production',
      'environment.deployed production',
    ])
    expect(cameTo('/both')).to.deep.equal(['environment.deployed production'])
    expect(cameTo('/event')).to.deep.equal(['revision.archived other'])
    expect(cameTo('/off')).to.deep.equal([])
    expect(cameTo('/archived')).to.deep.equal([])
  })
})
