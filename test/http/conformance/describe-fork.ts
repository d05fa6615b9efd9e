import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { singularsOf } from './tested-surface.ts'

/** Fork (interface 4.22, 2.5, 4.15). */
export function describeFork(client: SurfaceClient): void {
  const [V, R] = [
    `${client.surface.singular}_variant_ref`,
    `${client.surface.singular}_revision_ref`,
  ] as const
  const fork = async (fields: object, references: object) => {
    const body = { ...client.wrap('_variant', { slug: client.slug('fork'), ...fields }), ...references }
    return client.record(await client.post('/variants/fork', body), '_variant')
  }
  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

  // interface 4.22
  it('is a variant of the same artifact at the head, and one branch more in git: no copies', async () => {
    const { id, slug, variantId, revisions } = await client.made(2)
    const header = { name: 'Warm', description: 'D', tags: { t: true }, meta: { m: 1 } }
    const variant = await fork(header, { [V]: { id: variantId } })
    expect(variant).to.deep.include({ artifact_id: id, ...header })
    expect(client.git(slug, 'rev-parse', variant.slug)).to.equal(client.git(slug, 'rev-parse', slug))
    expect(client.git(slug, 'rev-list', '--count', '--branches')).to.equal('2')
    expect(ids(await client.log(variant.id))).to.deep.equal(ids([...revisions].reverse()))
  })

  it('begins at the revision named: by id, slug, or version on the variant', async () => {
    const { slug, variantId, revisions } = await client.made(3)
    for (const references of [
      { [R]: { id: revisions[1].id } },
      { [R]: { slug: `${slug}-2` } },
      { [R]: { slug, version: 2 } },
      { [V]: { id: variantId }, [R]: { version: '2' } },
      { [V]: { slug, version: 2 } },
    ]) {
      const variant = await fork({}, references)
      expect((await client.retrieved({ [V]: { id: variant.id } })).id).to.equal(revisions[1].id)
    }
  })

  // interface 4.22
  it('continues the count; the original is untouched', async () => {
    const { variantId, revisions } = await client.made(3)
    const variant = await fork({}, { [R]: { id: revisions[1].id } })
    const next = await client.committed(variant.id, client.payload('on fork'))
    expect([next.version, next.slug]).to.deep.equal([3, `${variant.slug}-3`])
    expect(ids(await client.log(variant.id))).to.deep.equal([next.id, revisions[1].id, revisions[0].id])
    expect(ids(await client.log(variantId))).to.deep.equal(ids([...revisions].reverse()))
  })

  // interface 4.29
  it('what is reached through a variant names that variant; by id alone, its home', async () => {
    const { slug, variantId, revisions } = await client.made(1)
    const variant = await fork({}, { [V]: { id: variantId } })
    const through = await client.retrieved({ [V]: { id: variant.id } })
    expect(through).to.include({
      id: revisions[0].id,
      variant_id: variant.id,
      slug: `${variant.slug}-1`,
      version: 1,
    })
    const [row] = await client.log(variant.id)
    expect(row).to.include({ id: revisions[0].id, variant_id: variant.id })
    const beside = { [V]: { id: variant.id }, [R]: { slug: `${variant.slug}-1` } }
    expect((await client.retrieved(beside)).variant_id).to.equal(variant.id)
    for (const refs of [{ [R]: { id: revisions[0].id } }, { [R]: { slug: `${slug}-1` } }]) {
      expect((await client.retrieved(refs)).variant_id).to.equal(variantId)
    }
  })

  it('a slug left out is generated; the default variant stays what it was', async () => {
    const { id, slug, variantId } = await client.made(1)
    const variant = await fork({ slug: undefined }, { [V]: { id: variantId } })
    expect(variant).to.include({ slug: `${slug}_2`, name: `${slug}_2` })
    const head = await client.committed(variantId, client.payload('of default'))
    await client.committed(variant.id, client.payload('of fork'))
    const artifact = client.wrap('_ref', { id })
    expect((await client.retrieved(artifact)).id).to.equal(head.id)
  })

  // interface 2.8
  it('takes the keys of any surface here and at /variants/fork', async () => {
    const { variantId, revisions } = await client.made(1)
    for (const name of singularsOf(client.surface)) {
      for (const path of [`/${client.surface.path}/variants/fork`, '/variants/fork', '/api/variants/fork/']) {
        const slug = client.slug('any')
        const { status, text } = await client.service.post(path, {
          [`${name}_variant`]: { slug },
          [`${name}_variant_ref`]: { id: variantId },
          [`${name}_revision_ref`]: { id: revisions[0].id },
        })
        expect(status, text).to.equal(200)
        expect((await client.retrieved({ [V]: { slug } })).id).to.equal(revisions[0].id)
      }
    }
  })

  it('a taken slug is a 409, a source that is not there a 404, none a 400', async () => {
    const { slug, variantId } = await client.made(1)
    const ask = (fields: object, references: object) =>
      client.post('/variants/fork', { ...client.wrap('_variant', fields), ...references })
    expectRefusal(await ask({ slug }, { [V]: { id: variantId } }), 409, 'slug_taken', slug)
    expectRefusal(await ask({}, { [V]: { slug: 'nobody' } }), 404, 'variant_not_found', 'nobody')
    expectRefusal(await ask({}, {}), 400, 'incomplete_reference')
  })
}
