import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { singularsOf } from './tested-surface.ts'

/** The ids of parents as filters, inside the filter object and beside it, under every spelling (interface 2.16). */
export function describeParents(client: SurfaceClient): void {
  const { surface } = client
  const { singular, path } = surface
  const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id)

  // interface 2.16
  it('revisions: of the artifact, the variant, or the one of an id', async () => {
    const [one, other] = [await client.made(2), await client.made(1)]
    const wanted = idsOf(one.revisions)
    for (const [level, id, rows] of [
      ['', one.id, wanted],
      ['_variant', one.variantId, wanted],
      ['_revision', one.revisions[1].id, wanted.slice(1)],
    ] as const) {
      const plain = level === '' ? 'artifact' : level.slice(1)
      for (const name of [...singularsOf(surface).map((it) => `${it}${level}`), plain]) {
        const inside = await client.query('_revision', client.wrap('_revision', { [`${name}_id`]: id }))
        expect(idsOf(inside), `${name}_id inside`).to.have.members(rows)
        const beside = await client.query('_revision', { [`${name}_id`]: id })
        expect(idsOf(beside), `${name}_id beside`).to.have.members(rows)
        const asked = await client.post(`/revisions/query?${name}_id=${id}`)
        expect(idsOf(client.rows(asked, '_revision')), `?${name}_id`).to.have.members(rows)
      }
    }
    const nothing = { ...client.wrap('_revision', { variant_id: one.variantId }), artifact_id: other.id }
    expect(await client.query('_revision', nothing)).to.deep.equal([])
    const apart = {
      revision_id: one.revisions[0].id,
      [`${singular}_revision_refs`]: [{ id: other.revisions[0].id }],
    }
    expect(await client.query('_revision', apart)).to.deep.equal([])
  })

  it('variants and artifacts: of an id', async () => {
    const [one, other] = [await client.made(0), await client.made(0)]
    const second = await client.variant(one.id, { slug: client.slug() })
    const variants = await client.query('_variant', client.wrap('_variant', { artifact_id: one.id }))
    expect(idsOf(variants)).to.have.members([one.variantId, second.id])
    expect(idsOf(await client.query('_variant', { [`${singular}_variant_id`]: second.id }))).to.deep.equal([
      second.id,
    ])
    expect(await client.query('_variant', { artifact_id: other.id, variant_id: second.id })).to.deep.equal([])
    expect(idsOf(await client.query('', { [`${singular}_id`]: one.id }))).to.deep.equal([one.id])
    const flat = await client.service.post(`/simple/${path}/query`, client.wrap('', { artifact_id: one.id }))
    expect(idsOf(client.rows(flat, ''))).to.deep.equal([one.id])
  })

  it('two ids that differ, and one that a level does not have, are refused', async () => {
    const [one, other] = [await client.made(0), await client.made(0)]
    const two = { ...client.wrap('_revision', { artifact_id: one.id }), artifact_id: other.id }
    expectRefusal(await client.post('/revisions/query', two), 400, 'contradictory_request', one.id, other.id)
    expectRefusal(
      await client.post('/query', { variant_id: one.variantId }),
      422,
      'unknown_field',
      'variant_id',
    )
  })
}
