import { expect } from 'chai'
import type { Reply } from '../../support/servers/service.ts'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { siblingsOf } from './tested-surface.ts'

/** The simple endpoints: one flat record (interface 1.11, 4.1, 4.7, 4.23). */
export function describeSimple(client: SurfaceClient): void {
  const { path, singular, plural, role, family } = client.surface
  const url = `/simple/${path}`
  const create = async (fields: object) =>
    client.record(await client.service.post(url, client.wrap('', fields)))
  const edit = (id: string, fields: object): Promise<Reply> =>
    client.service.put(`${url}/${id}`, client.wrap('', fields))
  const { data } = client.payload('t1')

  // interface 1.1, 4.1, 1.11
  it('create with data makes artifact, variant and exactly one revision, version 1', async () => {
    const header = { name: 'Flat', description: 'D', tags: { t: 'x' }, meta: { m: 1 } }
    const slug = client.slug()
    const flat = await create({ slug, ...header, data, message: 'Begin' })
    expect(flat).to.deep.include({ slug, ...header })
    expect(client.marks(flat)).to.deep.equal(['t1'])
    expect(Object.keys(flat.flags)).to.include.members([...family.roles])
    if (role) expect(flat.flags[role]).to.equal(true)
    const [row, ...others] = await client.log(flat.variant_id)
    expect(others).to.deep.equal([])
    expect(row).to.include({ id: flat.revision_id, version: 1, message: 'Begin', variant_slug: slug })
    expect(client.record(await client.get(`/variants/${flat.variant_id}`), '_variant')).to.include({
      slug,
      name: 'Flat',
    })
  })

  it('create without data makes no revision; the record has empty data', async () => {
    const flat = await create({ slug: client.slug() })
    expect(flat.data).to.deep.equal({})
    expect(flat).to.include.keys('variant_id').and.to.not.have.property('revision_id')
    expect(await client.log(flat.variant_id)).to.deep.equal([])
  })

  it('create generates a slug, and a variant slug that no other artifact has', async () => {
    expect((await create({ data })).slug).to.match(/^[0-9a-f]{12}$/)
    const { id } = await client.artifact()
    const taken = await client.variant(id, { slug: client.slug('shared') })
    const flat = await create({ slug: taken.slug, data })
    const variant = client.record(await client.get(`/variants/${flat.variant_id}`), '_variant')
    expect(variant.slug).to.equal(`${taken.slug}_2`)
  })

  it('read is the same record on every surface, by id', async () => {
    const flat = await create({ slug: client.slug(), data })
    for (const surface of siblingsOf(client.surface)) {
      const { body } = await client.service.get(`/simple/${surface.path}/${flat.id}`)
      expect(body).to.deep.equal({ count: 1, [surface.singular]: flat })
    }
  })

  // interface 1.11
  it('shows the latest revision of the default variant', async () => {
    const flat = await create({ slug: client.slug(), data })
    const next = await client.committed(flat.variant_id, client.payload('t2'))
    const side = await client.variant(flat.id)
    await client.committed(side.id, client.payload('t3'))
    const show = async () => client.record(await client.service.get(`${url}/${flat.id}`))
    expect(await show()).to.deep.include({ revision_id: next.id, data: next.data })
    await client.archive('/revisions', next.id)
    expect(await show()).to.deep.include({ revision_id: flat.revision_id, data: flat.data })
  })

  // interface 9.8
  it('edit merges the header and commits only where data is sent', async () => {
    const flat = await create({ slug: client.slug(), name: 'A', description: 'B', data })
    const named = client.record(await edit(flat.id, { id: flat.id, name: 'A2', description: null }))
    expect(named)
      .to.include({ name: 'A2', revision_id: flat.revision_id })
      .and.to.not.have.property('description')
    const changed = client.record(await edit(flat.id, { ...client.payload('t2'), message: 'Second' }))
    expect(changed.name).to.equal('A2')
    expect(client.marks(changed)).to.deep.equal(['t2'])
    const log = await client.log(flat.variant_id)
    expect(log.map(({ version, message }) => [version, message])).to.deep.equal([
      [2, 'Second'],
      [1, undefined],
    ])
    expect(log[0].id).to.equal(changed.revision_id)
  })

  it('edit with data on an artifact without a variant makes one', async () => {
    const { id, slug } = await client.artifact()
    const flat = client.record(await edit(id, { data }))
    const [row] = await client.log(flat.variant_id)
    expect(row).to.include({ version: 1, variant_slug: slug })
  })

  it('archive and unarchive answer the flat record, and hide it from the query', async () => {
    const { id } = await create({ slug: client.slug(), data })
    const listed = async (more: object = {}) => {
      const { body } = await client.service.post(`${url}/query`, { [`${singular}_refs`]: [{ id }], ...more })
      return body.count
    }
    expect(await listed()).to.equal(1)
    expect(client.record(await client.service.post(`${url}/${id}/archive`)).deleted_at).to.be.a('string')
    expect([await listed(), await listed({ include_archived: true })]).to.deep.equal([0, 1])
    expect(client.record(await client.service.post(`${url}/${id}/unarchive`))).to.not.have.property(
      'deleted_at',
    )
    expect(await listed()).to.equal(1)
  })

  const listed = async (filter: object) => {
    const { body } = await client.service.post(`${url}/query`, client.wrap('', filter))
    return body[plural].map(({ id }: { id: string }) => id)
  }

  it('query filters by header', async () => {
    const tags = { mark: client.slug('mark') }
    const [one, two] = [await create({ tags, name: 'One', data }), await create({ tags, data })]
    expect(await listed({ tags })).to.deep.equal([one.id, two.id])
    expect(await listed({ tags, slug: two.slug })).to.deep.equal([two.id])
    expect(await listed({ tags, name: 'one' })).to.deep.equal([one.id])
  })

  it('a taken slug is a 409, an id that is not there a 404', async () => {
    const { slug } = await create({ slug: client.slug(), data })
    expectRefusal(await client.service.post(url, client.wrap('', { slug, data })), 409, 'slug_taken', slug)
    const nobody = '00000000-0000-7000-8000-000000000000'
    expectRefusal(await client.service.get(`${url}/${nobody}`), 404, 'artifact_not_found', nobody)
    expectRefusal(await edit(nobody, { name: 'X' }), 404, 'artifact_not_found', nobody)
  })

  const { derived } = family
  if (!derived) return
  it('query filters by the flags of the latest revision', async () => {
    const tags = { mark: client.slug('mark') }
    const flagged = await create({ tags, data: derived.data })
    const plain = await create({ tags, data })
    expect(await listed({ tags, flags: { [derived.flag]: true } })).to.deep.equal([flagged.id])
    expect(await listed({ tags, flags: { [derived.flag]: false } })).to.deep.equal([plain.id])
    await client.committed(flagged.variant_id, { data })
    expect(await listed({ tags, flags: { [derived.flag]: true } })).to.deep.equal([])
  })
}
