import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import { ADMIN_KEY, type Reply } from '../../support/servers/service.ts'
import type { MadeTestset, TestsetClient } from '../testsets/testset-client.ts'
import { contentsOf, startTestsets } from '../testsets/testset-client.ts'

const FILE = 'k,a\n1,EXPERIMENT\n'
const OF_FILE = [{ k: '1', a: 'EXPERIMENT' }]
const ROWS = [
  { k: '1', a: 'x' },
  { k: '2', a: 'y' },
]

/** A testset whose variant was forked: both have one head, and so one revision. */
interface Forked extends MadeTestset {
  /** The slug and the id of the fork. */
  readonly fork: string
  readonly forkId: string
}

describe('which variant a write goes to that names a revision', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const post = (path: string, body: object): Promise<Reply> => client.service.post(path, body)
  const done = async (reply: Promise<Reply>): Promise<any> => {
    const { status, text, body } = await reply
    expect(status, text).to.equal(200)
    return body
  }
  async function forked(): Promise<Forked> {
    const testset = await client.make(ROWS)
    const fork = `${testset.slug}-try`
    const { testset_variant: variant } = await done(
      post('/testsets/variants/fork', {
        testset_variant: { slug: fork },
        testset_variant_ref: { slug: testset.slug },
      }),
    )
    return { ...testset, fork, forkId: variant.id }
  }
  const rowsOf = async (variant: string): Promise<unknown[]> =>
    contentsOf(
      (await done(post('/testsets/revisions/retrieve', { testset_variant_ref: { slug: variant } })))
        .testset_revision,
    )
  const headsOf = ({ slug }: MadeTestset): string =>
    git(client.repository(slug), ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads'])
  const archive = (level: string, id: string): Promise<any> =>
    done(post(`/testsets/${level}${id}/archive`, {}))
  const addRow = { rows: { add: [{ data: { k: '3' } }] } }

  /** Every write of a testset that may name its variant by a revision only; `more` stands beside it. */
  const WRITES: Readonly<Record<string, (id: string, more: object) => Promise<Reply>>> = {
    'an upload to a revision': (id, more) => {
      const fields = Object.entries(more).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ])
      return client.send(`/testsets/revisions/${id}/upload`, FILE, { fields: Object.fromEntries(fields) })
    },
    'a delta on a base': (id, more) => client.commit({ testset_revision_id: id, delta: addRow, ...more }),
    'data beside a revision': (id, more) =>
      client.commit({ testset_revision_id: id, data: { testcases: [{ data: { k: '9' } }] }, ...more }),
    'a revert': (id, more) => post('/testsets/revisions/revert', { revision: { id }, ...more }),
  }

  for (const [name, write] of Object.entries(WRITES)) {
    describe(name, () => {
      /** A testset of two revisions, so that the latest can be reverted, and a fork of that. */
      async function withHistory(): Promise<Forked & { readonly latest: string }> {
        const testset = await client.make([{ k: '0' }])
        const latest = (await client.change(testset, addRow)).id
        const fork = `${testset.slug}-try`
        const { testset_variant: variant } = await done(
          post('/testsets/variants/fork', {
            testset_variant: { slug: fork },
            testset_variant_ref: { slug: testset.slug },
          }),
        )
        return { ...testset, latest, fork, forkId: variant.id }
      }
      const went = async (reply: Promise<Reply>): Promise<string> =>
        (await done(reply)).testset_revision.variant_slug

      // interface 4.31
      it('is refused where two live variants have the revision as their head, and names both', async () => {
        const testset = await withHistory()
        const before = headsOf(testset)
        const { status, body } = await write(testset.latest, {})
        expect(status).to.equal(409)
        expect(body.code).to.equal('ambiguous_variant')
        expect(body.detail).to.include(`"${testset.slug}", "${testset.fork}"`)
        expect(body.details.candidates.map(({ slug }: any) => slug)).to.deep.equal([
          testset.slug,
          testset.fork,
        ])
        expect(body.details.candidates[1].id).to.equal(testset.forkId)
        expect(headsOf(testset)).to.equal(before)
      })

      // interface 4.30
      it('goes to the variant that is named beside it, by id or by reference', async () => {
        const testset = await withHistory()
        const { slug, fork, forkId, latest } = testset
        const own = git(client.repository(slug), ['rev-parse', slug])
        expect(await went(write(latest, { variant_id: forkId }))).to.equal(fork)
        expect(await went(write(latest, { testset_variant_ref: { slug: fork } }))).to.equal(fork)
        expect(git(client.repository(slug), ['rev-parse', slug])).to.equal(own)
      })

      // interface 4.30
      it('goes to the default variant of the artifact that is named, if that holds the revision', async () => {
        const { id, slug, latest } = await withHistory()
        expect(await went(write(latest, { testset_id: id }))).to.equal(slug)
      })

      // interface 4.30
      it('goes to the only live variant that holds the revision', async () => {
        const { slug, fork, forkId, latest } = await withHistory()
        await archive('variants/', forkId)
        expect(await went(write(latest, {}))).to.equal(slug)
        const other = await withHistory()
        const { testset_variant: home } = await done(
          client.service.get(`/testsets/variants/${other.slug}`) as Promise<Reply>,
        )
        await archive('variants/', home.id)
        expect(await went(write(other.latest, {}))).to.equal(other.fork)
        expect(fork).not.to.equal(other.fork)
      })
    })
  }

  // interface 4.30
  it('the home takes it while it alone has the revision as its head', async () => {
    const testset = await forked()
    const added = await client.change(testset, addRow)
    const { variant_slug: variant } = await client.replaceBy(added.id, FILE)
    expect(variant).to.equal(testset.slug)
    expect(await rowsOf(testset.fork)).to.deep.equal(ROWS)
  })

  it('an older revision that both hold is ambiguous, and one that only the fork holds is not', async () => {
    const testset = await forked()
    await client.change(testset, addRow)
    const shared = await client.send(`/testsets/revisions/${testset.revisionId}/upload`, FILE)
    expect(shared.body.code).to.equal('ambiguous_variant')
    const first = await client.replaceBy(testset.revisionId, FILE, { variant_id: testset.forkId })
    await client.replaceBy(first.id, 'k,a\n5,z\n')
    const { variant_slug: variant, version } = await client.replaceBy(first.id, FILE)
    expect([variant, version]).to.deep.equal([testset.fork, 4])
    expect(await rowsOf(testset.fork)).to.deep.equal(OF_FILE)
  })

  it('a slug of a variant and a version name the variant; a slug of its own does not', async () => {
    const testset = await forked()
    const { variant_slug: variant } = (
      await done(client.send(`/testsets/revisions/${testset.fork}-1/upload`, FILE))
    ).testset_revision
    expect(variant).to.equal(testset.fork)
    const tagged = await client.commit({
      testset_id: testset.id,
      slug: `${testset.slug}-stable.x`,
      delta: addRow,
    })
    await done(
      post('/testsets/variants/fork', {
        testset_variant: { slug: `${testset.slug}-again` },
        testset_revision_ref: { id: tagged.body.testset_revision.id },
      }),
    )
    const reply = await post('/testsets/revisions/revert', { revision: { slug: `${testset.slug}-stable.x` } })
    expect(reply.body.code, reply.text).to.equal('ambiguous_variant')
  })

  it('an upload takes the variant in the query string, too, also where the body is the file', async () => {
    const testset = await forked()
    for (const query of [
      `variant_id=${testset.forkId}`,
      `testset_variant_id=${testset.forkId}`,
      `testset_variant_ref.slug=${testset.fork}`,
      `testset_variant_ref.id=${testset.forkId}`,
      `testset_variant_ref=${encodeURIComponent(JSON.stringify({ slug: testset.fork }))}`,
    ]) {
      const response = await fetch(
        `${client.service.url}/testsets/revisions/${testset.revisionId}/upload?${query}`,
        {
          method: 'POST',
          headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'text/csv' },
          body: FILE,
        },
      )
      const text = await response.text()
      expect(response.status, text).to.equal(200)
      expect(JSON.parse(text).testset_revision.variant_slug, query).to.equal(testset.fork)
    }
    expect(await rowsOf(testset.slug)).to.deep.equal(ROWS)
  })

  it('a delta and a revert take it in the query string, too', async () => {
    const { slug, fork, revisionId } = await forked()
    const commit = await done(
      post(`/testsets/revisions/commit?testset_variant_ref.slug=${fork}`, {
        testset_revision_commit: { testset_revision_id: revisionId, delta: addRow },
      }),
    )
    expect(commit.testset_revision.variant_slug).to.equal(fork)
    const other = await forked()
    const second = await client.change(other, addRow)
    await done(
      post('/testsets/variants/fork', { testset_variant: {}, testset_variant_ref: { slug: other.slug } }),
    )
    const reverted = await done(
      post(`/testsets/revisions/revert?testset_id=${other.id}`, { revision: { id: second.id } }),
    )
    expect(reverted.testset_revision.variant_slug).to.equal(other.slug)
    expect(await rowsOf(slug)).to.deep.equal(ROWS)
  })

  it('what is named beside it has to be of the same testset, and is said once', async () => {
    const testset = await forked()
    const other = await forked()
    const foreign = await client.send(`/testsets/revisions/${testset.revisionId}/upload`, FILE, {
      fields: { variant_id: other.forkId },
    })
    expect([foreign.status, foreign.body.code]).to.deep.equal([400, 'contradictory_request'])
    const twice = await client.send(`/testsets/revisions/${testset.revisionId}/upload`, FILE, {
      fields: { testset_variant_ref: JSON.stringify({ slug: 'a' }), 'testset_variant_ref.slug': 'b' },
    })
    expect(twice.body.code).to.equal('contradictory_request')
    const both = await post('/testsets/revisions/revert', {
      revision: { id: testset.revisionId },
      target: { variant: { slug: testset.fork } },
      variant_id: testset.forkId,
    })
    expect(both.body.code).to.equal('contradictory_request')
    const odd = await client.send(`/testsets/revisions/${testset.revisionId}/upload`, FILE, {
      fields: { testset_variant_ref: JSON.stringify({ slg: 'a' }) },
    })
    expect([odd.status, odd.body.errors?.[0]?.loc]).to.deep.equal([422, ['body', 'testset_variant_ref']])
  })

  // interface 4.31
  it('base_revision_id is a condition and names nothing: alone it is 422, in every family', async () => {
    const { revisionId } = await forked()
    const bodies: Readonly<Record<string, object>> = {
      testset: { data: { testcases: [] } },
      workflow: { data: { parameters: { a: 1 } } },
      environment: { delta: { remove: ['a'] } },
      query: { data: {} },
    }
    for (const [family, body] of Object.entries(bodies)) {
      const path = `/${family === 'query' ? 'queries' : `${family}s`}/revisions/commit`
      const reply = await post(path, {
        [`${family}_revision_commit`]: { base_revision_id: revisionId, ...body },
      })
      expect([reply.status, reply.body.errors?.[0]?.type], reply.text).to.deep.equal([422, 'missing'])
    }
  })

  it('what only archived variants hold is refused as archived', async () => {
    const testset = await forked()
    await archive('variants/', testset.forkId)
    await archive('variants/', testset.slug)
    const reply = await client.send(`/testsets/revisions/${testset.revisionId}/upload`, FILE)
    expect([reply.status, reply.body.code], reply.text).to.deep.equal([409, 'archived'])
  })

  // interface 4.26
  it('archiving a revision needs no variant: the mark is the revision’s', async () => {
    const { revisionId, fork } = await forked()
    await archive('revisions/', revisionId)
    const reply = await post('/testsets/revisions/retrieve', { testset_variant_ref: { slug: fork } })
    expect([reply.status, reply.body.code]).to.deep.equal([404, 'revision_not_found'])
  })

  // Whoever adds a write that takes a revision decides here how its variant is named.
  it('every operation that takes a revision is known, with what says the variant', async () => {
    const document = await done(client.service.get('/openapi.json') as Promise<Reply>)
    const named = new Set<string>()
    for (const [path, operations] of Object.entries<any>(document.paths))
      for (const [method, { requestBody }] of Object.entries<any>(operations)) {
        if (method === 'get' || !/^\/(?:simple\/)?testsets|^\/variants/.test(path)) continue
        const fields = membersOf(requestBody, document)
        const takes = path.includes('/revisions/{') || fields.some((it) => /revision(?:_id|_ref)?$/.test(it))
        if (takes) named.add(path)
      }
    expect([...named].sort()).to.deep.equal(Object.keys(HOW_NAMED).sort())
  })
})

