import { expect } from 'chai'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { SurfaceClient } from './surface-client.ts'
import { testedSurfaces } from './tested-surface.ts'

describe('conformance under VERSION_TYPE=string and a PUBLIC_URL', () => {
  let service: RunningService
  before(async () => {
    service = await startService({
      env: { VERSION_TYPE: 'string', PUBLIC_URL: 'https://prompts.example.org/' },
    })
  })
  after(() => service.stop())

  for (const surface of testedSurfaces) {
    const { singular, path } = surface
    const client = new SurfaceClient(surface, () => service)

    // interface 4.5
    it(`${path}: every answer carries the version as a string; requests may send either`, async () => {
      // Surfaces share one namespace of slugs.
      const { slug, variantId, revisions } = await client.made(2, { slug: `of_${path}` })
      expect(revisions.map(({ version }) => version)).to.deep.equal(['1', '2'])
      const retrieved = await client.retrieve(client.wrap('_variant_ref', { slug }))
      expect(retrieved.body[`${singular}_revision`].version).to.equal('2')
      expect(retrieved.body.retrieval_info.references[`${singular}_revision`].version).to.equal('2')
      expect((await client.log(variantId)).map(({ version }) => version)).to.deep.equal(['2', '1'])
      const rows = await client.query('_revision', { [`${singular}_refs`]: [{ slug }] })
      expect(rows.map(({ version }) => version)).to.deep.equal(['1', '2'])
      for (const version of [1, '1']) {
        const found = await client.retrieved(client.wrap('_revision_ref', { slug, version }))
        expect([found.id, found.version]).to.deep.equal([revisions[0].id, '1'])
      }
    })
  }

  it('the references of traces carry it so, too', async () => {
    const data = { uri: 'svc:builtin:echo:v0' }
    await service.post('/simple/workflows', { workflow: { slug: 'traced', data } })
    const run = await service.post('/services/invoke', {
      references: { workflow: { slug: 'traced' } },
      data: { inputs: {} },
    })
    const { body } = await service.post('/spans/query', {
      filtering: { conditions: [{ field: 'trace_id', value: run.body.trace_id }] },
    })
    const [span] = body.spans
    expect(span.attributes.svc.references.workflow_revision.version).to.equal('1')
    const [{ version }] = span.references.filter((it: { version?: unknown }) => it.version !== undefined)
    expect(version).to.equal('1')
  })

  // interface 7.4
  it('PUBLIC_URL is where handlers are reached', async () => {
    const { body } = await service.post('/simple/workflows', {
      workflow: { slug: 'public', data: { uri: 'svc:builtin:echo:v0' } },
    })
    const { revision_id, data } = body.workflow
    expect(data.url).to.equal(`https://prompts.example.org/services/echo/v0/${revision_id}`)
  })
})
