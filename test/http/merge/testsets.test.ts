import { expect } from 'chai'
import { cloneOf } from '../../support/git/git-client.ts'
import type { MergeClient } from './merge-client.ts'
import { refused, startMerging } from './merge-client.ts'

describe('merge: testsets', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('testset')))
  after(() => client.stop())

  const row = (id: string, more: object = {}): object => ({ data: { testcase_dedup_id: id, q: id, ...more } })
  const rows = (...list: object[]): object => ({ testcases: list })
  const both = async (base: object[], mine: object[], theirs: object[]): Promise<[string, string]> => {
    const target = await client.make(rows(...base))
    const source = await client.fork(target)
    await client.commit(target, { data: rows(...mine) })
    await client.commit(source, { data: rows(...theirs) })
    return [source, target]
  }
  const contents = async (variant: string): Promise<any[]> =>
    (await client.latest(variant)).data.testcases.map(({ data }: any) => data)
  const idsOf = async (variant: string): Promise<string[]> =>
    (await contents(variant)).map((it) => it.testcase_dedup_id)
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => row(id))
  const abcd = [a, b, c, d] as object[]

  // interface 6.5
  it('columns of one row that each side changed come together', async () => {
    const base = [row('a', { x: 1, y: 1 }), row('b', { x: 1, y: 1 })]
    const [source, target] = await both(
      base,
      [row('a', { x: 2, y: 1 }), row('b', { x: 1, y: 1 })],
      [row('a', { x: 1, y: 3, z: 1 }), row('b', { x: 1, y: 1 })],
    )
    const { merge, testset_revision: made } = await client.merge(source, target)
    expect(merge.kind).to.equal('merge')
    expect(made.version).to.equal(3)
    expect(await contents(target)).to.deep.equal([
      { q: 'a', x: 2, y: 3, z: 1, testcase_dedup_id: 'a' },
      { q: 'b', x: 1, y: 1, testcase_dedup_id: 'b' },
    ])
    expect(JSON.parse(client.git(target, 'show', `${target}:columns.json`)).at(-1)).to.equal('z')
    expect(client.git(target, 'fsck', '--strict')).to.equal('')
  })

  it('the answer leaves out rows that nobody asks for', async () => {
    const [source, target] = await both([a as object], [a as object, b as object], [c as object, a as object])
    const made = await client.merge(source, target, { include_testcases: false, include_testcase_ids: false })
    expect(made.testset_revision.data?.testcases).to.equal(undefined)
    expect(await idsOf(target)).to.deep.equal(['c', 'a', 'b'])
  })

  // interface 6.3
  it('a column that both changed is a conflict of that column', async () => {
    const [source, target] = await both(
      [row('a', { x: 1, y: 1 })],
      [row('a', { x: 2, y: 1 })],
      [row('a', { x: 3, y: 3 })],
    )
    const { body } = await client.ask(source, target)
    expect(body.conflicts).to.deep.equal([
      { place: { row: 'a', column: 'x' }, kind: 'both_changed', base: 1, target: 2, source: 3 },
    ])
    await client.merge(source, target, {
      resolutions: [{ place: { row: 'a', column: 'x' }, value: [4] }],
    })
    expect(await contents(target)).to.deep.equal([{ q: 'a', x: [4], y: 3, testcase_dedup_id: 'a' }])
  })

  it('rows that both sides append stay, the target ones first', async () => {
    const [source, target] = await both(
      abcd,
      [...abcd, row('t1'), row('t2')],
      [...abcd, row('s1'), row('s2'), row('s3')],
    )
    await client.merge(source, target)
    expect(await idsOf(target)).to.deep.equal(['a', 'b', 'c', 'd', 't1', 't2', 's1', 's2', 's3'])
  })

  it('rows that one side put between others stay there', async () => {
    const [source, target] = await both(
      abcd,
      [row('t0'), ...abcd.slice(0, 2), row('t'), ...abcd.slice(2)],
      [...abcd.slice(0, 2), row('s'), ...abcd.slice(2, 3), row('s2'), ...abcd.slice(3)],
    )
    await client.merge(source, target)
    expect(await idsOf(target)).to.deep.equal(['t0', 'a', 'b', 't', 's', 'c', 's2', 'd'])
  })

  it('a row that both add alike is one; one that they add with differing columns is a conflict', async () => {
    const [source, target] = await both(
      abcd,
      [...abcd, row('x'), row('y', { n: 1 })],
      [...abcd, row('y', { n: 2 }), row('x')],
    )
    const { body } = await client.ask(source, target)
    expect(body.conflicts).to.deep.equal([
      { place: { row: 'y', column: 'n' }, kind: 'both_added', target: 1, source: 2 },
    ])
    await client.merge(source, target, {
      resolutions: [{ place: { row: 'y', column: 'n' }, take: 'source' }],
    })
    expect(await idsOf(target)).to.have.members(['a', 'b', 'c', 'd', 'x', 'y'])
  })

  it('a removed row goes; one that the other side changed is a conflict', async () => {
    const [source, target] = await both(abcd, abcd.slice(1), [row('a', { n: 1 }), ...abcd.slice(1, 3)])
    const { body } = await client.ask(source, target)
    const changed = { n: 1, q: 'a', testcase_dedup_id: 'a' }
    expect(body.conflicts).to.deep.equal([
      {
        place: { row: 'a' },
        in: 'source',
        kind: 'changed_and_removed',
        base: { q: 'a', testcase_dedup_id: 'a' },
        source: changed,
      },
    ])
    const place = { place: { row: 'a' }, in: 'source' }
    const bad = await client.ask(source, target, { resolutions: [{ ...place, value: 7 }] })
    expect(refused(bad)).to.equal('422 invalid_request')
    await client.merge(source, target, { resolutions: [{ ...place, take: 'source' }] })
    expect(await contents(target)).to.deep.equal([
      { q: 'a', n: 1, testcase_dedup_id: 'a' },
      { q: 'b', testcase_dedup_id: 'b' },
      { q: 'c', testcase_dedup_id: 'c' },
    ])
  })

  it('a move of the source is made; rows that both moved apart are a conflict of the order', async () => {
    const five = [...abcd, row('e')] as object[]
    const moved = (...ids: string[]): object[] => ids.map((id) => row(id))
    const [source, target] = await both(five, [...five, row('t')], moved('b', 'c', 'd', 'a', 'e'))
    await client.merge(source, target)
    expect(await idsOf(target)).to.deep.equal(['b', 'c', 'd', 'a', 'e', 't'])
    const [theirs, mine] = await both(five, moved('b', 'c', 'a', 'd', 'e'), moved('b', 'c', 'd', 'e', 'a'))
    const { body } = await client.ask(theirs, mine)
    expect(body.conflicts).to.deep.equal([{ place: { order: 'rows' }, kind: 'order' }])
    for (const [take, order] of [
      ['target', 'bcade'],
      ['source', 'bcdea'],
      ['base', 'abcde'],
    ] as const) {
      const fork = await client.fork(mine)
      await client.merge(theirs, fork, { resolutions: [{ place: { order: 'rows' }, take }] })
      expect((await idsOf(fork)).join(''), take).to.equal(order)
    }
  })

  it("a row's flags, tags and meta are merged, too", async () => {
    const withTags = (tags: object): object => ({ ...row('a'), tags })
    const target = await client.make(rows(withTags({ x: '1' })))
    const source = await client.fork(target)
    await client.commit(target, { data: rows({ ...withTags({ x: '1' }), flags: { hard: true } }) })
    await client.commit(source, { data: rows(withTags({ x: '2' })) })
    await client.merge(source, target)
    const file = client.git(target, 'ls-tree', '-r', '--name-only', target).split('\n')
    const meta = file.find((path) => path.endsWith('.meta.json')) ?? ''
    expect(JSON.parse(client.git(target, 'show', `${target}:${meta}`))).to.deep.equal({
      flags: { hard: true },
      tags: { x: '2' },
    })
  })

  it('rows put in at one place until there is no room are numbered anew, and none is lost', async () => {
    const target = await client.make(rows(row('a'), row('z')))
    const source = await client.fork(target)
    const ids = ['a', 'z']
    for (let n = 0; n < 30; n++) {
      ids.splice(1, 0, `s${n}`)
      await client.commit(source, { data: rows(...ids.map((id) => row(id))) })
      if (n % 10 === 9) {
        await client.commit(target, {
          data: rows(row('a'), ...Array.from({ length: n }, (_, at) => row(`t${n}-${at}`)), row('z')),
        })
      }
    }
    await client.merge(source, target)
    const merged = await idsOf(target)
    expect(merged.filter((id) => !id.startsWith('t'))).to.deep.equal(ids)
    expect(merged.filter((id) => id.startsWith('t'))).to.have.length(29)
  })

  it('one side of more conflicts than are listed is taken at once', async () => {
    const many = (side: string) =>
      rows(...Array.from({ length: 1100 }, (_, at) => row(`r${at}`, { x: side })))
    const target = await client.make(many('base'))
    const source = await client.fork(target)
    await client.commit(target, { data: many('target') })
    await client.commit(source, { data: many('source') })
    const { body } = await client.ask(source, target)
    expect(body).to.include({ truncated: true, total: 1100 })
    expect(body.detail).to.include('Both sides changed 1100 places')
    const tried = await client.merge(source, target, { dry_run: true })
    expect(tried.merge).to.include({ truncated: true, total: 1100 })
    expect(body.conflicts).to.have.length(1000)
    const { merge } = await client.merge(source, target, {
      resolutions: [{ place: { row: 'r7', column: 'x' }, value: 'mine' }, { all: 'source' }],
      include_testcases: false,
    })
    expect(merge.resolved).to.equal(1100)
    const merged = (await contents(target)).map(({ x }) => x)
    expect(merged.slice(6, 9)).to.deep.equal(['source', 'mine', 'source'])
    expect(new Set(merged)).to.deep.equal(new Set(['source', 'mine']))
  })

  describe('what a change of columns wrote into the rows is no edit of them:', () => {
    const many = Array.from({ length: 40 }, (_, at) => row(`r${at}`, { x: `x${at}`, y: at }))
    const base = { testcases: many }
    const sides = async (mine: object, theirs: object): Promise<[string, string]> => {
      const target = await client.make(base)
      const source = await client.fork(target)
      await client.commit(target, mine)
      await client.commit(source, theirs)
      return [source, target]
    }
    const columnsOf = (slug: string): string[] => JSON.parse(client.git(slug, 'show', `${slug}:columns.json`))
    const columns = (change: object): object => ({ delta: { columns: change } })
    const edited = (edits: Record<string, object>): object => ({
      data: rows(...many.map((it: any) => ({ data: { ...it.data, ...edits[it.data.q] } }))),
    })
    const without = (from: number): object => ({ data: rows(...many.slice(0, from)) })
    const cellsOf = async (variant: string, column: string): Promise<unknown[]> =>
      (await contents(variant)).map((it) => it[column])

    // interface 6.16
    it('one side adds a column and the other removes rows, either way round', async () => {
      for (const [mine, theirs] of [
        [columns({ add: ['note'] }), without(10)],
        [without(10), columns({ add: ['note'] })],
      ] as const) {
        const [source, target] = await sides(mine, theirs)
        const { merge } = await client.merge(source, target)
        expect(merge).to.include({ kind: 'merge', resolved: 0 })
        expect(await cellsOf(target, 'note')).to.deep.equal(Array(10).fill(''))
        expect(columnsOf(target)).to.deep.equal(['q', 'x', 'y', 'testcase_dedup_id', 'note'])
      }
    })

    it('one side renames or removes a column and the other removes rows', async () => {
      for (const [mine, theirs] of [
        [columns({ replace: [['x', 'answer']], remove: ['y'] }), without(10)],
        [without(10), columns({ replace: [['x', 'answer']], remove: ['y'] })],
      ] as const) {
        const [source, target] = await sides(mine, theirs)
        await client.merge(source, target)
        expect(await contents(target)).to.deep.equal(
          many.slice(0, 10).map((_, at) => ({
            q: `r${at}`,
            answer: `x${at}`,
            testcase_dedup_id: `r${at}`,
          })),
        )
        expect(columnsOf(target)).to.deep.equal(['q', 'answer', 'testcase_dedup_id'])
      }
    })

    it('a row that was edited beside that is in conflict with its removal', async () => {
      const [source, target] = await sides(columns({ add: ['note'] }), without(30))
      await client.commit(target, {
        data: rows(
          ...many.map((it: any) => ({ data: { ...it.data, note: it.data.q === 'r35' ? 'mine' : '' } })),
        ),
      })
      const { body } = await client.ask(source, target)
      expect(body.conflicts).to.have.length(1)
      expect(body.conflicts[0]).to.deep.include({ place: { row: 'r35' }, kind: 'changed_and_removed' })
    })

    // interface 6.16
    it('an edit of a cell follows a renamed column, either way round, and so does a row that is new', async () => {
      const renamed = columns({ replace: [['x', 'answer']] })
      const more: any = edited({ r3: { x: 'edited' } })
      more.data.testcases.push(row('new', { x: 'of the new row', y: 0 }))
      for (const [mine, theirs] of [
        [renamed, more],
        [more, renamed],
      ] as const) {
        const [source, target] = await sides(mine, theirs)
        await client.merge(source, target)
        const answers = await cellsOf(target, 'answer')
        expect(answers.slice(2, 5)).to.deep.equal(['x2', 'edited', 'x4'])
        expect(answers.at(-1)).to.equal('of the new row')
        expect(await cellsOf(target, 'x')).to.deep.equal(Array(41).fill(undefined))
        expect(columnsOf(target)).to.deep.equal(['q', 'answer', 'y', 'testcase_dedup_id'])
      }
    })

    it('an edit of a cell follows columns that changed places', async () => {
      const [source, target] = await sides(
        columns({
          replace: [
            ['x', 'y'],
            ['y', 'x'],
          ],
        }),
        edited({ r3: { x: 'edited' } }),
      )
      await client.merge(source, target)
      expect((await contents(target))[3]).to.include({ y: 'edited', x: 3 })
    })

    it('cells that both sides edited are in conflict under the new name', async () => {
      const [source, target] = await sides(
        columns({ replace: [['x', 'answer']] }),
        edited({ r3: { x: 'theirs' } }),
      )
      const mine = many.map(({ data: { testcase_dedup_id, q, x, y } }: any) => ({
        data: { testcase_dedup_id, q, answer: q === 'r3' ? 'mine' : x, y },
      }))
      await client.commit(target, { data: rows(...mine) })
      const { body } = await client.ask(source, target)
      expect(body.conflicts).to.deep.equal([
        {
          place: { row: 'r3', column: 'answer' },
          kind: 'both_changed',
          base: 'x3',
          target: 'mine',
          source: 'theirs',
        },
      ])
    })

    it('a cell that was edited in a column that the other side removed stays a conflict', async () => {
      const [source, target] = await sides(columns({ remove: ['x'] }), edited({ r3: { x: 'theirs' } }))
      const { body } = await client.ask(source, target)
      expect(body.conflicts).to.deep.equal([
        {
          place: { row: 'r3', column: 'x' },
          in: 'source',
          kind: 'changed_and_removed',
          base: 'x3',
          source: 'theirs',
        },
      ])
      await client.merge(source, target, {
        resolutions: [{ place: { row: 'r3', column: 'x' }, in: 'source', take: 'source' }],
      })
      expect((await cellsOf(target, 'x')).filter((it) => it !== undefined)).to.deep.equal(['theirs'])
      expect(columnsOf(target)).to.include('x')
    })

    it('both add one column: what one side wrote into it counts; both rename one to different names: both are there', async () => {
      const added = columns({ add: ['note'] })
      const [source, target] = await sides(added, added)
      const filled = many.map((it: any) => ({ data: { ...it.data, note: it.data.q === 'r1' ? 'kept' : '' } }))
      await client.commit(source, { data: rows(...filled) })
      await client.merge(source, target)
      expect((await cellsOf(target, 'note')).slice(0, 3)).to.deep.equal(['', 'kept', ''])
      const [theirs, mine] = await sides(
        columns({ replace: [['x', 'mine']] }),
        columns({ replace: [['x', 'theirs']] }),
      )
      await client.merge(theirs, mine)
      expect((await contents(mine))[1]).to.include({ mine: 'x1', theirs: 'x1' })
    })

    it('columns whose cells say something else are removed and added, however they stand', async () => {
      const other = many.map((it: any) => {
        const { x, ...data } = it.data
        return { data: { ...data, z: `not ${x}` } }
      })
      const [source, target] = await sides({ data: rows(...other) }, edited({ r3: { x: 'theirs' } }))
      const { body } = await client.ask(source, target)
      expect(body.conflicts[0]).to.deep.include({
        place: { row: 'r3', column: 'x' },
        kind: 'changed_and_removed',
      })
    })
  })

  it('plain git stops where both sides append, and loses nothing; REST then merges the two', async () => {
    const target = await client.make(rows(...abcd))
    const source = await client.fork(target)
    await client.commit(target, { data: rows(...abcd, row('mine')) })
    await client.commit(source, { data: rows(...abcd, row('theirs')) })
    const clone = await cloneOf(client.service, target, { family: 'testsets' })
    const merged = await clone.try('merge', '--no-ff', '-m', 'By hand', `origin/${source}`)
    expect(merged.code).to.equal(1)
    expect(merged.output).to.match(/CONFLICT \(add\/add\): Merge conflict in testcases\/00\/00\/05\.json/)
    const file = await clone.git('diff', '--', 'testcases/00/00/05.json')
    expect(file).to.include('"mine"').and.to.include('"theirs"')
    await clone.git('merge', '--abort')
    expect((await client.merge(source, target)).merge.kind).to.equal('merge')
    expect(await idsOf(target)).to.deep.equal(['a', 'b', 'c', 'd', 'mine', 'theirs'])
    await clone.git('pull', '-q', '--ff-only')
  })
})
