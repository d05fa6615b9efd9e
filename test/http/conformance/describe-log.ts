import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { singularsOf } from './tested-surface.ts'

/** Log (interface 4.20, 2.5). Its windowing is with that of all lists. */
export function describeLog(client: SurfaceClient): void {
  const { singular } = client.surface
  const versions = (rows: readonly { readonly version: number }[]) => rows.map(({ version }) => version)

  // interface 4.20
  it('is newest first, with commit metadata and without payloads', async () => {
    const { variantId, revisions } = await client.made(3)
    const rows = await client.log(variantId)
    const bare = revisions.map(({ data: _, ...rest }) => rest).reverse()
    expect(rows).to.deep.equal(bare)
  })

  it('include_data adds the payloads, beside the wrapper or in it', async () => {
    const { variantId, revisions } = await client.made(2)
    const newestFirst = [...revisions].reverse()
    expect(await client.log(variantId, { include_data: true })).to.deep.equal(newestFirst)
    const inside = client.wrap('', { [`${singular}_variant_id`]: variantId, include_data: true })
    expect(client.rows(await client.post('/revisions/log', inside), '_revision')).to.deep.equal(newestFirst)
  })

  // interface 4.20
  it('depth counts from the newest, beside the wrapper or in it', async () => {
    const { variantId } = await client.made(4)
    expect(versions(await client.log(variantId, { depth: 2 }))).to.deep.equal([4, 3])
    const inside = client.wrap('', { [`${singular}_variant_id`]: variantId, depth: 3 })
    expect(versions(client.rows(await client.post('/revisions/log', inside), '_revision'))).to.deep.equal([
      4, 3, 2,
    ])
    expect(await client.log(variantId, { depth: 99 })).to.have.length(4)
  })

  // interface 2.5
  it('takes every wrapper and every spelling of the id', async () => {
    const { variantId } = await client.made(1)
    for (const name of singularsOf(client.surface)) {
      for (const wrapper of [name, `${name}_revisions`, `${name}_revision`]) {
        for (const field of [`${name}_variant_id`, 'variant_id']) {
          const reply = await client.post('/revisions/log', { [wrapper]: { [field]: variantId } })
          expect(client.rows(reply, '_revision')).to.have.length(1)
        }
      }
    }
  })

  it('begins at a revision, or at the default variant of an artifact', async () => {
    const { id, revisions } = await client.made(3)
    const log = async (fields: object) =>
      versions(
        client.rows(await client.post('/revisions/log', client.wrap('_revisions', fields)), '_revision'),
      )
    expect(await log({ [`${singular}_revision_id`]: revisions[1].id })).to.deep.equal([2, 1])
    expect(await log({ [`${singular}_id`]: id })).to.deep.equal([3, 2, 1])
    expect(await log({ artifact_id: id, revision_id: revisions[0].id })).to.deep.equal([1])
  })

  // interface 4.20
  it('leaves out what is archived by itself, also at its head, and shows it on demand', async () => {
    const { variantId, revisions } = await client.made(4)
    await client.archive('/revisions', revisions[3].id)
    await client.archive('/revisions', revisions[1].id)
    expect(versions(await client.log(variantId))).to.deep.equal([3, 1])
    expect(versions(await client.log(variantId, { depth: 2 }))).to.deep.equal([3, 1])
    expect(versions(await client.log(variantId, { include_archived: true }))).to.deep.equal([4, 3, 2, 1])
  })

  it('of a variant without revisions is empty, of one that is not there a 404', async () => {
    const { id, variantId } = await client.made(0)
    expect(await client.log(variantId)).to.deep.equal([])
    const body = client.wrap('', { [`${singular}_variant_id`]: id })
    expectRefusal(await client.post('/revisions/log', body), 404, 'variant_not_found', id)
  })
}
