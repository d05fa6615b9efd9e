import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'

const NOBODY = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

/** References where requests ask for a parent's id (interface 2.7). */
export function describeParentReferences(client: SurfaceClient): void {
  const { singular } = client.surface
  const [A, V, R] = [`${singular}_ref`, `${singular}_variant_ref`, `${singular}_revision_ref`] as const
  const { payload } = client.surface.family
  const commit = (fields: object, beside: object = {}) =>
    client.post('/revisions/commit', {
      ...client.wrap('_revision_commit', { ...client.payload('more'), ...fields }),
      ...beside,
    })

  // interface 2.7
  it('a commit goes to the variant, or to the default one of the artifact, in the record or beside it', async () => {
    const { id, slug, variantId } = await client.made(1)
    const ways: readonly (readonly [object, object?])[] = [
      [{ [V]: { slug } }],
      [{ [V]: { id: variantId } }],
      [{ [A]: { slug } }],
      [{ [A]: { id } }],
      [{ [`${singular}_id`]: id }],
      [{ [A]: { slug }, [V]: { slug } }],
      [{ [V]: { slug }, variant_id: variantId }],
      [{}, { [V]: { slug } }],
      [{}, { [A]: { slug } }],
    ]
    for (const [index, [fields, beside]] of ways.entries()) {
      const revision = client.record(await commit(fields, beside), '_revision')
      expect(revision).to.include({ variant_id: variantId, version: index + 2 })
    }
  })

  it('a first commit without a payload goes there, too', async () => {
    const { slug } = await client.made(0)
    const reply = await client.post('/revisions/', client.wrap('_revision', { [V]: { slug } }))
    expect(client.record(reply, '_revision').version).to.equal(1)
  })

  // interface 2.6
  it('a commit is refused that names nothing, two things, or nothing that there is', async () => {
    const [one, two] = [await client.made(1), await client.made(1)]
    expectRefusal(await commit({}), 422, 'invalid_request', `${singular}_variant_ref`)
    const both = { [V]: { slug: one.slug } }
    expectRefusal(await commit(both, { [V]: { slug: two.slug } }), 400, 'contradictory_request', two.slug)
    const other = { [V]: { id: one.variantId }, [A]: { slug: two.slug } }
    expectRefusal(await commit(other), 400, 'contradictory_request', one.id)
    expectRefusal(await commit({ [V]: { slug: 'nobody' } }), 404, 'variant_not_found', 'nobody')
    expectRefusal(await commit({ [A]: { id: NOBODY } }), 404, 'artifact_not_found', NOBODY)
    expectRefusal(await commit({ [V]: {} }), 400, 'incomplete_reference')
    const versioned = { [V]: { slug: one.slug, version: 1 } }
    expectRefusal(await commit(versioned), 422, 'unknown_field', 'version')
  })

  it('a delta names the revision it was made for', async () => {
    const { slug } = await client.made(2)
    const delta = client.surface.family.delta('d', 'n2')
    const send = (fields: object) =>
      client.post('/revisions/commit', client.wrap('_revision_commit', { delta, ...fields }))
    const stale = await send({ [V]: { slug }, [R]: { version: 1 } })
    if (payload === 'document') expectRefusal(stale, 409, 'revision_conflict')
    const made = client.record(await send({ [V]: { slug }, [R]: { slug: `${slug}-2` } }), '_revision')
    expect(made.version).to.equal(payload === 'document' ? 3 : 4)
  })

  it('a log is of the variant, of the default one of the artifact, or of what led to a revision', async () => {
    const { id, slug, revisions } = await client.made(2)
    const log = async (of: object | undefined, beside: object = {}) => {
      const reply = await client.post('/revisions/log', { ...(of && client.wrap('', of)), ...beside })
      return client.rows(reply, '_revision').map((it) => it.id)
    }
    const all = [revisions[1].id, revisions[0].id]
    expect(await log({ [V]: { slug } })).to.deep.equal(all)
    expect(await log({ [A]: { slug } })).to.deep.equal(all)
    expect(await log({ [A]: { id } })).to.deep.equal(all)
    expect(await log(undefined, { [V]: { slug } })).to.deep.equal(all)
    expect(await log(undefined, { [A]: { slug } })).to.deep.equal(all)
    expect(await log({ [R]: { slug: `${slug}-1` } })).to.deep.equal([revisions[0].id])
    expect(await log(undefined, { [V]: { slug }, [R]: { version: 1 } })).to.deep.equal([revisions[0].id])
    const { body } = await client.post('/revisions/log', {})
    expect(body).to.deep.include({ status: 422 })
  })

  it('a variant is made on the artifact', async () => {
    const { id, slug } = await client.made(0)
    const inside = client.wrap('_variant', { [A]: { slug }, slug: client.slug('inside') })
    expect(client.record(await client.post('/variants/', inside), '_variant').artifact_id).to.equal(id)
    const beside = { ...client.wrap('_variant', { slug: client.slug('beside') }), [A]: { slug } }
    expect(client.record(await client.post('/variants/', beside), '_variant').artifact_id).to.equal(id)
    const neither = client.wrap('_variant', { slug: client.slug('neither') })
    expectRefusal(await client.post('/variants/', neither), 422, 'invalid_request', `${singular}_ref`)
  })

  it('queries filter by one as by a list of one, in the filter or beside it', async () => {
    const { slug, variantId, revisions } = await client.made(2)
    expect(await client.query('_variant', { [A]: { slug } })).to.have.lengthOf(1)
    const [variant] = await client.query('_variant', client.wrap('_variant', { [A]: { slug } }))
    expect(variant.id).to.equal(variantId)
    expect(await client.query('_revision', { [V]: { slug } })).to.have.lengthOf(2)
    const [first] = await client.query('_revision', client.wrap('_revision', { [R]: { slug: `${slug}-1` } }))
    expect(first.id).to.equal(revisions[0].id)
    const twice = await client.post('/variants/query', { [A]: { slug }, [`${singular}_refs`]: [{ slug }] })
    expectRefusal(twice, 400, 'contradictory_request')
  })

  // interface 2.8
  it('the shared fork answers in the words that were sent', async () => {
    const { slug } = await client.made(1)
    const body = { ...client.wrap('_variant', { slug: client.slug('fork') }), [V]: { slug } }
    const reply = await client.service.post('/variants/fork', body, { 'idempotency-key': slug })
    expect(client.record(reply, '_variant')[`${singular}_slug`]).to.equal(slug)
    const again = await client.service.post('/variants/fork', body, { 'idempotency-key': slug })
    expect(again.body).to.deep.equal(reply.body)
  })
}
