import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { pathOf } from './surface-client.ts'
import { freeRoleOf, siblingsOf, singularsOf } from './tested-surface.ts'

/** Query filters, in the body and in the query string (interface 2.10, 2.15, 2.16). */
export function describeQueries(client: SurfaceClient): void {
  const { singular, role, family } = client.surface
  type Level = '' | '_variant' | '_revision'
  const levels: readonly Level[] = ['', '_variant', '_revision']

  /** One artifact, variant or revision with this header, by level; all in artifacts that carry the mark. */
  const one = async (level: Level, header: object) => {
    if (level === '') return client.artifact(header)
    const { id } = await client.artifact()
    if (level === '_variant') return client.variant(id, header)
    const variant = await client.variant(id)
    return client.committed(variant.id, { ...client.payload('only'), ...header })
  }

  for (const level of levels) {
    const list = async (filter: object, more: object = {}) =>
      (await client.query(level, { ...client.wrap(level, filter), ...more })).map(({ slug }) => slug)
    const inQueryString = async (query: string) =>
      client.rows(await client.post(`${pathOf(level)}/query?${query}`), level).map(({ slug }) => slug)
    const name = level === '' ? 'artifacts' : `${level.slice(1)}s`

    // interface 2.16
    it(`${name}: by slug and slugs, either`, async () => {
      const slugs = [(await one(level, {})).slug, (await one(level, {})).slug, (await one(level, {})).slug]
      expect(await list({ slug: slugs[0] })).to.deep.equal([slugs[0]])
      expect(await list({ slug: slugs[2], slugs: slugs.slice(0, 1) })).to.have.members([slugs[0], slugs[2]])
      expect(await list({ slug: slugs[0]?.toUpperCase() })).to.deep.equal([])
    })

    // interface 2.16
    it(`${name}: by a part of name and description, without regard to case; % and _ are characters`, async () => {
      const mark = client.slug('mark')
      const { slug } = await one(level, { name: `A Fine ${mark} 100%`, description: 'Some TEXT' })
      await one(level, { name: `Other ${mark}`, description: 'else' })
      expect(await list({ name: `fine ${mark}` })).to.deep.equal([slug])
      expect(await list({ name: mark, description: 'some text' })).to.deep.equal([slug])
      expect(await list({ name: `${mark} 100%` })).to.deep.equal([slug])
      expect(await list({ name: `${mark}%%` })).to.deep.equal([])
      expect(await inQueryString(`name=fine%20${mark}`)).to.deep.equal([slug])
    })

    // interface 2.16
    it(`${name}: by tags and meta, nested, numbers and all`, async () => {
      const mark = client.slug('mark')
      const header = {
        tags: { mark, n: { a: 'b', c: true } },
        meta: { mark, list: [1, { x: 1.5 }], z: null },
      }
      const { slug } = await one(level, header)
      await one(level, { tags: { mark }, meta: { mark } })
      expect(await list({ tags: { mark } })).to.have.length(2)
      expect(await list({ tags: { mark, n: { a: 'b' } } })).to.deep.equal([slug])
      expect(await list({ tags: { mark, n: { a: 'c' } } })).to.deep.equal([])
      expect(await list({ meta: { mark, list: [1, { x: 1.5 }] } })).to.deep.equal([slug])
      expect(await list({ meta: { mark, z: null } })).to.deep.equal([slug])
      const text = encodeURIComponent(JSON.stringify({ mark, n: { c: true } }))
      expect(await inQueryString(`tags=${text}`)).to.deep.equal([slug])
      expect(
        await inQueryString(`meta=${encodeURIComponent(JSON.stringify({ mark, z: null }))}`),
      ).to.deep.equal([slug])
    })

    // interface 2.15, 3.5
    it(`${name}: filters count together; no match is an empty list`, async () => {
      const { slug } = await one(level, { name: 'Both', tags: { t: 'x' } })
      expect(await list({ slug, name: 'both', tags: { t: 'x' } })).to.deep.equal([slug])
      expect(await list({ slug, name: 'neither' })).to.deep.equal([])
    })

    it(`${name}: an empty body, no body and {} are the same`, async () => {
      const all = client.rows(await client.post(`${pathOf(level)}/query`, {}), level)
      expect(
        client.rows(
          await client.service.call('POST', `/${client.surface.path}${pathOf(level)}/query`),
          level,
        ),
      ).to.deep.equal(all)
      expect(
        client.rows(
          await client.post(`${pathOf(level)}/query`, { windowing: null, ...client.wrap(level, {}) }),
          level,
        ),
      ).to.deep.equal(all)
      if (role) for (const { flags } of all) expect(flags[role]).to.equal(true)
    })
  }

  // interface 2.17
  it('references: ids and slugs of one list add up, lists narrow each other', async () => {
    const [one, two] = [await client.made(2), await client.made(1)]
    const refs = (level: string, ...list: object[]) => ({ [`${singular}${level}_refs`]: list })
    const ids = async (level: Level, body: object) => (await client.query(level, body)).map(({ id }) => id)
    expect(await ids('', refs('', { id: two.id }, { slug: one.slug }))).to.deep.equal([one.id, two.id])
    expect(await ids('', refs('', {}))).to.include.members([one.id, two.id])
    expect(await ids('_variant', refs('', { slug: one.slug }))).to.deep.equal([one.variantId])
    expect(await ids('_variant', refs('_variant', { id: two.variantId }))).to.deep.equal([two.variantId])
    const first = one.revisions.map(({ id }) => id)
    expect(await ids('_revision', refs('_variant', { slug: one.slug }))).to.deep.equal(first)
    const narrowed = { ...refs('', { id: one.id }), ...refs('_variant', { id: two.variantId }) }
    expect(await ids('_revision', narrowed)).to.deep.equal([])
    const revisions = refs('_revision', { id: first[1] }, { slug: `${two.slug}-1` })
    expect(await ids('_revision', revisions)).to.have.members([first[1], two.revisions[0].id])
    expect(await ids('_revision', refs('_revision', { slug: one.slug, version: 1 }))).to.deep.equal([
      first[0],
    ])
  })

  it('references may come in the query string, repeated', async () => {
    const [one, two] = [await client.made(1), await client.made(1)]
    const ask = async (level: Level, query: string) =>
      client.rows(await client.post(`${pathOf(level)}/query?${query}`), level).map(({ id }) => id)
    expect(await ask('', `${singular}_id=${one.id}`)).to.deep.equal([one.id])
    expect(await ask('', `${singular}_slug=${two.slug}`)).to.deep.equal([two.id])
    expect(await ask('', `${singular}_ids=${one.id}&${singular}_ids=${two.id}`)).to.deep.equal([
      one.id,
      two.id,
    ])
    expect(await ask('_variant', `${singular}_id=${one.id}`)).to.deep.equal([one.variantId])
    expect(await ask('_variant', `${singular}_variant_slug=${two.slug}`)).to.deep.equal([two.variantId])
    const revision = one.revisions[0].id
    expect(await ask('_revision', `${singular}_revision_id=${revision}`)).to.deep.equal([revision])
    expect(await ask('_revision', `${singular}_variant_id=${one.variantId}`)).to.deep.equal([revision])
    await client.archive('', one.id)
    expect(await ask('', `${singular}_id=${one.id}`)).to.deep.equal([])
    expect(await ask('', `${singular}_id=${one.id}&include_archived=true`)).to.deep.equal([one.id])
  })

  // interface 2.15
  it('what the body says wins over the query string', async () => {
    const [one, two] = [await client.artifact({ name: 'One' }), await client.artifact({ name: 'Two' })]
    const body = { ...client.wrap('', { slug: two.slug }), include_archived: false }
    await client.archive('', one.id)
    const reply = await client.post(`/query?name=One&include_archived=true`, body)
    expect(client.rows(reply, '').map(({ id }) => id)).to.deep.equal([two.id])
  })

  // interface 4.21
  it('revisions: those of one second come in the order of their depth', async () => {
    const { id, revisions } = await client.made(8)
    const listed = await client.query('_revision', { [`${singular}_refs`]: [{ id }] })
    expect(listed.map(({ version }) => version)).to.deep.equal(
      revisions.map((_: unknown, index: number) => index + 1),
    )
  })

  // interface 2.16
  it('revisions: by message, author and date', async () => {
    const { id, revisions } = await client.made(3)
    const scope = { [`${singular}_refs`]: [{ id }] }
    const versions = async (filter: object) =>
      (await client.query('_revision', { ...scope, ...client.wrap('_revision', filter) })).map(
        ({ version }) => version,
      )
    const [{ author, date }] = revisions
    expect(await versions({ message: 'COUNT 2' })).to.deep.equal([2])
    expect(await versions({ author })).to.deep.equal([1, 2, 3])
    expect(await versions({ authors: ['Nobody <no@where>', author] })).to.deep.equal([1, 2, 3])
    expect(await versions({ author: 'Nobody <no@where>' })).to.deep.equal([])
    expect(await versions({ date })).to.include(1)
    expect(await versions({ dates: [date.replace('Z', '.000+00:00')] })).to.include(1)
    expect(await versions({ date: '2001-01-01T00:00:00Z' })).to.deep.equal([])
  })

  // interface 1.6
  it('lists by the stored role, whatever the surface that asks', async () => {
    const { id } = await client.made(1)
    for (const surface of siblingsOf(client.surface)) {
      const isListed =
        role === undefined ? surface.role === undefined : surface.role === undefined || surface.role === role
      for (const path of [
        `/${surface.path}`,
        `/${surface.path}/variants`,
        `/${surface.path}/revisions`,
        `/simple/${surface.path}`,
      ]) {
        const { body } = await client.service.post(`${path}/query`, {
          [`${surface.singular}_refs`]: [{ id }],
        })
        expect(body.count, path).to.equal(isListed ? 1 : 0)
      }
    }
  })

  // interface 2.5
  it('filters and references take every spelling', async () => {
    const { id, slug } = await client.artifact()
    for (const spelling of singularsOf(client.surface)) {
      expect(await client.query('', { [spelling]: { slug } })).to.have.length(1)
      expect(await client.query('', { [`${spelling}_refs`]: [{ id }] })).to.have.length(1)
    }
  })

  const freeRole = freeRoleOf(family)
  if (freeRole === undefined) return
  it('flags: roles are the artifact’s at every level, an absent one is false', async () => {
    const mark = client.slug('mark')
    const flagged = await client.made(1, { name: mark, flags: { [freeRole]: true } })
    const plain = await client.made(1, { name: mark })
    const scope = { [`${singular}_refs`]: [{ id: flagged.id }, { id: plain.id }] }
    for (const level of levels) {
      const wanted = async (value: boolean) => {
        const filter = client.wrap(level, { flags: { [freeRole]: value } })
        const rows = await client.query(level, { ...scope, ...filter })
        return rows.map((row) => row[`${singular}_id`] ?? row.id)
      }
      expect(await wanted(true)).to.deep.equal([flagged.id])
      expect(await wanted(false)).to.deep.equal([plain.id])
    }
  })
}
