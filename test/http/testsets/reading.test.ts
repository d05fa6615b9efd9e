import { expect } from 'chai'
import { ADMIN_KEY } from '../../support/servers/service.ts'
import { type MadeTestset, refusal, startTestsets, type TestsetClient } from './testset-client.ts'

const MANY = 3000

describe('testsets: what a reader sees', () => {
  let client: TestsetClient
  /** Of 3,000 rows, which take twelve folders. */
  let large: MadeTestset
  before(async () => {
    client = await startTestsets()
    const rows = Array.from({ length: MANY }, (_, n) => `{"n":${n}}\n`).join('')
    large = await client.makeOf(rows, { file_type: 'jsonl' })
  })
  after(() => client.stop())

  const retrieve = (body: object, query = '') =>
    client.service.post(`/testsets/revisions/retrieve${query}`, body)

  const numbersOf = ({ testset_revision: { data } }: any): number[] =>
    data.testcases.map((testcase: any) => testcase.data.n)

  describe('include_testcases and include_testcase_ids (5.8)', () => {
    const FORMS = [
      [{}, ['testcase_ids', 'testcases']],
      [{ include_testcases: true, include_testcase_ids: true }, ['testcase_ids', 'testcases']],
      [{ include_testcases: false }, ['testcase_ids']],
      [{ include_testcase_ids: false }, ['testcases']],
      [{ include_testcases: false, include_testcase_ids: false }, []],
    ] as const
    const queryOf = (flags: object) => `?${new URLSearchParams(flags as Record<string, string>)}`

    /** Every answer that holds a testset's data, the flags in the body or in the query string. */
    const doors: readonly (readonly [
      string,
      (testset: MadeTestset, flags: object, query: string) => Promise<any>,
    ])[] = [
      [
        'retrieve',
        async ({ id }, flags, query) =>
          (await retrieve({ testset_ref: { id }, ...flags }, query)).body.testset_revision,
      ],
      [
        'commit',
        async ({ id }, flags, query) => {
          const commit = { testset_id: id, data: { testcases: [{ data: { n: 0 } }] } }
          const path = `/testsets/revisions/commit${query}`
          const reply = await client.service.post(path, { testset_revision_commit: commit, ...flags })
          return reply.body.testset_revision
        },
      ],
      [
        'log',
        async ({ id }, flags, query) => {
          const body = { testset: { testset_id: id }, include_data: true, ...flags }
          return (await client.service.post(`/testsets/revisions/log${query}`, body)).body
            .testset_revisions[0]
        },
      ],
      [
        'query',
        async ({ id }, flags, query) => {
          const body = { testset_refs: [{ id }], ...flags }
          return (await client.service.post(`/testsets/revisions/query${query}`, body)).body
            .testset_revisions[0]
        },
      ],
      [
        'simple query',
        async ({ slug }, flags, query) => {
          const body = { testset_refs: [{ slug }], ...flags }
          return (await client.service.post(`/simple/testsets/query${query}`, body)).body.testsets[0]
        },
      ],
      [
        'simple create',
        async ({ slug }, flags, query) => {
          const testset = { slug: `${slug}-${Math.random()}`, data: { testcases: [{ data: { n: 0 } }] } }
          return (await client.service.post(`/simple/testsets${query}`, { testset, ...flags })).body.testset
        },
      ],
      [
        'PUT',
        async ({ id }, flags, query) => {
          const body = { testset: { id, data: { testcases: [{ data: { n: 0 } }] } }, ...flags }
          return (await client.service.put(`/simple/testsets/${id}${query}`, body)).body.testset
        },
      ],
    ]
    for (const [name, ask] of doors) {
      // interface 8.15
      it(`${name} leaves out what is false, in the body or the query string`, async () => {
        const testset = await client.make([{ n: 0 }])
        for (const [flags, members] of FORMS) {
          for (const [body, query] of [
            [flags, ''],
            [{}, queryOf(flags)],
          ] as const) {
            const { data } = await ask(testset, body, query)
            expect(Object.keys(data), `${JSON.stringify(body)} ${query}`).to.deep.equal(members)
          }
        }
      })
    }

    for (const path of ['/testsets/revisions/ID', '/simple/testsets/ID']) {
      it(`GET ${path} too`, async () => {
        const testset = await client.make([{ n: 0 }])
        const id = path.startsWith('/simple') ? testset.id : testset.revisionId
        for (const [flags, members] of FORMS) {
          const { body } = await client.service.get(path.replace('ID', id) + queryOf(flags))
          expect(Object.keys((body.testset ?? body.testset_revision).data)).to.deep.equal(members)
        }
      })
    }

    it('uploads too, as fields of the form or of the query string', async () => {
      const testset = await client.make([{ n: 0 }])
      for (const path of [
        '/simple/testsets/upload',
        `/simple/testsets/${testset.id}/upload`,
        `/testsets/revisions/${testset.revisionId}/upload`,
      ]) {
        for (const [flags, members] of FORMS) {
          const fields = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, `${value}`]))
          for (const reply of [
            await client.send(path, 'n\n0\n', { fields }),
            await client.send(path + queryOf(flags), 'n\n0\n'),
          ]) {
            expect(reply.status, reply.text).to.equal(200)
            const { data } = reply.body.testset ?? reply.body.testset_revision
            expect(Object.keys(data), path).to.deep.equal(members)
          }
        }
      }
    })

    it('a flag that is no boolean is 422 and names itself', async () => {
      const refused = await retrieve({ testset_ref: { id: large.id }, include_testcases: 'maybe' })
      expect(refusal(refused)).to.match(/^422 .*include_testcases/)
      expect((await retrieve({ testset_ref: { id: large.id } }, '?include_testcases=maybe')).status).to.equal(
        422,
      )
    })
  })

  // interface 8.1
  it('without a limit all rows come, however many, ids and rows in order', async () => {
    const { body } = await retrieve({ testset_ref: { id: large.id } })
    expect(body).to.not.have.property('windowing')
    expect(body.testset_revision.data.testcase_ids).to.deep.equal(large.ids)
    expect(body.testset_revision.data.testcases.map((testcase: any) => testcase.id)).to.deep.equal(large.ids)
    expect(numbersOf(body)).to.deep.equal(Array.from({ length: MANY }, (_, n) => n))
    const simple = await client.service.get(`/simple/testsets/${large.id}`)
    expect(simple.body.testset.data).to.deep.equal(body.testset_revision.data)
  })

  it('without a limit, `order` turns all rows round and `next` begins behind a row', async () => {
    const turned = await retrieve({ testset_ref: { id: large.id }, windowing: { order: 'descending' } })
    expect(numbersOf(turned.body)).to.deep.equal(Array.from({ length: MANY }, (_, n) => MANY - 1 - n))
    const rest = await retrieve({ testset_ref: { id: large.id }, windowing: { next: large.ids[599] } })
    expect(numbersOf(rest.body)).to.deep.equal(Array.from({ length: MANY - 600 }, (_, n) => n + 600))
  })

  for (const [order, limit] of [
    ['ascending', 700],
    ['descending', 1300],
    ['ascending', 1000],
    ['descending', 255],
  ] as const) {
    // interface 8.15
    it(`pages of ${limit}, ${order}, hold every row once and end with the last`, async () => {
      const seen: number[] = []
      const ids: string[] = []
      let windowing: { order: string; limit: number; next?: string } | undefined = { order, limit }
      while (windowing) {
        const { body }: { body: any } = await retrieve({ testset_ref: { id: large.id }, windowing })
        seen.push(...numbersOf(body))
        ids.push(...body.testset_revision.data.testcase_ids)
        const isLast: boolean = seen.length === MANY
        expect(body.testset_revision.data.testcases).to.have.length(isLast ? MANY % limit || limit : limit)
        expect(body.windowing === undefined).to.equal(isLast)
        windowing = body.windowing
      }
      const numbers = Array.from({ length: MANY }, (_, n) => (order === 'ascending' ? n : MANY - 1 - n))
      expect(seen).to.deep.equal(numbers)
      expect(ids).to.deep.equal(order === 'ascending' ? large.ids : large.ids.toReversed())
    })
  }

  it('GET pages by query string, and leaves out in pages what is not asked for', async () => {
    const path = `/testsets/revisions/${large.revisionId}`
    const { body } = await client.service.get(`${path}?limit=2&order=descending&include_testcases=false`)
    expect(body.testset_revision.data).to.deep.equal({ testcase_ids: large.ids.slice(-2).reverse() })
    const next = `${path}?limit=2&order=descending&next=${body.windowing.next}`
    expect(numbersOf((await client.service.get(next)).body)).to.deep.equal([MANY - 3, MANY - 4])
    const dotted = `/testsets/revisions/retrieve?testset_ref.slug=${large.slug}&limit=1`
    expect(numbersOf((await client.service.get(dotted)).body)).to.deep.equal([0])
    const without = (await client.service.get(`${dotted}&include_testcases=false`)).body
    expect(without.testset_revision.data).to.deep.equal({ testcase_ids: large.ids.slice(0, 1) })
  })

  it('`next` may be the id of the last testcase seen, in either direction', async () => {
    for (const [order, expected] of [
      ['ascending', 1501],
      ['descending', 1499],
    ] as const) {
      const windowing = { order, limit: 1, next: large.ids[1500]?.toUpperCase() }
      const { body } = await retrieve({ testset_ref: { id: large.id }, windowing })
      expect(numbersOf(body)).to.deep.equal([expected])
    }
  })

  it('a cursor leads on in a later revision, also when the row it names is gone', async () => {
    const testset = await client.make(Array.from({ length: 10 }, (_, n) => ({ n })))
    const ref = { testset_ref: { id: testset.id } }
    const first = await retrieve({ ...ref, windowing: { limit: 4, order: 'ascending' } })
    await client.change(testset, {
      rows: { remove: [testset.ids[0], testset.ids[3], testset.ids[4]], add: [{ data: { n: 10 } }] },
    })
    const second = await retrieve({ ...ref, windowing: first.body.windowing })
    expect(numbersOf(second.body)).to.deep.equal([5, 6, 7, 8])
    const third = await retrieve({ ...ref, windowing: second.body.windowing })
    expect(numbersOf(third.body)).to.deep.equal([9, 10])
    expect(third.body).to.not.have.property('windowing')
  })

  it('`offset` leads to a row by its number, from either end, and the page says how to go on', async () => {
    for (const [windowing, expected] of [
      [{ offset: 0, limit: 2 }, [0, 1]],
      [{ offset: 1500, limit: 3 }, [1500, 1501, 1502]],
      [{ offset: 254, limit: 3, order: 'ascending' }, [254, 255, 256]],
      [{ offset: MANY - 1, limit: 5 }, [MANY - 1]],
      [{ offset: 10, limit: 2, order: 'descending' }, [MANY - 11, MANY - 12]],
      [{ offset: MANY, limit: 5 }, []],
      [{ offset: 10 * MANY, limit: 5 }, []],
      [{ offset: MANY - 2 }, [MANY - 2, MANY - 1]],
    ] as const) {
      const { body } = await retrieve({ testset_ref: { id: large.id }, windowing })
      expect(numbersOf(body), JSON.stringify(windowing)).to.deep.equal(expected)
    }
    const { body } = await retrieve({ testset_ref: { id: large.id }, windowing: { offset: 1500, limit: 3 } })
    expect(body.windowing).to.have.all.keys('limit', 'next')
    const next = await retrieve({ testset_ref: { id: large.id }, windowing: body.windowing })
    expect(numbersOf(next.body)).to.deep.equal([1503, 1504, 1505])
    const path = `/testsets/revisions/${large.revisionId}?limit=1&offset=77&count_total=true`
    const byQuery = (await client.service.get(path)).body
    expect(numbersOf(byQuery)).to.deep.equal([77])
    expect(byQuery.total).to.equal(MANY)
  })

  it('`offset` counts rows that were put between others and leaves out what was removed', async () => {
    const testset = await client.make(Array.from({ length: 600 }, (_, n) => ({ n })))
    await client.change(testset, { rows: { remove: testset.ids.slice(100, 400) } })
    const windowing = { offset: 99, limit: 3, count_total: true }
    const { body } = await retrieve({ testset_ref: { id: testset.id }, windowing })
    expect(numbersOf(body)).to.deep.equal([99, 400, 401])
    expect(body.total).to.equal(300)
  })

  it('`count_total` says how many rows there are, with rows or without', async () => {
    const counted = { limit: 1, count_total: true }
    const without = { include_testcases: false, include_testcase_ids: false }
    for (const body of [
      { testset_ref: { id: large.id }, windowing: counted },
      { testset_ref: { id: large.id }, windowing: counted, ...without },
      { testset_ref: { id: large.id }, windowing: { count_total: true }, ...without },
      { testset_ref: { id: large.id }, windowing: { count_total: true } },
    ])
      expect((await retrieve(body)).body.total).to.equal(MANY)
    const plain = await retrieve({ testset_ref: { id: large.id }, windowing: { limit: 1 } })
    expect(plain.body).to.not.have.property('total')
    const empty = await client.make([])
    const none = await retrieve({ testset_ref: { id: empty.id }, windowing: counted })
    expect(none.body.total).to.equal(0)
  })

  it('an offset that is none, or stands beside a cursor, is 422 and names itself', async () => {
    for (const offset of [-1, 1.5, '2', true, 2 ** 60]) {
      const reply = await retrieve({ testset_ref: { id: large.id }, windowing: { limit: 1, offset } })
      expect(refusal(reply), `${offset}`).to.match(/^422 invalid_request: .*windowing\.offset/)
    }
    const both = { limit: 1, offset: 3, next: large.ids[0] }
    const reply = await retrieve({ testset_ref: { id: large.id }, windowing: both })
    expect(refusal(reply)).to.match(/^422 invalid_request: .*windowing\.offset.*next/)
    for (const query of ['offset=-1', 'offset=x', 'offset=1.5', 'count_total=maybe'])
      expect(
        (await client.service.get(`/testsets/revisions/${large.revisionId}?limit=1&${query}`)).status,
        query,
      ).to.equal(422)
    const list = await client.service.post('/testsets/query', { windowing: { limit: 1, offset: 3 } })
    expect(refusal(list)).to.match(/^422 unknown_field: .*offset/)
  })

  it('a cursor that is none is 422, wherever it stands', async () => {
    const stranger = (await client.make([{ n: 'x' }])).ids[0]
    for (const next of ['nonsense', 'row-', 'row-zz', 'row-000100', 'row-0001', 'row-00 01', stranger]) {
      const reply = await retrieve({ testset_ref: { id: large.id }, windowing: { next, limit: 1 } })
      if (next === 'row-0001') expect(reply.status).to.equal(200)
      else expect(refusal(reply), next).to.match(/^422 invalid_request: .*windowing\.next/)
    }
    const ids = { testset_ref: { id: large.id }, windowing: { next: 'nonsense', limit: 1 } }
    expect((await client.service.post('/testcases/query', ids)).status).to.equal(422)
    for (const limit of [0, -1, 1.5, '2x'])
      expect((await retrieve({ testset_ref: { id: large.id }, windowing: { limit } })).status).to.equal(422)
  })

  it('a testset without rows has empty lists, one without data none', async () => {
    const empty = await client.latest(await client.make([]))
    expect(empty.data).to.deep.equal({ testcase_ids: [], testcases: [] })
    const { id } = await client.make([], { data: undefined })
    const reply = await client.service.get(`/simple/testsets/${id}`)
    expect(reply.status).to.equal(200)
    expect(reply.body.testset.data).to.deep.equal({})
  })

  it('pages, flags and revisions have entity tags of their own', async () => {
    const url = `/testsets/revisions/${large.revisionId}`
    const tags = new Set<string | null>()
    for (const query of [
      '',
      '?limit=1',
      '?limit=2',
      '?limit=1&order=descending',
      '?include_testcases=false',
    ]) {
      const { headers } = await client.service.get(url + query)
      const etag = headers.get('etag')
      tags.add(etag)
      const again = await fetch(client.service.url + url + query, {
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'if-none-match': etag ?? '' },
      })
      expect(again.status).to.equal(304)
    }
    expect(tags.size).to.equal(5)
  })
})
