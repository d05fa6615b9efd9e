import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { freeRoleOf, siblingsOf, singularsOf, testedSurfaces } from './tested-surface.ts'

/** Artifacts: created, read, edited (interface 1.8, 4.1, 2.5, 4.7, 4.23). */
export function describeArtifacts(client: SurfaceClient): void {
  const { path, singular, role, family } = client.surface
  const siblings = siblingsOf(client.surface)
  const freeRole = freeRoleOf(family)
  const roles = Object.fromEntries(family.roles.map((name) => [name, false]))

  // interface 1.8, 1.6, 2.2
  it('create answers the record with what was sent, its role, and when it was made', async () => {
    const slug = client.slug()
    const sent = { slug, name: 'Triage', description: '', tags: { team: 'a' }, meta: { n: null, list: [1] } }
    const reply = await client.post('/', client.wrap('', sent))
    const { id, created_at, created_by_id, flags, git_url, ...rest } = client.record(reply)
    expect(reply.body.count).to.equal(1)
    expect(rest).to.deep.equal(sent)
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Date.now() - Date.parse(created_at)).to.be.within(-1000, 60_000)
    expect(created_by_id).to.be.a('string')
    expect(git_url.endsWith(`/git/${family.folder}/${slug}.git`)).to.equal(true)
    expect(flags).to.deep.equal(role === undefined ? undefined : { ...roles, [role]: true })
  })

  // interface 4.1
  it('create makes neither variant nor revision', async () => {
    const { id, slug } = await client.artifact()
    const refs = { [`${singular}_refs`]: [{ id }] }
    expect(await client.query('_variant', refs)).to.deep.equal([])
    expect(await client.query('_revision', refs)).to.deep.equal([])
    expect(client.git(slug, 'for-each-ref', '--format=%(refname)')).to.equal('refs/meta/artifact')
  })

  it('create takes the body under every spelling, and what clients send for nothing', async () => {
    for (const spelling of singularsOf(client.surface)) {
      const slug = client.slug(spelling)
      const body = { [spelling]: { slug, folder_id: slug, nonsense: null }, other: null }
      expect(client.record(await client.post('/', body)).slug).to.equal(slug)
    }
  })

  // interface 4.10
  it('create makes a slug that is left out of the name, or gives 12 hex digits', async () => {
    const made = async (fields: object): Promise<string> =>
      client.record(await client.post('/', client.wrap('', fields))).slug
    const name = client.slug('Große')
    expect(await made({ name })).to.equal(name.toLowerCase().replace('ß', 'ss').replaceAll('_', '-'))
    expect(await made({ name })).to.match(/_2$/)
    const slug = await made({})
    expect(slug).to.match(/^[0-9a-f]{12}$/)
  })

  // interface 1.14
  it('create takes the id from the query string, once', async () => {
    const id = '5f0c9a1b-e2d4-4b00-8000-' + `0000000000${testedSurfaces.findIndex((it) => it.path === path)}1`
    const create = () => client.post(`/?${singular}_id=${id}`, client.wrap('', { slug: client.slug() }))
    expect(client.record(await create()).id).to.equal(id)
    expectRefusal(await create(), 409, 'id_taken', id)
  })

  // interface 4.9, 3.7
  it('create refuses a taken slug, whatever its case, archived or not, on any surface of the family', async () => {
    const { id, slug } = await client.artifact({ slug: client.slug('Taken') })
    await client.archive('', id)
    for (const surface of siblings) {
      const again = { [surface.singular]: { slug: slug.toLowerCase() } }
      const reply = await client.service.post(`/${surface.path}`, again)
      expectRefusal(reply, 409, 'slug_taken', slug.toLowerCase())
      expect(reply.body.conflict).to.deep.equal({ slug: slug.toLowerCase() })
    }
  })

  // interface 1.5
  it('read answers the same record on all surfaces, each in its own envelope', async () => {
    const artifact = await client.artifact({ name: 'One record', tags: { a: { b: 'c' } } })
    for (const surface of siblings) {
      const { body } = await client.service.get(`/${surface.path}/${artifact.id}`)
      expect(body).to.deep.equal({ count: 1, [surface.singular]: artifact })
    }
  })

  // interface 4.23
  it('edit keeps what is left out, and clears what is null', async () => {
    const { id, slug } = await client.artifact({
      name: 'A',
      description: 'B',
      tags: { t: 'x' },
      meta: { m: 1 },
    })
    const first = client.record(
      await client.put(`/${id}`, client.wrap('', { id, name: 'A2', meta: null, slug })),
    )
    expect(first).to.include({ slug, name: 'A2', description: 'B' })
    expect(first.tags).to.deep.equal({ t: 'x' })
    expect(first).to.not.have.property('meta')
    expect(first.updated_at >= first.created_at).to.equal(true)
    const second = client.record(
      await client.put(
        `/${id}`,
        client.wrap('', { description: null, tags: { u: true }, meta: { n: null } }),
      ),
    )
    expect(second).to.not.have.property('description')
    expect([second.name, second.tags, second.meta]).to.deep.equal(['A2', { u: true }, { n: null }])
    expect(client.record(await client.get(`/${id}`))).to.deep.equal(second)
  })

  // interface 4.23, 4.28
  it('edit refuses a body that names another thing than the path, and what is archived', async () => {
    const [one, other] = [await client.artifact(), await client.artifact()]
    const mismatch = await client.put(`/${one.id}`, client.wrap('', { id: other.id, name: 'X' }))
    expectRefusal(mismatch, 400, 'contradictory_request', one.id, other.id)
    await client.archive('', one.id)
    expectRefusal(await client.put(`/${one.id}`, client.wrap('', { name: 'X' })), 409, 'archived', one.slug)
    expect(client.record(await client.get(`/${one.id}`))).to.not.have.property('name')
  })

  // interface 2.1
  it('is there at the root and under /api, with and without a slash at the end', async () => {
    const { id } = await client.artifact()
    for (const url of [`/${path}/${id}`, `/${path}/${id}/`, `/api/${path}/${id}`, `/api/${path}/${id}/`]) {
      expect((await client.service.get(url)).body[singular].id).to.equal(id)
    }
  })

  // interface 3.5
  it('an id that is unknown, or that is of another level, is a 404', async () => {
    const { variantId, revisions } = await client.made(1)
    for (const id of ['00000000-0000-7000-8000-000000000000', variantId, revisions[0].id]) {
      expectRefusal(await client.get(`/${id}`), 404, 'artifact_not_found', id)
    }
  })

  it('there is no DELETE, and no GET of a list', async () => {
    const { id } = await client.artifact()
    const gone = await client.service.call('DELETE', `/${path}/${id}`)
    expectRefusal(gone, 405, 'method_not_allowed')
    expect(gone.headers.get('allow')).to.include('PUT')
    expectRefusal(await client.get('/'), 405, 'method_not_allowed')
  })

  if (freeRole === undefined) {
    it('flags that are no roles are refused', async () => {
      const { status, body } = await client.post('/', client.wrap('', { flags: { is_snippet: true } }))
      expect([status, body.code]).to.deep.equal([422, 'unknown_field'])
    })
    return
  }

  // interface 1.4
  it('role flags: one sent sets all of them; flags that are derived may be sent back', async () => {
    const { flags } = await client.artifact({
      flags: { [freeRole]: true, ...(family.derived && { [family.derived.flag]: true }) },
    })
    expect(flags).to.deep.equal({ ...roles, ...(role && { [role]: true }), [freeRole]: true })
    const denied = role && (await client.artifact({ flags: { [role]: false } }))
    if (role) expect(denied.flags[role]).to.equal(true)
  })

  it('edit keeps role flags that are left out; null clears all but the role of the surface', async () => {
    const { id, flags } = await client.artifact({ flags: { [freeRole]: true } })
    const kept = client.record(await client.put(`/${id}`, client.wrap('', { name: 'Kept' })))
    expect(kept.flags).to.deep.equal(flags)
    const cleared = client.record(await client.put(`/${id}`, client.wrap('', { flags: null })))
    expect(cleared.flags).to.deep.equal(role === undefined ? undefined : { ...roles, [role]: true })
  })
}
