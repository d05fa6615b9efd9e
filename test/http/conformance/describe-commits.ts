import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { siblingsOf, singularsOf } from './tested-surface.ts'

/** Commits (interface 4.3, 2.24, 2.5, 4.5, 4.1, 4.12, 4.18, 4.19). */
export function describeCommits(client: SurfaceClient): void {
  const { singular, family } = client.surface
  const singulars = singularsOf(client.surface)
  const { data } = client.payload('sent')

  // interface 1.2, 4.5
  it('versions count from 1, and are the depth in git', async () => {
    const { slug, variantId, revisions } = await client.made(3)
    expect(revisions.map(({ version }) => version)).to.deep.equal([1, 2, 3])
    expect(client.git(slug, 'rev-list', '--first-parent', '--count', slug)).to.equal('3')
    for (const { id, version } of revisions) {
      const abbreviated = id.replaceAll('-', '').slice(0, 12)
      expect(client.git(slug, 'rev-list', '--first-parent', '--count', abbreviated)).to.equal(String(version))
    }
    expect((await client.committed(variantId, { data })).version).to.equal(4)
  })

  // interface 4.19, 1.16
  it('author, date and message are the commit’s own; the message shows no trailer', async () => {
    const { slug, variantId } = await client.made(0)
    const message = 'Cooler\n\nLess temperature.\n\nVariant: of opinion\nSlug: sluggish'
    const revision = await client.committed(variantId, { message, data })
    const [author, date] = client.git(slug, 'log', '-1', '--format=%an <%ae>%n%cI', slug).split('\n')
    expect(revision.author).to.equal(author)
    expect(Date.parse(revision.date)).to.equal(Date.parse(date ?? ''))
    expect(revision.date).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(revision.message).to.equal(message)
    expect(client.git(slug, 'log', '-1', '--format=%s', slug)).to.equal('Cooler')
    expect(client.git(slug, 'log', '-1', '--format=%(trailers:key=Variant,valueonly)', slug)).to.include(slug)
  })

  // interface 4.19
  it('a message left out is absent', async () => {
    const { variantId } = await client.made(0)
    expect(await client.committed(variantId, { data })).to.not.have.property('message')
  })

  // interface 1.10, 2.5
  it('takes every spelling of wrapper and ids, and answers its own', async () => {
    const { id, variantId } = await client.made(0)
    let version = 0
    for (const wrapper of singulars.flatMap((it) => [`${it}_revision_commit`, `${it}_revision`])) {
      for (const spelling of [...singulars.map((it) => `${it}_`), '']) {
        const parent = `${spelling || 'artifact_'}id`
        const fields = { [`${spelling}variant_id`]: variantId, [parent]: id, data }
        const revision = client.record(
          await client.post('/revisions/commit', { [wrapper]: fields }),
          '_revision',
        )
        expect(revision.version).to.equal(++version)
        expect(revision).to.include({
          artifact_id: id,
          [`${family.singular}_id`]: id,
          [`${singular}_id`]: id,
        })
        expect(revision).to.include({ variant_id: variantId, [`${singular}_variant_id`]: variantId })
      }
    }
  })

  // interface 4.17
  it('equal data makes a new revision; git keeps its bytes once', async () => {
    const { slug, variantId } = await client.made(0)
    const [one, two] = [
      await client.committed(variantId, { data }),
      await client.committed(variantId, { data }),
    ]
    expect([one.version, two.version]).to.deep.equal([1, 2])
    expect(one.id).to.not.equal(two.id)
    expect(client.git(slug, 'rev-parse', `${slug}~1^{tree}`)).to.equal(
      client.git(slug, 'rev-parse', `${slug}^{tree}`),
    )
  })

  // interface 4.3, 4.33
  it('full data replaces all; header fields are the revision’s own and not inherited', async () => {
    const { variantId } = await client.made(1)
    const header = { name: 'N', description: 'D', tags: { a: 'b' }, meta: { c: [1, null] } }
    const first = await client.committed(variantId, { ...client.payload('a', 'b'), ...header })
    expect(first).to.deep.include(header)
    expect(client.marks(first)).to.deep.equal(['a', 'b'])
    const second = await client.committed(variantId, client.payload('c'))
    expect(client.marks(second)).to.deep.equal(['c'])
    expect(second).to.not.have.any.keys('name', 'description', 'tags', 'meta')
  })

  // interface 4.2
  it('a first revision may be without data, by either route, but not a second by revisions/', async () => {
    const { id } = await client.artifact()
    const seeded = await client.variant(id)
    const fields = { [`${singular}_variant_id`]: seeded.id, message: 'Begin' }
    const seed = () => client.post('/revisions/', client.wrap('_revision', fields))
    const revision = client.record(await seed(), '_revision')
    expect(revision).to.include({ version: 1, message: 'Begin' }).and.to.not.have.property('data')
    expectRefusal(await seed(), 409, 'revision_exists', seeded.slug)
    const committed = await client.variant(id)
    expect(await client.committed(committed.id, {})).to.not.have.property('data')
    expect((await client.committed(committed.id, { message: 'again' })).version).to.equal(2)
  })

  // interface 4.4
  it('without data or delta is refused once there is a payload', async () => {
    const { variantId } = await client.made(1)
    expectRefusal(
      await client.commit(variantId, { message: 'nothing' }),
      400,
      'missing_payload',
      'data',
      'delta',
    )
  })

  // interface 4.4
  it('a delta changes the latest payload', async () => {
    const { variantId } = await client.made(0)
    await client.committed(variantId, client.payload('a', 'b'))
    const revision = await client.committed(variantId, { delta: family.delta('c', 'a', 'b') })
    expect(revision.version).to.equal(2)
    expect(client.marks(revision)).to.deep.equal(['a', 'b', 'c'])
  })

  it('a delta on nothing starts from nothing', async () => {
    const { variantId } = await client.made(0)
    const revision = await client.committed(variantId, { delta: family.delta('first') })
    expect(client.marks(revision)).to.deep.equal(['first'])
  })

  // interface 4.12, 4.13
  it('a chosen slug is a tag in git and names the revision; others are <variant>-<version>', async () => {
    const { slug, variantId } = await client.made(1)
    const named = await client.committed(variantId, { data, slug: client.slug('Launch') })
    expect((await client.committed(variantId, { data })).slug).to.equal(`${slug}-3`)
    const commit = client.git(slug, 'rev-parse', `refs/tags/${named.slug}^{commit}`)
    expect(commit).to.equal(client.git(slug, 'rev-parse', `${slug}~1`))
    expect((await client.retrieved(client.wrap('_revision_ref', { slug: named.slug }))).id).to.equal(named.id)
    const again = await client.commit(variantId, { data, slug: named.slug.toLowerCase() })
    expectRefusal(again, 409, 'slug_taken', named.slug.toLowerCase())
    expect(again.body.conflict).to.deep.equal({ slug: named.slug.toLowerCase() })
  })

  // interface 4.14
  it('a slug that reads as a variant and a number is refused, and so is a variant that would read so', async () => {
    const { id, slug, variantId } = await client.made(1)
    expectRefusal(await client.commit(variantId, { data, slug: `${slug}-7` }), 409, 'slug_taken', `${slug}-7`)
    const base = client.slug('base')
    await client.committed(variantId, { data, slug: `${base}-1` })
    const fields = { [`${singular}_id`]: id, slug: base }
    expectRefusal(await client.post('/variants', client.wrap('_variant', fields)), 409, 'slug_taken', base)
  })

  // interface 4.13
  it('a tag made with git is one more slug of that revision', async () => {
    const { slug, revisions } = await client.made(2)
    const tag = client.slug('by_hand')
    client.git(slug, 'tag', tag, `${slug}~1`)
    const annotated = client.slug('annotated')
    client.git(slug, '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'tag', '-m', 'Note', annotated, slug)
    const [first, second] = revisions
    expect((await client.retrieved(client.wrap('_revision_ref', { slug: tag }))).id).to.equal(first.id)
    expect((await client.retrieved(client.wrap('_revision_ref', { slug: annotated }))).id).to.equal(second.id)
  })

  // interface 2.24
  it('base_revision_id holds the commit to the latest: 409 names the head that is', async () => {
    const { variantId, revisions } = await client.made(2)
    const [first, second] = revisions
    const third = await client.committed(variantId, { data, base_revision_id: second.id })
    const stale = await client.commit(variantId, { data, base_revision_id: first.id })
    expectRefusal(stale, 409, 'revision_conflict', first.id, third.id)
    expect(stale.body.details).to.deep.equal({ base_revision_id: first.id, current_revision_id: third.id })
    expect(await client.log(variantId)).to.have.length(3)
  })

  // interface 2.24
  it('If-Match compares the revision id alone, from whichever answer the tag came', async () => {
    const { variantId, revisions } = await client.made(2)
    const tags = []
    for (const { path } of siblingsOf(client.surface))
      tags.push((await client.service.get(`/${path}/revisions/${revisions[1].id}`)).headers.get('etag') ?? '')
    const retrieved = await client.retrieve(client.wrap('_revision_ref', { id: revisions[1].id }))
    tags.push(retrieved.headers.get('etag') ?? '')
    expect(new Set(tags).size).to.equal(tags.length)
    const [mine = '', other = ''] = tags
    const third = client.record(await client.commit(variantId, { data }, { 'if-match': mine }), '_revision')
    expectRefusal(
      await client.commit(variantId, { data }, { 'if-match': other }),
      412,
      'precondition_failed',
      third.id,
    )
    const tag = `"${third.id}.anything"`
    expect((await client.commit(variantId, { data }, { 'if-match': tag })).status).to.equal(200)
    expect((await client.commit(variantId, { data }, { 'if-match': '*' })).status).to.equal(200)
  })

  // interface 4.24
  it('the base is the latest that is not archived; the parent in git is the head all the same', async () => {
    const { slug, variantId, revisions } = await client.made(2)
    const [first, second] = revisions
    await client.archive('/revisions', second.id)
    expectRefusal(
      await client.commit(variantId, { data, base_revision_id: second.id }),
      409,
      'revision_conflict',
    )
    const third = await client.committed(variantId, {
      delta: family.delta('more', 'n1'),
      base_revision_id: first.id,
    })
    expect(third.version).to.equal(3)
    expect(client.marks(third)).to.deep.equal(['n1', 'more'])
    expect(
      client.git(slug, 'rev-parse', `${slug}~1`).startsWith(second.id.replaceAll('-', '').slice(0, 12)),
    ).to.equal(true)
  })

  // interface 4.16
  it('of commits that come at once all succeed, with consecutive versions; with one base, one does', async () => {
    const { slug, variantId, revisions } = await client.made(1)
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) => client.committed(variantId, client.payload(`of ${n}`))),
    )
    expect(all.map(({ version }) => version).sort((a, b) => a - b)).to.deep.equal([2, 3, 4, 5, 6, 7, 8, 9])
    expect(client.git(slug, 'rev-list', '--count', slug)).to.equal('9')
    const head = await client.retrieved(client.wrap('_variant_ref', { id: variantId }))
    expect(head.id).to.not.equal(revisions[0].id)
    const rivals = await Promise.all(
      Array.from({ length: 5 }, () => client.commit(variantId, { data, base_revision_id: head.id })),
    )
    expect(rivals.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409])
  })

  // interface 4.6
  it('there is no PUT of a revision', async () => {
    const { revisions } = await client.made(1)
    const reply = await client.put(
      `/revisions/${revisions[0].id}`,
      client.wrap('_revision', { message: 'X' }),
    )
    expectRefusal(reply, 405, 'method_not_allowed', 'PUT')
    expect(reply.headers.get('allow')).to.include('GET')
  })

  it('files that a person adds with git are carried over by the next commit', async () => {
    const { slug, variantId } = await client.made(1)
    const blob = client.git(slug, 'hash-object', '-w', '/dev/null')
    const tree = client.git(slug, 'ls-tree', slug)
    const withReadme = git(client.repository(slug), ['mktree'], `${tree}\n100644 blob ${blob}\tREADME.md\n`)
    const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org']
    const commitId = client.git(
      slug,
      ...identity,
      'commit-tree',
      withReadme,
      '-p',
      slug,
      '-m',
      'Add a readme',
    )
    client.git(slug, 'update-ref', `refs/heads/${slug}`, commitId)
    const pushed = await client.retrieved(client.wrap('_variant_ref', { slug }))
    expect(pushed).to.include({ version: 2, message: 'Add a readme' })
    // No trailer says where it was made, so its home is the oldest variant that holds it.
    const byId = await client.retrieved(client.wrap('_revision_ref', { id: pushed.id }))
    expect(byId.variant_id).to.equal(variantId)
    await client.committed(variantId, client.payload('next'))
    expect(client.git(slug, 'ls-tree', '--name-only', slug).split('\n')).to.have.members([
      'README.md',
      ...family.files,
    ])
  })
}
