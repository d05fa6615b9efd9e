import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'

/** JSON is never changed in silence (interface 2.9): `meta`, which every level has. */
export function describeExactMeta(client: SurfaceClient): void {
  const { singular } = client.surface

  it('is exact on artifact, variant and revision, through an edit of something else', async () => {
    const meta = '"meta":{"10":1e400,"2":{"__proto__":12345678901234567890},"n":null}'
    const slug = client.slug()
    const created = await client.post('/', `{"${singular}":{"slug":"${slug}",${meta}}}`)
    expect(created.text).to.include(meta)
    const { id } = client.record(created)
    expect((await client.put(`/${id}`, client.wrap('', { name: 'Edited' }))).text).to.include(meta)
    expect((await client.get(`/${id}`)).text).to.include(meta)
    const made = await client.post('/variants', `{"${singular}_variant":{"artifact_id":"${id}",${meta}}}`)
    expect(made.text).to.include(meta)
    const variant = client.record(made, '_variant')
    const fields = `"variant_id":"${variant.id}","data":{},${meta}`
    const committed = await client.post('/revisions/commit', `{"${singular}_revision":{${fields}}}`)
    expect(committed.text).to.include(meta)
    expect((await client.retrieve(client.wrap('_ref', { id }))).text).to.include(meta)
  })
}
