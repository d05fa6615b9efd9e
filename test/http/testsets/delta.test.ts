import { expect } from 'chai'
import {
  contentsOf,
  dedupIdsOf,
  type MadeTestset,
  refusal,
  startTestsets,
  type TestsetClient,
} from './testset-client.ts'

describe('testsets: deltas', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const deltaOf = (testset: MadeTestset, delta: object, more: object = {}) =>
    client.commit({ testset_id: testset.id, delta, ...more })

  // interface 8.12
  it('columns first, then rows replaced, removed and added', async () => {
    const testset = await client.make([
      { q: 1, old: 'x' },
      { q: 2, old: 'y' },
      { q: 3, old: 'z' },
    ])
    const [one, two] = testset.ids
    const revision = await client.change(testset, {
      rows: {
        add: [{ data: { old: 'added' } }],
        remove: [two],
        replace: [{ id: one, data: { old: 'verbatim' } }],
      },
      columns: { add: ['note'], remove: ['old'], replace: [['q', 'question']] },
    })
    // The columns are those of the rows that were there; what the delta brings stays as it is.
    expect(contentsOf(revision)).to.deep.equal([
      { old: 'verbatim' },
      { question: 3, note: '' },
      { old: 'added' },
    ])
    expect(revision.version).to.equal(2)
  })

  it('swap renames happen at once, and keep the values', async () => {
    const testset = await client.make([{ a: 1, b: 2 }])
    const swap = {
      columns: {
        replace: [
          ['a', 'b'],
          ['b', 'a'],
        ],
      },
    }
    const revision = await client.change(testset, swap)
    expect(contentsOf(revision)).to.deep.equal([{ b: 1, a: 2 }])
    expect(Object.keys(revision.data.testcases[0].data).slice(0, 2)).to.deep.equal(['b', 'a'])
  })

  it('an added column leaves values alone, and fills the rows that lack it', async () => {
    const testset = await client.make([{ a: 1, b: 2 }, { a: 3 }])
    const filled = await client.change(testset, { columns: { add: ['b', 'e'] } })
    expect(contentsOf(filled)).to.deep.equal([
      { a: 1, b: 2, e: '' },
      { a: 3, b: '', e: '' },
    ])
    // Of a name that is free by then the column is a new one.
    const emptied = await client.change(testset, {
      columns: { remove: ['e'], replace: [['a', 'c']], add: ['a', 'e'] },
    })
    expect(contentsOf(emptied)).to.deep.equal([
      { c: 1, b: 2, a: '', e: '' },
      { c: 3, b: '', a: '', e: '' },
    ])
  })

  // interface 8.30
  it('rows are moved behind others by dedup ids, also those that the same delta adds, and columns are put in order', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((word) => ({ word, n: 1, testcase_dedup_id: word }))
    const testset = await client.make(rows)
    const [, second] = testset.ids
    const revision = await client.change(testset, {
      rows: {
        add: ['x', 'y'].map((word) => ({ data: { word, z: 2, __dedup_id__: word } })),
        replace: [{ id: second, data: { word: 'B', n: 3 } }],
        move: [
          { dedup_id: 'x', after: null },
          { dedup_id: 'd', after: 'a' },
          { dedup_id: 'b', after: 'd' },
          { dedup_id: 'y', after: 'x' },
        ],
      },
      columns: { order: ['z', 'n'] },
    })
    expect(dedupIdsOf(revision)).to.deep.equal(['x', 'y', 'a', 'd', 'b', 'c'])
    const [x, , , , b] = contentsOf(revision) as readonly object[]
    expect(b).to.deep.equal({ word: 'B', n: 3 })
    expect(Object.keys(x ?? {})).to.deep.equal(['z', 'word'])
    // A row that moves is the row that it was.
    const [moved] = testset.ids.slice(3)
    expect(revision.data.testcase_ids[3]).to.equal(moved)
    expect(revision.subject).to.equal('Add 2 rows, move 2')
    // A hundred moves to one place find room.
    let last = revision
    for (let times = 0; times < 140; times++)
      last = await client.change(testset, {
        rows: { move: [{ dedup_id: times % 2 === 0 ? 'c' : 'b', after: 'x' }] },
      })
    expect(dedupIdsOf(last)).to.deep.equal(['x', 'b', 'c', 'y', 'a', 'd'])
    const refused = async (move: object): Promise<string> =>
      refusal(await deltaOf(testset, { rows: { move: [move, { dedup_id: 'c', after: 'a' }] } }))
    expect(await refused({ dedup_id: 'nobody', after: null })).to.match(/^422 .*"nobody"/)
    expect(await refused({ dedup_id: 'a', after: 'c' })).to.match(/^422 .*move that row first/)
    expect(await refused({ dedup_id: 'c', after: 'a' })).to.match(/^422 .*move it once/)
    expect(await refused({ dedup_id: 1 })).to.match(/^422 .*two dedup ids/)
    expect(refusal(await deltaOf(testset, { columns: { order: ['nothing'] } }))).to.match(/^422 .*nothing/)
  })

  // interface 8.14
  it('what would do nothing, or be dropped, is refused by place, and nothing is stored', async () => {
    const testset = await client.make([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ])
    const [one, two] = testset.ids
    for (const [delta, places, words] of [
      [{ columns: { add: ['c', 'b'] } }, ['columns.add.1'], 'leave it out'],
      [{ columns: { add: ['a', 'b'] } }, ['columns.add.0', 'columns.add.1'], 'no row is without it'],
      [{ columns: { replace: [['a', 'c']], add: ['c'] } }, ['columns.add.0'], '"c" is a column already'],
      [{ columns: { add: ['c', 'd', 'c'] } }, ['columns.add.2'], 'name it once'],
      [{ columns: { remove: ['a', 'a'] } }, ['columns.remove.1'], 'the column "a" a second time'],
      [{ columns: { replace: Array(2).fill(['a', 'c']) } }, ['columns.replace.1'], 'a second time'],
      [{ columns: { replace: [['a', 'a']] } }, ['columns.replace.0'], 'the name that it has'],
      [
        { columns: { remove: ['a'], replace: [['a', 'c']] } },
        ['columns.replace.0'],
        'send it in columns.remove or in columns.replace',
      ],
      [{ rows: { remove: [one, two, one] } }, ['rows.remove.2'], 'name it once'],
      [
        { rows: { remove: [two, one], replace: [{ id: one, data: { a: 'edited' } }] } },
        ['rows.remove.1'],
        'send the row in rows.remove or in rows.replace',
      ],
    ] as const) {
      const reply = await deltaOf(testset, delta)
      expect(refusal(reply), JSON.stringify(delta))
        .to.match(/^422 invalid_request: /)
        .and.to.include(words)
      expect(reply.body.errors.map(({ loc }: { loc: string[] }) => loc.join('.'))).to.deep.equal(
        places.map((place) => `body.testset_revision_commit.delta.${place}`),
      )
    }
    expect((await client.latest(testset)).id).to.equal(testset.revisionId)
    const none = await client.change(testset, { rows: { remove: [one, two] } })
    const reply = await deltaOf(testset, { columns: { add: ['a'] } })
    expect(refusal(reply), none.id).to.match(/^422 invalid_request: /)
  })

  // interface 8.14
  it('a rename takes the name of a column that the same delta removes or renames, and of no other', async () => {
    const testset = await client.make([{ q: 'first', x: 0, a: 'second' }])
    for (const [columns, place] of [
      [{ replace: [['q', 'a']] }, 'replace.0'],
      [
        {
          replace: [
            ['q', 'z'],
            ['x', 'z'],
          ],
        },
        'replace.1',
      ],
      [
        {
          remove: ['x'],
          replace: [
            ['q', 'y'],
            ['a', 'y'],
          ],
        },
        'replace.1',
      ],
    ] as const) {
      const reply = await deltaOf(testset, { columns })
      expect(refusal(reply)).to.match(/^422 invalid_request: .*values of one of them would be lost/)
      expect(reply.body.errors[0].loc.join('.')).to.equal(
        `body.testset_revision_commit.delta.columns.${place}`,
      )
    }
    const removed = await client.change(testset, { columns: { remove: ['a'], replace: [['q', 'a']] } })
    expect(contentsOf(removed)).to.deep.equal([{ a: 'first', x: 0 }])
    const rotated = {
      columns: {
        replace: [
          ['a', 'x'],
          ['x', 'y'],
        ],
      },
    }
    expect(contentsOf(await client.change(testset, rotated))).to.deep.equal([{ x: 'first', y: 0 }])
  })

  // interface 2.14, 8.12
  it('columns and rows that are not there are refused, with those that are near, and nothing is stored', async () => {
    const testset = await client.make([{ question: 1, answer: 2 }])
    const [stranger] = (await client.make([{ a: 2 }])).ids
    for (const [delta, place, near] of [
      [{ columns: { remove: ['answer', 'anwser'] } }, 'columns.remove.1', 'did you mean "answer"?'],
      [{ columns: { remove: ['x'] } }, 'columns.remove.0', 'there are "question", "answer"'],
      [{ columns: { replace: [['queston', 'q']] } }, 'columns.replace.0', 'did you mean "question"?'],
      [{ rows: { remove: [stranger] } }, 'rows.remove.0', testset.ids[0]],
    ] as const) {
      const reply = await deltaOf(testset, delta)
      expect(refusal(reply))
        .to.match(/^422 no_such_key: /)
        .and.to.include(near)
      expect(reply.body.errors[0].loc.join('.')).to.equal(`body.testset_revision_commit.delta.${place}`)
    }
    expect((await client.latest(testset)).version).to.equal(1)
  })

  it('a row that is replaced keeps its dedup id unless it brings one, which must be free', async () => {
    const testset = await client.make([
      { a: 1, testcase_dedup_id: 'x' },
      { a: 2, testcase_dedup_id: 'y' },
    ])
    const [one, two] = testset.ids
    const replace = (id: string | undefined, data: object) => ({ rows: { replace: [{ id, data }] } })
    const taken = await deltaOf(testset, replace(two, { a: 3, testcase_dedup_id: 'x' }))
    expect(refusal(taken)).to.match(/^422 .*rows\.replace\.0\.data\.testcase_dedup_id.*"x"/)
    expect(dedupIdsOf(await client.change(testset, replace(one, { a: 0 })))).to.deep.equal(['x', 'y'])
    expect(dedupIdsOf(await client.change(testset, replace(two, { a: 2, __dedup_id__: 'z' })))).to.deep.equal(
      ['x', 'z'],
    )
  })

  it('the dedup id of a row that the same delta removes is free for a row it adds', async () => {
    const testset = await client.make([{ a: 1, testcase_dedup_id: 'x' }, { a: 2 }])
    const revision = await client.change(testset, {
      rows: { remove: [testset.ids[0]], add: [{ data: { a: 3, testcase_dedup_id: 'x' } }] },
    })
    expect(contentsOf(revision)).to.deep.equal([{ a: 2 }, { a: 3 }])
  })

  it('an added row that another one equals is that one, also one that the delta edits or adds', async () => {
    const testset = await client.make([{ a: 1 }, { a: 2 }])
    const revision = await client.change(testset, {
      rows: {
        replace: [{ id: testset.ids[0], data: { a: 'edited' } }],
        add: [
          { data: { a: 2 } },
          { data: { a: 'edited' } },
          { data: { a: 4 } },
          { data: { a: 4 } },
          { data: { a: 1 } },
        ],
      },
    })
    expect(contentsOf(revision)).to.deep.equal([{ a: 'edited' }, { a: 2 }, { a: 4 }, { a: 1 }])
  })

  it('an empty delta is a new revision of the same rows, and one that removes all leaves none', async () => {
    const testset = await client.make([{ a: 1 }])
    const same = await client.change(testset, {})
    expect([same.version, same.data.testcase_ids]).to.deep.equal([2, testset.ids])
    const none = await client.change(testset, { rows: { remove: testset.ids } })
    expect(none.data).to.deep.equal({ testcase_ids: [], testcases: [] })
    const some = await client.change(testset, { rows: { add: [{ data: { b: 1 } }] } })
    expect(contentsOf(some)).to.deep.equal([{ b: 1 }])
  })

  it('makes the first revision of a testset that has a variant only', async () => {
    const testset = await client.make([], { data: undefined })
    const revision = await client.change(testset, { rows: { add: [{ data: { a: 1 } }] } })
    expect([revision.version, contentsOf(revision)]).to.deep.equal([1, [{ a: 1 }]])
  })

  // interface 8.12
  it('unknown row ids, and what is no delta, are refused by place and store nothing', async () => {
    const testset = await client.make([{ a: 1 }])
    const [stranger] = (await client.make([{ a: 2 }])).ids
    for (const [delta, place] of [
      [{ rows: { remove: [stranger] } }, 'delta.rows.remove.0'],
      [{ rows: { remove: [testset.ids[0], stranger] } }, 'delta.rows.remove.1'],
      [{ rows: { replace: [{ id: stranger, data: {} }] } }, 'delta.rows.replace.0'],
      [{ rows: { remove: ['nonsense'] } }, 'delta.rows.remove.0'],
      [{ rows: { replace: [{ data: {} }] } }, 'delta.rows.replace.0.id'],
      [{ rows: { add: [{ q: 'no data' }] } }, 'delta.rows.add.0.q'],
      [{ rows: { add: {} } }, 'delta.rows.add'],
      [{ rows: { append: [] } }, 'delta.rows.append'],
      [{ columns: { replace: [['a']] } }, 'delta.columns.replace.0'],
      [{ columns: { replace: [{ a: 'b' }] } }, 'delta.columns.replace.0'],
      [{ columns: { add: [1] } }, 'delta.columns.add'],
      [{ columns: { remove: ['testcase_dedup_id'] } }, 'delta.columns.remove'],
      [{ columns: { replace: [['a', 'testcase_dedup_id']] } }, 'delta.columns.replace'],
      [{ columns: { add: ['testcase_dedup_id'] } }, 'delta.columns.add'],
      [{ columns: { add: ['__tags__'] } }, 'delta.columns.add'],
      [{ columns: { replace: [['a', '__id__']] } }, 'delta.columns.replace'],
      [[], 'delta'],
    ] as const) {
      const reply = await deltaOf(testset, delta)
      const isUnknown = reply.body.errors[0].type === 'extra_forbidden'
      const isAbsent = reply.body.errors[0].type === 'no_such_key'
      expect(refusal(reply), JSON.stringify(delta)).to.match(
        isUnknown ? /^422 unknown_field: / : isAbsent ? /^422 no_such_key: / : /^422 invalid_request: /,
      )
      expect(reply.body.errors[0].loc.join('.'), JSON.stringify(delta)).to.equal(
        `body.testset_revision_commit.${place}`,
      )
    }
    expect((await client.latest(testset)).id).to.equal(testset.revisionId)
  })

  // interface 8.12
  it('a base of another testset is 422, one that does not exist 404', async () => {
    const testset = await client.make([{ a: 1 }])
    const other = await client.make([{ a: 1 }])
    const delta = { rows: { add: [{ data: { a: 2 } }] } }
    const wrong = await deltaOf(testset, delta, { testset_revision_id: other.revisionId })
    expect(refusal(wrong)).to.match(/^422 invalid_request: .*testset_revision_id.*another testset/)
    const none = await deltaOf(testset, delta, {
      testset_revision_id: `0190a000${testset.revisionId.slice(8)}`,
    })
    expect(none.status).to.equal(404)
    for (const { revisionId, ...made } of [testset, other])
      expect((await client.latest({ revisionId, ...made })).id).to.equal(revisionId)
  })

  // interface 8.13
  it('a base that is no longer the head is 409 naming the head, unless the delta only adds rows', async () => {
    const testset = await client.make([{ a: 1 }])
    const second = await client.change(testset, { rows: { add: [{ data: { a: 2 } }] } })
    const base = { testset_revision_id: testset.revisionId }
    for (const delta of [
      { rows: { remove: testset.ids } },
      { rows: { replace: [{ id: testset.ids[0], data: {} }], add: [{ data: { a: 3 } }] } },
      { columns: { add: ['b'] } },
    ]) {
      const refused = await deltaOf(testset, delta, base)
      expect(refusal(refused)).to.match(/^409 revision_conflict: /)
      expect(refused.body.detail).to.include(second.id)
    }
    const added = await deltaOf(testset, { rows: { add: [{ data: { a: 3 } }] } }, base)
    expect(contentsOf(added.body.testset_revision)).to.deep.equal([{ a: 1 }, { a: 2 }, { a: 3 }])
    const onHead = await deltaOf(
      testset,
      { rows: { remove: testset.ids } },
      {
        testset_revision_id: added.body.testset_revision.id,
      },
    )
    expect(contentsOf(onHead.body.testset_revision)).to.deep.equal([{ a: 2 }, { a: 3 }])
  })

  it('goes to the variant named, else to that of the base, else to the default one', async () => {
    const testset = await client.make([{ a: 1 }])
    const fork = await client.service.post('/testsets/variants/fork', {
      testset_variant: { slug: `${testset.slug}-fork` },
      testset_variant_ref: { slug: testset.slug },
    })
    const variant = fork.body.testset_variant.id
    const add = (a: number) => ({ rows: { add: [{ data: { a } }] } })
    const named = await deltaOf(testset, add(2), { testset_variant_id: variant })
    expect(named.body.testset_revision.testset_variant_id).to.equal(variant)
    const onBase = await client.commit({
      testset_revision_id: named.body.testset_revision.id,
      delta: add(3),
    })
    expect(contentsOf(onBase.body.testset_revision)).to.deep.equal([{ a: 1 }, { a: 2 }, { a: 3 }])
    expect(await client.contents(testset)).to.deep.equal([{ a: 1 }])
  })

  // interface 8.16
  it('an upload replaces the rows at the head, whichever revision the path names', async () => {
    const testset = await client.make([{ a: '1' }])
    await client.change(testset, { rows: { add: [{ data: { a: '2' } }] } })
    const revision = await client.replaceBy(testset.revisionId, 'a\n2\n3\n', { message: 'From a file' })
    expect([revision.version, revision.message]).to.deep.equal([3, 'From a file'])
    expect(contentsOf(revision)).to.deep.equal([{ a: '2' }, { a: '3' }])
  })

  // interface 8.11
  it('testcase_ids commits rows of the revision before by their ids, in another order and fewer', async () => {
    const testset = await client.make([{ a: 1 }, { a: 2 }, { a: 3 }])
    const [one, , three] = testset.ids
    const data = { testcase_ids: [three, one, three] }
    const { body } = await client.commit({ testset_id: testset.id, data })
    expect(body.testset_revision.data.testcase_ids).to.deep.equal([three, one])
  })

  describe('rows that meet', () => {
    const EQUAL = [{ data: { a: 1 } }, { data: { a: 1 } }, { data: { a: 2 } }]
    const SAME_ID = [{ data: { a: 1, __dedup_id__: 'x' } }, { data: { a: 2, __dedup_id__: 'x' } }]

    it('are counted in the answers of creates, commits and edits with data, also when a key repeats them', async () => {
      const headers = { 'idempotency-key': 'meet-as-json' }
      const made = { testset: { slug: 'meeting', data: { testcases: EQUAL } } }
      const created = await client.service.post('/simple/testsets/', made, headers)
      expect(created.body).to.deep.include({ collapsed: 1, replaced: 0 })
      expect((await client.service.post('/simple/testsets/', made, headers)).body).to.deep.equal(created.body)
      const { id } = created.body.testset
      const commit = {
        testset_revision_commit: { testset_id: id, data: { testcases: [...SAME_ID, { data: { a: 2 } }] } },
      }
      const key = { 'idempotency-key': 'meet-as-commit' }
      const committed = await client.service.post('/testsets/revisions/commit', commit, key)
      expect(committed.body).to.deep.include({ collapsed: 1, replaced: 1 })
      expect(committed.body.testset_revision.subject).to.match(/ \(1 collapsed, 1 replaced\)$/)
      const again = await client.service.post('/testsets/revisions/commit', commit, key)
      expect(again.body).to.deep.equal(committed.body)
      const edit = { testset: { data: { testcases: EQUAL } } }
      const edited = await client.service.put(`/simple/testsets/${id}`, edit)
      expect(edited.body).to.deep.include({ collapsed: 1, replaced: 0 })
      const [one] = edited.body.testset.data.testcase_ids
      const named = { testset_id: id, data: { testcase_ids: [one, one] } }
      expect((await client.commit(named)).body).to.deep.include({ collapsed: 1, replaced: 0 })
    })

    it('are counted in the answers and subjects of deltas: added ones, and new contents of one row', async () => {
      const testset = await client.make([{ a: 1 }, { a: 5 }])
      const [, last] = testset.ids
      const { body } = await client.commit({
        testset_id: testset.id,
        delta: {
          rows: {
            add: [...EQUAL, { data: { a: 2, __dedup_id__: 'y' } }],
            replace: [7, 8, 8].map((a) => ({ id: last, data: { a } })),
          },
        },
      })
      expect(body).to.deep.include({ collapsed: 4, replaced: 1 })
      expect(body.testset_revision.subject).to.equal('Add 1 row, change 1 (4 collapsed, 1 replaced)')
      expect(body.testset_revision.data.testcases.map(({ data }: any) => data.a)).to.deep.equal([1, 8, 2])
    })
  })
})
