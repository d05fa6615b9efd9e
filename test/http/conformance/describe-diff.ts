import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'

/** Diff (interface 6.1, 8.24): what holds whatever a payload is. */
export function describeDiff(client: SurfaceClient): void {
  const { noDiff } = client.surface.family

  it('equal revisions differ in nothing, a commit from itself neither', async () => {
    const { slug, variantId, revisions } = await client.made(1)
    await client.committed(variantId, client.payload('n1'))
    expect(await client.diff({ slug, version: 1 }, { slug, version: 2 })).to.deep.equal(noDiff)
    expect(await client.diff({ id: revisions[0].id }, { id: revisions[0].id })).to.deep.equal(noDiff)
  })

  it('works across variants and artifacts, and from a revision without a payload', async () => {
    const [one, two] = [await client.made(1), await client.made(2)]
    expect(await client.diff({ id: one.revisions[0].id }, { slug: two.slug, version: 2 })).to.not.deep.equal(
      noDiff,
    )
    expect(await client.diff({ id: one.revisions[0].id }, { slug: two.slug, version: 1 })).to.deep.equal(
      noDiff,
    )
    const empty = await client.made(0)
    const seed = await client.committed(empty.variantId, {})
    expect(await client.diff({ id: seed.id }, { id: one.revisions[0].id })).to.not.deep.equal(noDiff)
  })

  it('a side that is not there is a 404', async () => {
    const { slug } = await client.made(1)
    const ask = { base: { slug, version: 1 }, head: { slug, version: 9 } }
    expectRefusal(await client.post('/revisions/diff', ask), 404, 'revision_not_found', '9')
  })
}
