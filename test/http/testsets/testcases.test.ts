import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { MadeTestset, TestsetClient } from './testset-client.ts'
import { refusal, startTestsets } from './testset-client.ts'

describe('testcases', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const get = (id: string | undefined) => client.service.get(`/testcases/${id}`)
  const contentOf = async (id: string | undefined): Promise<unknown> => {
    const { status, text, body } = await get(id)
    expect(status, text).to.equal(200)
    const { testcase_dedup_id: _, ...content } = body.testcase.data
    return content
  }
  const numbersOf = (body: any): unknown[] => body.testcases.map((testcase: any) => testcase.data.n)
  const query = async (body: object): Promise<any> => {
    const reply = await client.service.post('/testcases/query', body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const numbered = (count: number): Promise<MadeTestset> =>
    client.make(Array.from({ length: count }, (_, n) => ({ n })))

  describe('by id', () => {
    it('answers the content, keys sorted, with the testset it is of', async () => {
      const testset = await client.make([{ b: 1, a: { d: 1, c: 2 } }])
      const { body, text } = await get(testset.ids[0]?.toUpperCase())
      expect(body.testcase).to.include({ id: testset.ids[0], testset_id: testset.id, set_id: testset.id })
      expect(text).to.include('"data":{"a":{"c":2,"d":1},"b":1,"testcase_dedup_id":"')
    })

    // interface 8.2, 1.12
    it('for ever: after the row was edited, removed, and everything archived', async () => {
      const testset = await numbered(3)
      const [one, two, three] = testset.ids
      const edited = await client.change(testset, { rows: { replace: [{ id: one, data: { n: 'new' } }] } })
      await client.change(testset, { rows: { remove: [two, edited.data.testcase_ids[0]] } })
      const gone = [one, two, three, edited.data.testcase_ids[0]]
      const contents = [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 'new' }]
      expect(await Promise.all(gone.map(contentOf))).to.deep.equal(contents)
      await client.service.post(`/testsets/revisions/${testset.revisionId}/archive`)
      await client.service.post(`/testsets/${testset.id}/archive`)
      expect(await Promise.all(gone.map(contentOf))).to.deep.equal(contents)
    })

    it('of a fork too, and of a revision that only a tag holds', async () => {
      const testset = await numbered(1)
      await client.service.post('/testsets/variants/fork', {
        testset_variant: { slug: `${testset.slug}-fork` },
        testset_variant_ref: { slug: testset.slug },
      })
      const { body } = await client.service.post('/testsets/variants/query', {
        testset_variant_refs: [{ slug: `${testset.slug}-fork` }],
      })
      const added = await client.commit({
        testset_variant_id: body.testset_variants[0].id,
        delta: { rows: { add: [{ data: { n: 'fork' } }] } },
      })
      const [, id] = added.body.testset_revision.data.testcase_ids
      expect(await contentOf(id)).to.deep.equal({ n: 'fork' })
      const folder = client.repository(testset.slug)
      git(folder, ['tag', `${testset.slug}-kept`, `${testset.slug}-fork`])
      git(folder, ['branch', '-D', `${testset.slug}-fork`])
      expect(await contentOf(id)).to.deep.equal({ n: 'fork' })
      const every = await query({ testset_id: testset.id })
      expect(numbersOf(every)).to.deep.equal([0, 'fork'])
    })

    it('never what is no row: columns.json, flags of a row, revision.json, meta commits, other blobs', async () => {
      const testset = await client.make([], {
        data: { testcases: [{ data: { n: 0 }, tags: { of: 'row' } }] },
        description: 'a header, so that there is a revision.json',
      })
      const folder = client.repository(testset.slug)
      const head = git(folder, ['rev-parse', 'HEAD'])
      const blob = git(folder, ['hash-object', '-w', '--stdin'], '{"n":"loose"}\n')
      const readme = git(folder, ['hash-object', '-w', '--stdin'], '{"n":"readme"}\n')
      const tree = git(folder, ['ls-tree', 'HEAD'])
      const other = git(folder, ['mktree'], `100644 blob ${readme}\tXX.json\n`)
      const root = git(
        folder,
        ['mktree'],
        `${tree}\n100644 blob ${readme}\tREADME.json\n040000 tree ${other}\tother\n`,
      )
      const commit = git(folder, ['commit-tree', root, '-p', head, '-m', 'A README'])
      git(folder, ['update-ref', 'refs/heads/' + testset.slug, commit])
      const idOf = (object: string): string => {
        const oid = git(folder, ['rev-parse', object])
        return idLike(testset.revisionId, oid)
      }
      expect(idOf(`${head}`)).to.equal(testset.revisionId)
      const row = git(folder, ['ls-tree', '-r', '--name-only', 'HEAD', 'testcases/']).split('\n')
      expect(row).to.deep.equal(['testcases/00/00/01.json', 'testcases/00/00/01.meta.json'])
      expect(await contentOf(idOf('HEAD:testcases/00/00/01.json'))).to.deep.equal({ n: 0 })
      for (const object of [
        'HEAD:testcases/00/00/01.meta.json',
        'HEAD:columns.json',
        'HEAD:revision.json',
        'HEAD:README.json',
        'HEAD:other/XX.json',
        'HEAD',
        'HEAD^{tree}',
        'refs/meta/artifact',
        'refs/meta/artifact:artifact.json',
        blob,
      ])
        expect(refusal(await get(idOf(object))), object).to.match(/^404 testcase_not_found/)
    })

    it('unknown is 404, ill-formed 422; they are named', async () => {
      const unknown = '0190a000-0000-8000-8000-000000000001'
      expect(refusal(await get(unknown))).to.equal(
        `404 testcase_not_found: There is no testcase with the id ${unknown}.`,
      )
      expect((await get('nonsense')).status).to.equal(422)
      for (const [method, status] of [
        ['PUT', 405],
        ['DELETE', 405],
      ] as const)
        expect((await client.service.call(method, `/testcases/${unknown}`, {})).status).to.equal(status)
    })
  })

  describe('GET /testcases', () => {
    // interface 8.29
    it('keeps the order and repeats what is repeated, testcase_id before testcase_ids; unknown ones are left out', async () => {
      const { ids } = await numbered(3)
      const [zero, one, two] = ids
      const unknown = '0190a000-0000-8000-8000-000000000001'
      const reply = await client.service.get(
        `/testcases/?testcase_ids=${two},%20${zero},,${two},${unknown}&testcase_id=${one}`,
      )
      expect(numbersOf(reply.body)).to.deep.equal([1, 2, 0, 2])
      expect(reply.body.count).to.equal(4)
    })

    it('without an id is 400, with an ill-formed one 422', async () => {
      expect((await client.service.get('/testcases')).status).to.equal(400)
      expect((await client.service.get('/testcases?testcase_ids=')).status).to.equal(400)
      expect((await client.service.get('/testcases?testcase_ids=nonsense')).status).to.equal(422)
    })
  })

  describe('POST /testcases/query', () => {
    // interface 8.29
    it('by references: rows of that revision, keys in its columns’ order, in pages', async () => {
      const testset = await client.make([{ n: 0, a: 1 }, { n: 1 }, { n: 2 }, { n: 3 }])
      await client.change(testset, { rows: { remove: [testset.ids[1]] } })
      for (const ref of [
        { testset_ref: { id: testset.id } },
        { testset_variant_ref: { slug: testset.slug } },
        { testset_revision_ref: { slug: testset.slug, version: 2 } },
      ])
        expect(numbersOf(await query(ref))).to.deep.equal([0, 2, 3])
      const first = { testset_revision_ref: { slug: testset.slug, version: 1 } }
      const page = await query({ ...first, windowing: { limit: 3, order: 'ascending' } })
      expect(numbersOf(page)).to.deep.equal([0, 1, 2])
      expect(Object.keys(page.testcases[0].data).slice(0, 2)).to.deep.equal(['n', 'a'])
      const rest = await query({ ...first, windowing: page.windowing })
      expect([numbersOf(rest), rest.windowing]).to.deep.equal([[3], undefined])
      // The references win over ids that come beside them.
      expect(numbersOf(await query({ ...first, testcase_ids: [testset.ids[1]] }))).to.deep.equal([0, 1, 2, 3])
    })

    // interface 8.29
    it('by testset_id: every testcase it ever had, the oldest first, each once, in pages', async () => {
      const testset = await numbered(3)
      await client.change(testset, { rows: { remove: [testset.ids[0]], add: [{ data: { n: 3 } }] } })
      await client.change(testset, { rows: { add: [{ data: { n: 0 } }, { data: { n: 4 } }] } })
      const testset_id = testset.id
      expect(numbersOf(await query({ testset_id }))).to.deep.equal([0, 1, 2, 3, 4])
      expect(numbersOf(await query({ testset_id, testcase_ids: [] }))).to.deep.equal([0, 1, 2, 3, 4])
      const page = await query({ testset_id, windowing: { limit: 2 } })
      const next = await query({ testset_id, windowing: page.windowing })
      const last = await query({ testset_id, windowing: next.windowing })
      expect([page, next, last].map(numbersOf)).to.deep.equal([[0, 1], [2, 3], [4]])
      expect(last).to.not.have.property('windowing')
      const turned = { limit: 1, order: 'descending' }
      expect(numbersOf(await query({ testset_id, windowing: turned }))).to.deep.equal([4])
    })

    it('by ids: in order, with repeats, of one testset if it is named, in pages that go through repeats', async () => {
      const testset = await numbered(3)
      const other = await client.make([{ n: 'other' }])
      const [zero, one, two] = testset.ids
      const testcase_ids = [two, two, other.ids[0], two, zero, one]
      expect(numbersOf(await query({ testcase_ids }))).to.deep.equal([2, 2, 'other', 2, 0, 1])
      expect(numbersOf(await query({ testcase_ids, testset_id: testset.id }))).to.deep.equal([2, 2, 2, 0, 1])
      const seen: unknown[] = []
      let windowing: object | undefined = { limit: 1 }
      while (windowing) {
        const page: any = await query({ testcase_ids, windowing })
        seen.push(...numbersOf(page))
        expect(seen.length).to.be.at.most(6)
        windowing = page.windowing
      }
      expect(seen).to.deep.equal([2, 2, 'other', 2, 0, 1])
    })

    it('nothing asked is 400, an unknown reference or testset 404, an ill-formed id or cursor 422', async () => {
      const ask = async (body: object) => (await client.service.post('/testcases/query', body)).status
      expect(await ask({})).to.equal(400)
      expect(await ask({ testcase_ids: [] })).to.equal(400)
      expect(await ask({ testset_ref: {} })).to.equal(400)
      expect(await ask({ testset_ref: { slug: 'no-such-testset' } })).to.equal(404)
      expect(await ask({ testset_id: '0190a000-0000-7000-8000-000000000001' })).to.equal(404)
      expect(await ask({ testcase_ids: ['nonsense'] })).to.equal(422)
      const { id, ids } = await numbered(2)
      expect(await ask({ testset_id: id, windowing: { next: 'nonsense' } })).to.equal(422)
      expect(await ask({ testset_id: id, windowing: { next: `${ids[0]}*2` } })).to.equal(422)
    })
  })
})

/** The id that an object has in the repository of `id`: bits 0 to 73 of the object's id around the fixed ones (interface 1.13). */
function idLike(id: string, oid: string): string {
  const bits = BigInt(`0x${oid}`) >> BigInt(160 - 74)
  const [high, middle, low] = [bits >> 26n, (bits >> 14n) & 0xfffn, bits & 0x3fffn]
  const hex = (value: bigint, digits: number): string => value.toString(16).padStart(digits, '0')
  const first = hex(high, 12)
  const last = hex(0x8000n | low, 4)
  return `${first.slice(0, 8)}-${first.slice(8)}-8${hex(middle, 3)}-${last}-${id.slice(-12)}`
}
