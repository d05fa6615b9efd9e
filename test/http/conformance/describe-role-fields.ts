import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { freeRoleOf } from './tested-surface.ts'

/** The roles of an artifact as fields beside `flags` (interface 1.4). */
export function describeRoleFields(client: SurfaceClient): void {
  const { family, role, path } = client.surface
  const free = freeRoleOf(family)
  if (free === undefined) return
  const others = Object.fromEntries(family.roles.map((name) => [name, name === role]))
  const taken = { ...others, [free]: true }

  // interface 1.4
  it('create takes them, simple or not', async () => {
    expect((await client.artifact({ [free]: true })).flags).to.deep.equal(taken)
    const fields = { slug: client.slug(), [free]: true }
    const { id } = client.record(await client.service.post(`/simple/${path}`, client.wrap('', fields)))
    expect(client.record(await client.get(`/${id}`)).flags).to.deep.equal(taken)
    const both = { [free]: true, flags: { [free]: true } }
    expect((await client.artifact(both)).flags).to.deep.equal(taken)
  })

  it('an edit changes the one that it names, and null clears it', async () => {
    const before = { [family.roles[0] ?? free]: true, [free]: true }
    const { id, flags } = await client.artifact({ flags: before })
    const edit = (fields: object) => client.put(`/${id}`, client.wrap('', fields))
    expect(client.record(await edit({ [free]: false })).flags).to.deep.equal({ ...flags, [free]: false })
    expect(client.record(await edit({ [free]: true })).flags).to.deep.equal(flags)
    expect(client.record(await edit({ [free]: null })).flags).to.deep.equal({ ...flags, [free]: false })
    const simple = await client.service.put(`/simple/${path}/${id}`, client.wrap('', { [free]: true }))
    expect(client.record(simple).flags).to.include({ [free]: true })
    expect(client.record(await client.get(`/${id}`)).flags).to.deep.equal(flags)
  })

  // interface 1.4, 1.7
  it('filters take them, at every level', async () => {
    const { slug, id, variantId, revisions } = await client.made(1, { [free]: true })
    const { id: other } = await client.made(1)
    const ids = async (level: '' | '_variant' | '_revision', value: boolean, of: string) =>
      (await client.query(level, { ...client.wrap(level, { [free]: value }), artifact_id: of })).map(
        (it) => it.id,
      )
    expect(await ids('', true, id), slug).to.deep.equal([id])
    expect(await ids('_variant', true, id)).to.deep.equal([variantId])
    expect(await ids('_revision', true, id)).to.deep.equal([revisions[0].id])
    expect(await ids('_revision', true, other)).to.deep.equal([])
    expect(await ids('', false, id)).to.deep.equal([])
    expect(await ids('', false, other)).to.deep.equal([other])
  })

  it('what contradicts itself is refused', async () => {
    const reply = await client.post('/', client.wrap('', { [free]: true, flags: { [free]: false } }))
    expectRefusal(reply, 400, 'contradictory_request', free)
    expectRefusal(await client.post('/', client.wrap('', { [free]: 'yes' })), 422, 'invalid_request', free)
  })
}
