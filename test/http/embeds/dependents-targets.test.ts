import { expect } from 'chai'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import { askDependents, dependentsIn } from './ask-dependents.ts'
import { embed, type EmbedClient, ok, startEmbeds } from './embed-client.ts'

const UNKNOWN = '0190a000-0000-7000-8000-000000000001'

/** In a store of each test's own, since an answer depends on all that there is; in memory, since those are many. */
describe('embeds: what dependents are asked of', () => {
  let client: EmbedClient
  beforeEach(async () => (client = await startEmbeds({ fs: memoryFs(), storeDir: '/store' })))
  afterEach(() => client.stop())

  const ask = (body: object, plural?: string) => askDependents(client, body, plural)
  const dependentsOf = (body: object, plural?: string) => dependentsIn(client, body, plural)

  it('of what is archived can be asked as of anything', async () => {
    const tone = await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    await client.snippet({ t: '@{{workflow.slug=tone}}' }, { slug: 'host' })
    await client.archive(`/workflows/${tone.id}`)
    expect(await dependentsOf({ workflow_ref: { slug: 'tone' } })).to.deep.equal(['host-1: parameters/t'])
  })

  it('of testsets and queries, which can be pinned; of environments, which can be embedded', async () => {
    const made: Record<string, any> = {}
    for (const [kind, plural, data] of [
      ['testset', 'testsets', { testcases: [{ data: { a: 1 } }] }],
      ['query', 'queries', { filtering: { conditions: [] } }],
    ] as const) {
      const body = await ok(
        client.service.post(`/simple/${plural}/`, { [kind]: { slug: `my-${kind}`, data } }),
      )
      made[kind] = body[kind]
    }
    const references = {
      set: { testset: { slug: 'my-testset' } },
      saved: { query_revision: { id: made['query'].revision_id } },
    }
    await ok(
      client.service.post('/simple/environments/', { environment: { slug: 'prod', data: { references } } }),
    )
    await client.snippet({ pins: embed({ environment_variant: { slug: 'prod' } }) }, { slug: 'host' })
    for (const [body, plural, expected] of [
      [{ testset_ref: { slug: 'my-testset' } }, 'testsets', ['prod-1: set']],
      [{ testset_revision_ref: { slug: 'my-testset', version: 1 } }, 'testsets', ['prod-1: set']],
      [{ query_ref: { id: made['query'].id } }, 'queries', ['prod-1: saved']],
      [{ query_variant_ref: { slug: 'my-query' } }, 'queries', ['prod-1: saved']],
      [{ environment_ref: { slug: 'prod' } }, 'environments', ['host-1: parameters/pins']],
      [
        { environment_revision_ref: { slug: 'prod', version: 1 } },
        'environments',
        ['host-1: parameters/pins'],
      ],
    ] as const)
      expect(await dependentsOf(body, plural), JSON.stringify(body)).to.deep.equal(expected)
  })

  it('of nothing is 400, of what is not there 404, and an answer without dependents is a list', async () => {
    const tone = await client.snippet({ voice: 'calm' }, { slug: 'tone' })
    expect(await ok(ask({ workflow_ref: { id: tone.id } }))).to.deep.equal({ count: 0, dependents: [] })
    for (const [body, status, code, word] of [
      [{}, 400, 'incomplete_reference', 'workflow_ref'],
      [{ workflow_ref: {} }, 400, 'incomplete_reference', 'workflow_ref'],
      [{ workflow_variant_ref: {} }, 400, 'incomplete_reference', 'workflow_variant_ref'],
      [{ workflow_revision_ref: { version: 1 } }, 400, 'incomplete_reference', 'workflow_revision_ref'],
      [{ key: 'x' }, 400, 'incomplete_reference', 'environment_ref'],
      [{ workflow_ref: { slug: 'tone' }, key: 'x' }, 400, 'incomplete_reference', 'environment_ref'],
      [{ workflow_ref: { slug: 'gone' } }, 404, 'artifact_not_found', 'gone'],
      [{ workflow_ref: { id: UNKNOWN } }, 404, 'artifact_not_found', UNKNOWN],
      [{ workflow_variant_ref: { id: UNKNOWN } }, 404, 'variant_not_found', UNKNOWN],
      [{ workflow_revision_ref: { slug: 'tone', version: 2 } }, 404, 'revision_not_found', '2'],
      [{ environment_ref: { slug: 'gone' } }, 404, 'environment_not_found', 'gone'],
      [{ workflow_ref: { slug: '../tone' } }, 422, 'invalid_request', 'body.workflow_ref.slug'],
      [
        { workflow_ref: { slug: 'tone' }, include_archived: 'yes' },
        422,
        'invalid_request',
        'include_archived',
      ],
      [
        { workflow_ref: { slug: 'tone' }, windowing: { limit: 0 } },
        422,
        'invalid_request',
        'windowing.limit',
      ],
      [{ workflow_ref: { slug: 'tone' }, windowing: { next: UNKNOWN } }, 422, 'invalid_request', UNKNOWN],
    ] as const)
      expectRefusal(await ask(body), status, code, word)
    const { workflow: bare } = await ok(client.service.post('/workflows/', { workflow: { slug: 'bare' } }))
    expect(await dependentsOf({ workflow_ref: { id: bare.id } })).to.deep.equal([])
  })
})
