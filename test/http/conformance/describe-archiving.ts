import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'

/** Archive and unarchive at three levels (interface 4.26, 4.24, 4.27). */
export function describeArchiving(client: SurfaceClient): void {
  const { singular } = client.surface
  /** What queries show of one artifact: its slug, its variants and its versions. */
  const seen = async (id: string, more: object = {}) => {
    const scope = { [`${singular}_refs`]: [{ id }], ...more }
    const variants = await client.query('_variant', scope)
    const revisions = await client.query('_revision', scope)
    return {
      artifacts: (await client.query('', scope)).length,
      variants: variants.map(({ slug }) => slug),
      versions: revisions.map(({ variant_slug, version }) => `${variant_slug} ${version}`),
    }
  }
  const nothing = { artifacts: 0, variants: [], versions: [] }

  // interface 4.26
  it('sets deleted_at and who did it, clears both, and is the same twice', async () => {
    const { id, variantId, revisions } = await client.made(1)
    for (const [level, target] of [
      ['/revisions', revisions[0].id],
      ['/variants', variantId],
      ['', id],
    ] as const) {
      const before = client.record(await client.get(`${level}/${target}`), level && `_${level.slice(1, -1)}`)
      const archived = await client.archive(level, target)
      expect(archived).to.include.keys('deleted_at', 'deleted_by_id')
      expect((await client.archive(level, target)).deleted_at).to.equal(archived.deleted_at)
      const restored = await client.archive(level, target, 'unarchive')
      expect(restored).to.not.have.any.keys('deleted_at', 'deleted_by_id')
      expect((await client.archive(level, target, 'unarchive')).id).to.equal(target)
      const { updated_at: _, updated_by_id: __, ...rest } = restored
      expect(rest).to.deep.equal(before)
    }
  })

  // interface 4.28, 4.23
  it('what is archived, or lies in something archived, cannot be edited; nor is a blank name stored', async () => {
    const { id, variantId } = await client.made(1)
    const put = (level: string, target: string, name: string) =>
      client.put(`${level}/${target}`, client.wrap(level && `_${level.slice(1, -1)}`, { name }))
    for (const name of ['', '  ', '\t\n']) {
      for (const [level, target] of [
        ['', id],
        ['/variants', variantId],
      ] as const)
        expectRefusal(await put(level, target, name), 422, 'invalid_request', 'name', 'blank')
      const simple = `/simple/${client.surface.path}/${id}`
      expect((await client.service.put(simple, client.wrap('', { name }))).status).to.equal(422)
      expect((await client.post('/', client.wrap('', { name }))).status).to.equal(422)
    }
    await client.archive('/variants', variantId)
    expectRefusal(await put('/variants', variantId, 'New'), 409, 'archived', 'variant')
    await client.archive('/variants', variantId, 'unarchive')
    await client.archive('', id)
    expectRefusal(await put('/variants', variantId, 'New'), 409, 'archived', 'artifact')
    expectRefusal(await put('', id, 'New'), 409, 'archived')
    const simple = await client.service.put(
      `/simple/${client.surface.path}/${id}`,
      client.wrap('', { name: 'New' }),
    )
    expectRefusal(simple, 409, 'archived')
  })

  // interface 4.27, 2.20
  it('an archived artifact hides its variants and revisions; include_archived shows all', async () => {
    const { id, slug } = await client.made(2)
    const all = { artifacts: 1, variants: [slug], versions: [`${slug} 1`, `${slug} 2`] }
    expect(await seen(id)).to.deep.equal(all)
    await client.archive('', id)
    expect(await seen(id)).to.deep.equal(nothing)
    expect(await seen(id, { include_archived: true })).to.deep.equal(all)
    await client.archive('', id, 'unarchive')
    expect(await seen(id)).to.deep.equal(all)
  })

  // interface 4.27
  it('an archived variant hides its revisions, but not those a live variant shares', async () => {
    const { id, slug, variantId, revisions } = await client.made(2)
    const body = {
      ...client.wrap('_variant', { slug: client.slug('live') }),
      ...client.wrap('_revision_ref', { id: revisions[0].id }),
    }
    const fork = client.record(await client.post('/variants/fork', body), '_variant')
    await client.archive('/variants', variantId)
    expect(await seen(id)).to.deep.equal({
      artifacts: 1,
      variants: [fork.slug],
      versions: [`${fork.slug} 1`],
    })
    await client.archive('/variants', fork.id)
    expect(await seen(id)).to.deep.equal({ artifacts: 1, variants: [], versions: [] })
    await client.archive('/variants', variantId, 'unarchive')
    expect((await seen(id)).versions).to.deep.equal([`${slug} 1`, `${slug} 2`])
  })

  // interface 4.26, 4.27
  it('unarchiving restores what was visible before: a revision archived by itself stays hidden', async () => {
    const { id, slug, variantId, revisions } = await client.made(3)
    await client.archive('/revisions', revisions[1].id)
    const before = await seen(id)
    expect(before.versions).to.deep.equal([`${slug} 1`, `${slug} 3`])
    await client.archive('/variants', variantId)
    await client.archive('', id)
    expect(await seen(id)).to.deep.equal(nothing)
    await client.archive('', id, 'unarchive')
    expect(await seen(id)).to.deep.equal({ artifacts: 1, variants: [], versions: [] })
    await client.archive('/variants', variantId, 'unarchive')
    expect(await seen(id)).to.deep.equal(before)
    await client.archive('/revisions', revisions[1].id, 'unarchive')
    expect((await seen(id)).versions).to.have.length(3)
  })

  // interface 1.12, 4.25
  it('everything stays readable by id', async () => {
    const { id, variantId, revisions } = await client.made(1)
    await client.archive('/revisions', revisions[0].id)
    await client.archive('/variants', variantId)
    await client.archive('', id)
    for (const path of [`/${id}`, `/variants/${variantId}`, `/revisions/${revisions[0].id}`]) {
      expect((await client.get(path)).status).to.equal(200)
    }
  })

  // interface 4.28
  it('what is archived takes no writes, whichever of the two is archived', async () => {
    const { id, slug, variantId } = await client.made(1)
    const commit = () => client.commit(variantId, client.payload('next'))
    await client.archive('/variants', variantId)
    expectRefusal(await commit(), 409, 'archived', slug)
    await client.archive('/variants', variantId, 'unarchive')
    await client.archive('', id)
    expectRefusal(await commit(), 409, 'archived', slug)
    await client.archive('', id, 'unarchive')
    expect((await commit()).status).to.equal(200)
  })

  it('an archived revision does not stop commits', async () => {
    const { variantId, revisions } = await client.made(1)
    await client.archive('/revisions', revisions[0].id)
    expect((await client.committed(variantId, client.payload('next'))).version).to.equal(2)
  })

  it('is a commit of the caller in the history of the artifact’s meta ref', async () => {
    const { id, slug } = await client.made(0)
    const count = () => Number(client.git(slug, 'rev-list', '--count', 'refs/meta/artifact'))
    const before = count()
    await client.archive('', id)
    expect(count()).to.equal(before + 1)
    await client.archive('', id)
    expect(count()).to.equal(before + 1)
    expect(client.git(slug, 'log', '-1', '--format=%s', 'refs/meta/artifact')).to.match(/^Archive/)
  })
}