/** The names of all members that a schema of the document knows, at any level. */
function membersOf(schema: unknown, document: any, seen = new Set<unknown>()): string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return []
  seen.add(schema)
  const { $ref: reference, properties = {} } = schema as any
  const named =
    typeof reference === 'string' ? document.components.schemas[reference.split('/').at(-1)!] : undefined
  const below = [named, ...Object.values(schema)].flatMap((it) => membersOf(it, document, seen))
  return [...Object.keys(properties), ...below]
}

/** By path: how the variant that is written to is named. */
const HOW_NAMED: Readonly<Record<string, string>> = {
  '/testsets/revisions/{id}/upload': 'the rule above',
  '/testsets/revisions/commit': 'the rule above, where the base names it',
  '/testsets/revisions': 'the rule above; it is refused where there is a revision',
  '/testsets/revisions/restore': 'the rule above, where there is no target',
  '/testsets/revisions/revert': 'the rule above, where there is no target',
  '/testsets/revisions/cherry-pick': 'the target',
  '/testsets/variants/merge': 'the target',
  '/testsets/variants/fork': 'a new one',
  '/variants/fork': 'a new one',
  '/testsets/revisions/{id}/archive': 'none: the mark is the revision’s',
  '/testsets/revisions/{id}/unarchive': 'none: the mark is the revision’s',
  '/testsets/revisions/{id}/download': 'none: it reads',
  '/testsets/revisions/dependents': 'none: it reads',
  '/testsets/revisions/log': 'none: it reads',
  '/testsets/revisions/query': 'none: it reads',
  '/testsets/revisions/retrieve': 'none: it reads',
  '/testsets/rows/find': 'none: it reads',
  '/testsets/variants/compare': 'none: it reads',
}
