import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'
import { expectRefusal } from './surface-client.ts'
import { workflows } from './tested-family.ts'
import { singularsOf } from './tested-surface.ts'

/** Retrieve by reference (interface 5.1, 5.3, 5.7, 4.24, 4.22, 5.2, 5.15). */
export function describeRetrieval(client: SurfaceClient): void {
  const { singular } = client.surface
  const [A, V, R] = [`${singular}_ref`, `${singular}_variant_ref`, `${singular}_revision_ref`] as const

  /**
   * Two artifacts. `one` has the default variant `one` with two revisions (the first one named) and the variant `side`
   * with one; `two` has a default variant of another slug, with one revision.
   */
  const arranged = async () => {
    const { id, slug, variantId } = await client.made(0)
    const name = client.slug('named')
    const first = await client.committed(variantId, { ...client.payload('first'), slug: name })
    const second = await client.committed(variantId, client.payload('second'))
    const side = await client.variant(id, { slug: client.slug('side') })
    const aside = await client.committed(side.id, client.payload('aside'))
    const two = await client.artifact()
    const main = await client.variant(two.id, { slug: client.slug('main') })
    const other = await client.committed(main.id, client.payload('other'))
    return {
      one: { id, slug, variantId, first, second, name },
      side: { id: side.id, slug: side.slug, aside },
      two: { id: two.id, slug: two.slug, main: main.slug, mainId: main.id, other },
    }
  }
  let things: Awaited<ReturnType<typeof arranged>>
  before(async () => {
    things = await arranged()
  })

  type Things = typeof things
  type Case = readonly [
    name: string,
    refs: (of: Things) => object,
    found: (of: Things) => { readonly id: string },
  ]
  const found: readonly Case[] = [
    ['a revision’s id', ({ one }) => ({ [R]: { id: one.first.id } }), ({ one }) => one.first],
    ['a revision’s slug', ({ one }) => ({ [R]: { slug: one.second.slug } }), ({ one }) => one.second],
    ['a revision’s chosen slug', ({ one }) => ({ [R]: { slug: one.name } }), ({ one }) => one.first],
    ['<variant>-<version>', ({ one }) => ({ [R]: { slug: `${one.slug}-1` } }), ({ one }) => one.first],
    [
      'a variant’s slug and a version',
      ({ side }) => ({ [R]: { slug: side.slug, version: 1 } }),
      ({ side }) => side.aside,
    ],
    [
      'an artifact’s slug and a version',
      ({ two }) => ({ [R]: { slug: two.slug, version: 1 } }),
      ({ two }) => two.other,
    ],
    [
      'a chosen slug and its version',
      ({ one }) => ({ [R]: { slug: one.name, version: 1 } }),
      ({ one }) => one.first,
    ],
    [
      'a version as a string',
      ({ one }) => ({ [R]: { slug: one.slug, version: '2' } }),
      ({ one }) => one.second,
    ],
    ['a variant’s id', ({ side }) => ({ [V]: { id: side.id } }), ({ side }) => side.aside],
    ['a variant’s slug', ({ one }) => ({ [V]: { slug: one.slug } }), ({ one }) => one.second],
    [
      'a variant with a version',
      ({ one }) => ({ [V]: { slug: one.slug, version: 1 } }),
      ({ one }) => one.first,
    ],
    [
      'a variant and a revision’s version',
      ({ one }) => ({ [V]: { id: one.variantId }, [R]: { version: 1 } }),
      ({ one }) => one.first,
    ],
    [
      'an artifact’s id: its default variant',
      ({ one }) => ({ [A]: { id: one.id } }),
      ({ one }) => one.second,
    ],
    [
      'an artifact’s slug: its default variant',
      ({ one }) => ({ [A]: { slug: one.slug } }),
      ({ one }) => one.second,
    ],
    [
      'an artifact with a version',
      ({ one }) => ({ [A]: { slug: one.slug, version: 1 } }),
      ({ one }) => one.first,
    ],
    [
      'an artifact and a revision’s version',
      ({ one }) => ({ [A]: { slug: one.slug }, [R]: { version: 1 } }),
      ({ one }) => one.first,
    ],
    [
      'an artifact and a variant in it',
      ({ one, side }) => ({ [A]: { slug: one.slug }, [V]: { slug: side.slug } }),
      ({ side }) => side.aside,
    ],
    [
      'all three',
      ({ one }) => ({ [A]: { id: one.id }, [V]: { id: one.variantId }, [R]: { id: one.first.id } }),
      ({ one }) => one.first,
    ],
    [
      'a revision before another variant',
      ({ one, two }) => ({ [V]: { id: two.mainId }, [R]: { id: one.first.id } }),
      ({ one }) => one.first,
    ],
    [
      'a revision before another artifact',
      ({ one, two }) => ({ [A]: { id: two.id }, [R]: { id: one.first.id } }),
      ({ one }) => one.first,
    ],
    [
      'a variant before another artifact',
      ({ side, two }) => ({ [A]: { id: two.id }, [V]: { id: side.id } }),
      ({ side }) => side.aside,
    ],
    [
      'a variant before an environment',
      ({ side }) => ({ environment_ref: { slug: 'production' }, [V]: { id: side.id } }),
      ({ side }) => side.aside,
    ],
    [
      'null as if it were absent',
      ({ side }) => ({ [R]: null, [V]: { id: side.id, slug: null } }),
      ({ side }) => side.aside,
    ],
  ]
  for (const [name, refs, which] of found) {
    // interface 5.1, 5.2, 5.3
    it(`by ${name}`, async () => {
      const revision = await client.retrieved({ ...refs(things) })
      const wanted = which(things)
      expect(revision.id).to.equal(wanted.id)
      expect(revision).to.deep.equal(wanted)
    })
  }

  type Missing = readonly [name: string, refs: (of: Things) => object, status: number, code: string]
  const missing: readonly Missing[] = [
    [
      'a variant that is in another artifact',
      ({ side, two }) => ({ [A]: { slug: two.slug }, [V]: { slug: side.slug } }),
      404,
      'variant_not_found',
    ],
    [
      'a slug that is no revision of the variant beside it',
      ({ one, side }) => ({ [V]: { id: side.id }, [R]: { slug: one.name } }),
      404,
      'revision_not_found',
    ],
    [
      'a slug that is no revision of the artifact beside it',
      ({ one, two }) => ({ [A]: { id: two.id }, [R]: { slug: one.name } }),
      404,
      'revision_not_found',
    ],
    [
      'a chosen slug with another version',
      ({ one }) => ({ [R]: { slug: one.name, version: 2 } }),
      404,
      'revision_not_found',
    ],
    [
      'a variant’s slug as a revision’s',
      ({ side }) => ({ [R]: { slug: side.slug } }),
      404,
      'revision_not_found',
    ],
    [
      'a revision’s slug as a variant’s',
      ({ one }) => ({ [V]: { slug: one.name } }),
      404,
      'variant_not_found',
    ],
    [
      'a version that is not there',
      ({ one }) => ({ [R]: { slug: one.slug, version: 3 } }),
      404,
      'revision_not_found',
    ],
    [
      'an empty revision reference before a variant',
      ({ one }) => ({ [R]: {}, [V]: { id: one.variantId } }),
      400,
      'incomplete_reference',
    ],
  ]
  /** Environments are not found through environments. */
  const besides: readonly Missing[] =
    A === 'environment_ref'
      ? []
      : [
          [
            'an environment before an artifact',
            ({ one }) => ({ environment_ref: { slug: 'none' }, [A]: { id: one.id } }),
            404,
            'environment_not_found',
          ],
        ]
  for (const [name, refs, status, code] of [...missing, ...besides]) {
    // interface 5.8
    it(`not by ${name}`, async () => expectRefusal(await client.retrieve({ ...refs(things) }), status, code))
  }

  it('takes references under every spelling', async () => {
    for (const spelling of singularsOf(client.surface)) {
      const { id, slug, first, second } = things.one
      const ask = (refs: object) => client.retrieved({ ...refs })
      expect((await ask({ [`${spelling}_ref`]: { id } })).id).to.equal(second.id)
      expect((await ask({ [`${spelling}_variant_ref`]: { slug } })).id).to.equal(second.id)
      expect((await ask({ [`${spelling}_revision_ref`]: { id: first.id } })).id).to.equal(first.id)
    }
  })

  // interface 5.7, 5.9
  it('a version counts on the artifact of that slug, which is older than a variant elsewhere', async () => {
    const { two } = things
    const rival = await client.variant(things.one.id, { slug: two.slug })
    const revision = await client.committed(rival.id, client.payload('rival'))
    const found = await client.retrieved({ [R]: { slug: two.slug, version: 1 } })
    expect(found.id).to.equal(two.other.id)
    const beside = { [A]: { id: things.one.id }, [R]: { slug: two.slug, version: 1 } }
    expect((await client.retrieved(beside)).id).to.equal(revision.id)
  })

  // interface 5.7
  it('of one artifact, a version counts on the variant of that slug before the artifact itself', async () => {
    const { id, slug } = await client.artifact()
    const [first, own] = [
      await client.variant(id, { slug: client.slug('main') }),
      await client.variant(id, { slug }),
    ]
    await client.committed(first.id, client.payload('default'))
    const revision = await client.committed(own.id, client.payload('own'))
    expect((await client.retrieved({ [R]: { slug, version: 1 } })).id).to.equal(revision.id)
  })

  // interface 5.15
  it('says through which artifact, variant and revision it went', async () => {
    const { one } = things
    const { body } = await client.retrieve({ [V]: { id: one.variantId } })
    expect(body.retrieval_info).to.deep.equal({
      references: {
        [singular]: { id: one.id, slug: one.slug },
        [`${singular}_variant`]: { id: one.variantId, slug: one.slug },
        [`${singular}_revision`]: { id: one.second.id, slug: one.second.slug, version: 2 },
      },
    })
  })

  if (client.surface.family === workflows) describeBeside(client)

  // interface 4.24, 4.25
  it('the latest skips what is archived by itself; an id and a version never do', async () => {
    const { id, slug, variantId, revisions } = await client.made(3)
    const [first, second, third] = revisions
    await client.archive('/revisions', third.id)
    await client.archive('/revisions', second.id)
    for (const refs of [{ [V]: { id: variantId } }, { [A]: { id } }, { [V]: { slug } }]) {
      expect((await client.retrieved(refs)).id).to.equal(first.id)
    }
    for (const ref of [{ id: third.id }, { slug, version: 3 }, { slug: `${slug}-3` }]) {
      const revision = await client.retrieved({ [R]: ref })
      expect(revision.id).to.equal(third.id)
      expect(revision.deleted_at).to.be.a('string')
    }
    await client.archive('/revisions', first.id)
    expectRefusal(await client.retrieve({ [V]: { id: variantId } }), 404, 'revision_not_found', slug)
    await client.archive('/revisions', third.id, 'unarchive')
    expect((await client.retrieved({ [V]: { id: variantId } })).id).to.equal(third.id)
  })

  it('finds in archived variants and artifacts as before', async () => {
    const { id, slug, variantId, revisions } = await client.made(1)
    await client.archive('/variants', variantId)
    await client.archive('', id)
    for (const refs of [{ [R]: { id: revisions[0].id } }, { [V]: { slug } }, { [A]: { slug } }]) {
      expect((await client.retrieved(refs)).id).to.equal(revisions[0].id)
    }
  })

  // interface 2.23
  it('is answered under GET with dotted parameters too', async () => {
    const { one } = things
    const get = async (query: string) =>
      client.record(await client.get(`/revisions/retrieve?${query}`), '_revision')
    expect((await get(`${V}.slug=${one.slug}`)).id).to.equal(one.second.id)
    expect((await get(`${R}.slug=${one.slug}&${R}.version=1`)).id).to.equal(one.first.id)
    expect((await get(`${A}.id=${one.id}&${R}.version=1`)).id).to.equal(one.first.id)
    const posted = await client.retrieve({ [V]: { slug: one.slug } })
    const got = await client.get(`/revisions/retrieve?${V}.slug=${one.slug}`)
    expect(got.text).to.equal(posted.text)
    expect(got.headers.get('etag')).to.equal(posted.headers.get('etag'))
  })
}

