import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { singularsOf } from './tested-surface.ts'

/** Variants: created, read, edited (interface 1.9, 4.1, 2.5, 4.7, 4.15, 4.23). */
export function describeVariants(client: SurfaceClient): void {
  const { singular, family } = client.surface
  const singulars = singularsOf(client.surface)

  // interface 1.9
  it('create takes the parent under every spelling, and answers it under the family’s and its own', async () => {
    const { id, slug, flags } = await client.artifact()
    for (const field of [...singulars.map((it) => `${it}_id`), 'artifact_id']) {
      for (const wrapper of singulars) {
        const body = { [`${wrapper}_variant`]: { [field]: id, slug: client.slug('v') } }
        const variant = client.record(await client.post('/variants', body), '_variant')
        expect(variant).to.include({ artifact_id: id, [`${family.singular}_id`]: id, artifact_slug: slug })
        expect(variant).to.include({ [`${singular}_id`]: id, [`${singular}_slug`]: slug })
        expect(variant.flags).to.deep.equal(flags)
      }
    }
  })

  // interface 4.1
  it('create makes no revision', async () => {
    const { id } = await client.artifact()
    const variant = await client.variant(id)
    expect(await client.log(variant.id)).to.deep.equal([])
    const reply = await client.retrieve(client.wrap('_variant_ref', { id: variant.id }))
    expectRefusal(reply, 404, 'revision_not_found', variant.slug)
  })

  // interface 1.9
  it('create names a variant after its slug unless a name is sent', async () => {
    const { id } = await client.artifact()
    expect((await client.variant(id, { slug: client.slug('v') })).name).to.match(/^v_/)
    expect((await client.variant(id, { slug: client.slug('v'), name: 'Warm' })).name).to.equal('Warm')
  })

  // interface 4.10, 4.11
  it('a slug left out is the artifact’s, then _2, _3 …', async () => {
    const { id, slug } = await client.artifact()
    const slugs = []
    for (let n = 0; n < 3; n++) slugs.push((await client.variant(id)).slug)
    expect(slugs).to.deep.equal([slug, `${slug}_2`, `${slug}_3`])
  })

  // interface 4.9
  it('a slug is one variant’s in the artifact, archived ones included, compared without case', async () => {
    const { id } = await client.artifact()
    const variant = await client.variant(id, { slug: client.slug('Warm') })
    await client.archive('/variants', variant.id)
    const fields = { [`${singular}_id`]: id, slug: variant.slug.toUpperCase() }
    const reply = await client.post('/variants', client.wrap('_variant', fields))
    expectRefusal(reply, 409, 'slug_taken', variant.slug.toUpperCase())
    expect(reply.body.conflict).to.deep.equal({ slug: variant.slug.toUpperCase() })
  })

  // interface 5.12, 5.11
  it('a slug that another artifact has is accepted with a warning, and leads to that one where it stands alone', async () => {
    const [first, second] = [await client.artifact(), await client.artifact()]
    const elder = await client.variant(first.id, { slug: client.slug('warm') })
    const fields = { [`${singular}_id`]: second.id, slug: elder.slug }
    const made = await client.post('/variants', client.wrap('_variant', fields))
    const [warning] = made.body.warnings
    expect(warning.code).to.equal('shadowed_slug')
    expect(warning.message).to.include(first.slug).and.to.include(elder.slug)
    await client.committed(elder.id, client.payload('first'))
    await client.committed(client.record(made, '_variant').id, client.payload('second'))
    const alone = client.wrap('_variant_ref', { slug: elder.slug })
    await client.archive('/variants', elder.id)
    expect(client.marks(await client.retrieved(alone))).to.deep.equal(['first'])
    const beside = { ...alone, ...client.wrap('_ref', { slug: second.slug }) }
    expect(client.marks(await client.retrieved(beside))).to.deep.equal(['second'])
  })

  // interface 4.14
  it('a slug that reads as a version is refused beside that variant, and accepted with a warning elsewhere', async () => {
    const [first, second] = [await client.artifact(), await client.artifact()]
    const { slug } = await client.variant(first.id, { slug: client.slug('base') })
    const ask = (artifact: string) =>
      client.post('/variants', client.wrap('_variant', { [`${singular}_id`]: artifact, slug: `${slug}-2` }))
    expectRefusal(await ask(first.id), 409, 'slug_taken', `reads as a version of the variant "${slug}"`)
    const made = await ask(second.id)
    expect(made.body.warnings.map((it: { code: string }) => it.code)).to.deep.equal(['shadowed_slug'])
  })

  // interface 4.15
  it('the first one made is the default, in git too, however old another’s commits are', async () => {
    const { id, slug } = await client.artifact()
    const first = await client.variant(id, { slug: client.slug('first') })
    const second = await client.variant(id, { slug: client.slug('second') })
    await client.committed(second.id, client.payload('second'))
    await client.committed(first.id, client.payload('first'))
    const latest = await client.retrieved(client.wrap('_ref', { slug }))
    expect(client.marks(latest)).to.deep.equal(['first'])
    expect(client.git(slug, 'symbolic-ref', 'HEAD')).to.equal(`refs/heads/${first.slug}`)
  })

  it('is the same record by id on every surface, but for the names of its parents', async () => {
    const variant = await client.variant((await client.artifact()).id, { description: 'D', meta: { a: [] } })
    expect(client.record(await client.get(`/variants/${variant.id}`), '_variant')).to.deep.equal(variant)
    const { body } = await client.service.get(`/${family.folder}/variants/${variant.id}`)
    expect(variant).to.deep.include(body[`${family.singular}_variant`])
  })

  // interface 4.23
  it('edit keeps what is left out and clears what is null', async () => {
    const { id } = await client.artifact()
    const before = await client.variant(id, { name: 'N', description: 'D', tags: { t: 'x' }, meta: { m: 1 } })
    const edit = { id: before.id, description: 'D2', tags: null, slug: before.slug }
    const after = client.record(
      await client.put(`/variants/${before.id}`, client.wrap('_variant', edit)),
      '_variant',
    )
    expect(after).to.include({ slug: before.slug, name: 'N', description: 'D2' })
    expect(after.meta).to.deep.equal({ m: 1 })
    expect(after).to.not.have.property('tags')
    expect(client.record(await client.get(`/variants/${before.id}`), '_variant')).to.deep.equal(after)
  })

  it('edit refuses a body that names another variant', async () => {
    const { id } = await client.artifact()
    const [one, other] = [await client.variant(id), await client.variant(id)]
    const reply = await client.put(
      `/variants/${one.id}`,
      client.wrap('_variant', { id: other.id, name: 'X' }),
    )
    expectRefusal(reply, 400, 'contradictory_request', one.id, other.id)
  })

  it('create refuses an unknown parent, an archived one and none', async () => {
    const unknown = '00000000-0000-7000-8000-000000000000'
    const create = (fields: object) => client.post('/variants', client.wrap('_variant', fields))
    expectRefusal(await create({ [`${singular}_id`]: unknown }), 404, 'artifact_not_found', unknown)
    expectRefusal(await create({}), 422, 'invalid_request', `${singular}_id`)
    const { id, slug } = await client.artifact()
    await client.archive('', id)
    expectRefusal(await create({ [`${singular}_id`]: id }), 409, 'archived', slug)
  })
}
