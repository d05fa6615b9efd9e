import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'

const UUID = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

/** A slug where a path asks for an id (interface 2.7). */
export function describeSlugsInPaths(client: SurfaceClient): void {
  const { singular, path } = client.surface

  it('names the artifact, the variant and the revision as their ids do', async () => {
    const { slug, id, variantId, revisions } = await client.made(2)
    for (const [level, name, target] of [
      ['', slug, id],
      ['/variants', slug, variantId],
      ['/revisions', `${slug}-2`, revisions[1].id],
    ] as const) {
      const suffix = level && `_${level.slice(1, -1)}`
      const byId = client.record(await client.get(`${level}/${target}`), suffix)
      expect(byId.id).to.equal(target)
      expect(client.record(await client.get(`${level}/${name}`), suffix)).to.deep.equal(byId)
    }
    const { body } = await client.service.get(`/simple/${path}/${slug}`)
    expect(body[singular]).to.include({ id, revision_id: revisions[1].id })
    const { status } = await client.get(`/revisions/${slug}-2/provenance`)
    expect(status).to.equal(200)
  })

  it('names what is edited, archived and brought back', async () => {
    const { slug, id, variantId } = await client.made(1)
    for (const [level, target] of [
      ['', id],
      ['/variants', variantId],
    ] as const) {
      const suffix = level && `_${level.slice(1, -1)}`
      const edited = await client.put(
        `${level}/${slug}`,
        client.wrap(suffix, { name: 'By slug', id: target }),
      )
      expect(client.record(edited, suffix)).to.include({ id: target, name: 'By slug' })
      const archived = await client.archive(level === '' ? '' : '/variants', slug)
      expect(archived.id).to.equal(target)
      expect(archived).to.include.keys('deleted_at')
      const restored = await client.archive(level === '' ? '' : '/variants', slug, 'unarchive')
      expect(restored).to.not.include.keys('deleted_at')
    }
    expect(await client.archive('/revisions', `${slug}-1`)).to.include.keys('deleted_at')
    expect(await client.archive('/revisions', `${slug}-1`, 'unarchive')).to.not.include.keys('deleted_at')
    const simple = `/simple/${path}/${slug}`
    const put = await client.service.put(simple, client.wrap('', { description: 'Too' }))
    expect(put.body[singular]).to.include({ id, name: 'By slug', description: 'Too' })
    const archived = await client.service.post(`${simple}/archive`)
    expect(archived.body[singular]).to.include.keys('deleted_at')
    const restored = await client.service.post(`${simple}/unarchive`)
    expect(restored.body[singular]).to.not.include.keys('deleted_at')
  })

  it('is held against the id in the body', async () => {
    const { slug, id } = await client.made(0)
    const reply = await client.put(`/${slug}`, client.wrap('', { id: UUID, name: 'Other' }))
    expectRefusal(reply, 400, 'contradictory_request', id, UUID)
  })

  // interface 2.7
  it('may look like an id; what is the id of one thing and the slug of another is the id', async () => {
    const made = await client.made(1, { slug: UUID })
    expect(client.record(await client.get(`/${UUID}`)).id).to.equal(made.id)
    const variant = client.record(await client.get(`/variants/${UUID}`), '_variant')
    expect(variant.id).to.equal(made.variantId)
    const { slug } = await client.made(0, { slug: made.id })
    expect(client.record(await client.get(`/${slug}`)).slug).to.equal(UUID)
  })

  it('is 404 where nothing has it, and 422 where nothing could', async () => {
    for (const level of ['', '/variants', '/revisions'] as const) {
      const code = `${level === '' ? 'artifact' : level.slice(1, -1)}_not_found`
      expectRefusal(await client.get(`${level}/no_such_thing`), 404, code, 'no_such_thing')
      expectRefusal(
        await client.get(`${level}/no%20slug`),
        422,
        'invalid_request',
        'neither an id nor a slug',
      )
    }
  })

  it('means the variant that had it first where several artifacts have one of it', async () => {
    const [one, two] = [await client.made(1), await client.made(1)]
    client.git(two.slug, 'branch', one.slug, two.slug)
    client.record(await client.get(`/${two.slug}`)) // which looks at its repository
    expect(client.record(await client.get(`/variants/${one.slug}`), '_variant').id).to.equal(one.variantId)
    expect(client.record(await client.get(`/${one.slug}`)).id).to.equal(one.id)
  })
}