/** What a retrieve answers beside the revision where it is asked to (interface 5.15, 2.21). */
function describeBeside(client: SurfaceClient): void {
  const { singular } = client.surface
  const [V, R] = [`${singular}_variant_ref`, `${singular}_revision_ref`] as const

  // interface 5.15
  it('says where the revision stands, and where it comes from, if that is asked', async () => {
    const { id, slug, variantId, revisions } = await client.made(3)
    const [first, second, third] = revisions
    const asked = { include_head: true, include_provenance: true }
    const ask = async (): Promise<any> =>
      (await client.retrieve({ [R]: { id: first.id }, [V]: { id: variantId }, ...asked })).body
    const { retrieval_info: info, provenance } = await ask()
    expect(info.head).to.deep.equal({ id: third.id, slug: third.slug, version: 3 })
    expect(info).not.to.have.property('archived')
    expect(provenance).to.deep.equal((await client.get(`/revisions/${first.id}/provenance`)).body.provenance)
    await client.archive('/revisions', third.id)
    expect((await ask()).retrieval_info.head.id).to.equal(second.id)
    await client.archive('/revisions', first.id)
    expect((await ask()).retrieval_info.archived).to.equal('revision')
    await client.archive('/variants', variantId)
    expect((await ask()).retrieval_info.archived).to.equal('variant')
    await client.archive('', id)
    expect((await ask()).retrieval_info.archived).to.equal('artifact')
    const got = await client.get(`/revisions/retrieve?${V}.slug=${slug}&include_head=true`)
    expect(got.body.retrieval_info.head.id).to.equal(second.id)
    expect(got.body).not.to.have.property('provenance')
  })

  // interface 2.21
  it('has another entity tag once what is answered beside the revision has changed', async () => {
    const { variantId, revisions } = await client.made(1)
    const ask = async (): Promise<string | null> => {
      const asked = { [R]: { id: revisions[0].id }, [V]: { id: variantId }, include_head: true }
      return (await client.retrieve(asked)).headers.get('etag')
    }
    const before = await ask()
    expect(await ask()).to.equal(before)
    await client.committed(variantId, client.payload('next'))
    expect(await ask()).not.to.equal(before)
  })
}
