import { expect } from 'chai'
import { expectRefusal } from '../conformance/surface-client.ts'
import { embed, type EmbedClient, ok, startEmbeds } from './embed-client.ts'

describe('embeds: results that the family would not take', () => {
  let client: EmbedClient
  before(async () => {
    client = await startEmbeds()
    await client.snippet({ voice: 'calm', provider: 'svc', limits: { words: 80 }, type: 7 }, { slug: 'tone' })
  })
  after(() => client.stop())

  const voice = embed({ workflow: { slug: 'tone' } }, { path: 'parameters.voice' })
  const limits = embed({ workflow: { slug: 'tone' } }, { path: 'parameters.limits' })
  const BAD: Readonly<Record<string, readonly [object, string]>> = {
    'parameters that are a text': [{ parameters: voice }, 'data.parameters'],
    'a uri that names no handler': [
      { uri: '@{{workflow.slug=tone, path=provider}}:custom:nope' },
      'data.uri',
    ],
    'a url that is none': [{ url: 'https://example.org/@{{workflow.slug=tone,path=limits}}' }, 'data.url'],
    'a schema that is none': [
      {
        schemas: {
          inputs: { properties: { a: embed({ workflow: { slug: 'tone' } }, { path: 'parameters.type' }) } },
        },
      },
      'data.schemas.inputs',
    ],
  }
  for (const [what, [data, loc]] of Object.entries(BAD)) {
    // interface 10.16
    it(`${what}: 422, stored or brought, under every policy`, async () => {
      const host = await client.make(data)
      for (const error_policy of ['exception', 'placeholder', 'keep']) {
        for (const asked of [{ workflow_ref: { id: host.id } }, { workflow_revision: { data } }]) {
          expectRefusal(await client.resolve({ ...asked, error_policy }), 422, 'invalid_request', loc)
        }
      }
      const { status, body } = await client.service.post('/workflows/revisions/retrieve', {
        workflow_ref: { id: host.id },
        resolve: true,
      })
      expect([status, body.code]).to.deep.equal([422, 'invalid_request'])
    })
  }

  // interface 10.2, 10.7
  it('references by themselves, and versions that are numbers, are replaced', async () => {
    const references = { workflow_revision: { slug: 'tone', version: 1 } }
    const selected = { '@svc.references': references, '@svc.selector': { path: 'parameters.voice' } }
    const host = await client.make({ parameters: { bare: selected, whole: { '@svc.embed': selected } } })
    const { body } = await client.resolve({ workflow_ref: { id: host.id } })
    expect(body.workflow_revision.data.parameters).to.deep.equal({ bare: 'calm', whole: 'calm' })
    expect(body.resolution_info.embeds_resolved).to.equal(2)
  })

  it('a placeholder in place of all parameters is such a result', async () => {
    const data = { parameters: embed({ workflow: { slug: 'gone' } }) }
    const asked = { workflow_revision: { data } }
    expectRefusal(
      await client.resolve({ ...asked, error_policy: 'placeholder' }),
      422,
      'invalid_request',
      'data.parameters',
    )
    const kept = await ok(client.resolve({ ...asked, error_policy: 'keep' }))
    expect(kept.workflow_revision).to.deep.equal({ data })
  })

  it('parameters that become another object are fine', async () => {
    const body = await ok(client.resolve({ workflow_revision: { data: { parameters: limits } } }))
    expect(body.workflow_revision.data).to.deep.equal({ parameters: { words: 80 } })
  })
})
