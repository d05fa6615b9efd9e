import { expect } from 'chai'
import type { MergeClient } from './merge-client.ts'
import { refused, startMerging } from './merge-client.ts'

describe('revert and cherry-pick', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('workflow')))
  after(() => client.stop())
  const data = (parameters: object): object => ({ parameters })
  const tree = (slug: string, ref: string): string => client.git(slug, 'rev-parse', `${ref}^{tree}`)
  const body = (slug: string, ref = slug): string => client.git(slug, 'log', '-1', '--format=%B', ref)

  // interface 6.11
  it('a revert undoes one revision and keeps what came after it', async () => {
    const slug = await client.make(data({ a: 1, b: 1 }))
    const bad = await client.commit(slug, { data: data({ a: 2, b: 1 }), message: 'Make a 2' })
    await client.commit(slug, { data: data({ a: 2, b: 2 }) })
    const reply = await client.post('/revisions/revert', { revision: { slug, version: 2 } })
    expect(reply.status, reply.text).to.equal(200)
    const { merge, workflow_revision: made } = reply.body
    expect(merge).to.deep.include({ kind: 'revert', conflicts: [], resolved: 0 })
    expect(merge.base).to.include({ id: bad.id })
    expect(made).to.include({ version: 4 })
    expect(made.data).to.deep.equal(data({ a: 1, b: 2 }))
    expect(client.git(slug, 'rev-list', '--parents', '-1', slug).split(' ')).to.have.length(2)
    const oid = client.git(slug, 'rev-parse', `${slug}~2`)
    expect(body(slug)).to.match(
      new RegExp(`^Revert "Make a 2"\\n\\nThis reverts commit ${oid}, which is revision ${slug}-2\\.\\n`),
    )
  })

  it('what is undone already is up to date', async () => {
    const slug = await client.make(data({ a: 1 }))
    const { id } = await client.commit(slug, { data: data({ a: 2 }) })
    await client.post('/revisions/revert', { revision: { id } })
    const before = client.git(slug, 'for-each-ref')
    const again = await client.post('/revisions/revert', { revision: { id } })
    expect(again.body.merge.kind).to.equal('up_to_date')
    expect(again.body.workflow_revision.version).to.equal(3)
    expect(client.git(slug, 'for-each-ref')).to.equal(before)
  })

  // interface 6.10
  it('a change that was changed again is a conflict; a dry run stores nothing', async () => {
    const slug = await client.make(data({ a: 1 }))
    const { id } = await client.commit(slug, { data: data({ a: 2 }) })
    await client.commit(slug, { data: data({ a: 3 }) })
    const reply = await client.post('/revisions/revert', { revision: { id } })
    expect(refused(reply)).to.equal('409 merge_conflict')
    expect(reply.body.conflicts).to.deep.equal([
      { place: '/parameters/a', kind: 'both_changed', base: 2, target: 3, source: 1 },
    ])
    const tried = await client.post('/revisions/revert', { revision: { id }, dry_run: true })
    expect(tried.body.merge.conflicts).to.have.length(1)
    const resolutions = [{ place: '/parameters/a', take: 'source' }]
    await client.post('/revisions/revert', { revision: { id }, resolutions, message: 'Back' })
    expect(await client.latest(slug)).to.deep.include({ version: 4, message: 'Back', data: data({ a: 1 }) })
  })

  // interface 6.11
  it('a first revision cannot be reverted', async () => {
    const slug = await client.make(data({ a: 1 }))
    const reply = await client.post('/revisions/revert', { revision: { slug, version: 1 } })
    expect(refused(reply)).to.equal('422 no_parent')
    expect(reply.body.detail).to.include(`"${slug}-1" is a first revision`)
  })

  // interface 6.11
  it('a merge is reverted against its first parent', async () => {
    const target = await client.make(data({ a: 1 }))
    const source = await client.fork(target)
    await client.commit(target, { data: data({ a: 1, mine: 1 }) })
    await client.commit(source, { data: data({ a: 1, theirs: 1 }) })
    const { workflow_revision: made } = await client.merge(source, target)
    await client.post('/revisions/revert', { revision: { id: made.id } })
    expect(tree(target, target)).to.equal(tree(target, `${target}~2`))
    expect((await client.latest(target)).data).to.deep.equal(data({ a: 1, mine: 1 }))
  })

  it('on another variant that has it, too', async () => {
    const slug = await client.make(data({ a: 1 }))
    const { id } = await client.commit(slug, { data: data({ a: 2 }) })
    const fork = await client.fork(slug)
    const target = { variant: { slug: fork } }
    await client.post('/revisions/revert', { revision: { id }, target })
    expect((await client.latest(fork)).data).to.deep.equal(data({ a: 1 }))
    expect((await client.latest(slug)).data).to.deep.equal(data({ a: 2 }))
  })

  // interface 6.11
  it('a cherry-pick keeps author and message, and has one parent', async () => {
    const slug = await client.make(data({ a: 1 }))
    const fork = await client.fork(slug)
    await client.commit(fork, { data: data({ a: 1, b: 1 }), message: 'Add b\n\nFor the shop.' })
    const picked = await client.commit(fork, {
      data: data({ a: 1, b: 1, c: 1 }),
      message: 'Add c\n\nFor all.',
    })
    const pick = { revision: { id: picked.id }, target: { variant: { slug } } }
    const { body: answer } = await client.post('/revisions/cherry-pick', pick)
    expect(answer.merge).to.deep.include({ kind: 'cherry_pick' })
    expect(answer.merge.base.slug).to.equal(`${fork}-2`)
    expect(answer.workflow_revision).to.include({ version: 2, message: 'Add c\n\nFor all.' })
    expect(answer.workflow_revision.data).to.deep.equal(data({ a: 1, c: 1 }))
    const shown = (ref: string): string => client.git(slug, 'log', '-1', '--format=%an %ae %ad', ref)
    expect(shown(slug)).to.equal(shown(fork))
    expect(client.git(slug, 'rev-list', '--parents', '-1', slug).split(' ')).to.have.length(2)
    const again = await client.post('/revisions/cherry-pick', pick)
    expect(again.body.merge.kind).to.equal('up_to_date')
  })

  it('a text that comes from another variant keeps the file that it has there', async () => {
    const say = (...said: string[]): object => ({
      parameters: { prompt: { messages: said.map((content) => ({ role: 'user', content })) } },
    })
    const slug = await client.make(say('one'))
    const fork = await client.fork(slug)
    await client.commit(fork, { data: say('one', 'two at first') })
    await client.commit(fork, { data: say('one', 'two at last') })
    await client.commit(slug, { data: say('one, and more') })
    await client.merge(fork, slug)
    const files = (ref: string): string => client.git(slug, 'ls-tree', '-r', '--name-only', ref, 'prompt/')
    expect(files(slug)).to.equal(files(fork))
    expect(
      client.git(slug, 'log', '--format=%s', `${fork}..${slug}`, '--', files(fork).split('\n')[0] ?? ''),
    ).to.equal('')
  })
})

describe('restore', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('workflow')))
  after(() => client.stop())
  const data = (parameters: object): object => ({ parameters })
  const tree = (slug: string, ref: string): string => client.git(slug, 'rev-parse', `${ref}^{tree}`)

  // interface 6.17
  it('makes what an earlier revision holds the latest again, whatever lies between', async () => {
    const slug = await client.make(data({ a: 1 }))
    await client.commit(slug, { data: data({ a: 2, b: 2 }), name: 'Two' })
    await client.commit(slug, { data: data({ c: 3 }) })
    await client.commit(slug, { data: data({ c: 4 }) })
    const body = { revision: { slug, version: 2 }, target: { variant: { slug } } }
    const { body: tried } = await client.post('/revisions/restore', { ...body, dry_run: true })
    expect(tried.merge).to.deep.include({ kind: 'restore', conflicts: [], resolved: 0 })
    expect(tried).to.not.have.property('workflow_revision')
    expect((await client.latest(slug)).version).to.equal(4)
    const { body: answer } = await client.post('/revisions/restore', body)
    expect(answer.merge).to.deep.include({ kind: 'restore', conflicts: [], resolved: 0 })
    expect(answer.merge.base).to.include({ slug: `${slug}-2`, version: 2 })
    expect(answer.workflow_revision).to.deep.include({
      ...{ version: 5, name: 'Two', subject: `Restore ${slug}-2` },
      data: data({ a: 2, b: 2 }),
    })
    expect(tree(slug, slug)).to.equal(tree(slug, `${slug}~3`))
    expect(client.git(slug, 'rev-list', '--parents', '-1', slug).split(' ')).to.have.length(2)
    expect(client.git(slug, 'log', '-1', '--format=%b', slug)).to.include(
      `This is what commit ${client.git(slug, 'rev-parse', `${slug}~3`)} holds, "`,
    )
  })

  // interface 6.17
  it('of what is there already is refused, also of a dry run', async () => {
    const slug = await client.make(data({ a: 1 }))
    await client.commit(slug, { data: data({ a: 2 }) })
    await client.commit(slug, { data: data({ a: 1 }) })
    const before = client.git(slug, 'for-each-ref')
    for (const more of [{}, { dry_run: true }]) {
      const reply = await client.post('/revisions/restore', { revision: { slug, version: 1 }, ...more })
      expect(refused(reply)).to.equal('422 nothing_to_restore')
      expect(reply.body.detail).to.include(`"${slug}-1"`)
    }
    expect(client.git(slug, 'for-each-ref')).to.equal(before)
  })

  // interface 6.17
  it('goes to the named variant, and without one to the one that 4.30 says', async () => {
    const slug = await client.make(data({ a: 1 }))
    const first = await client.latest(slug)
    const fork = await client.fork(slug)
    await client.commit(slug, { data: data({ a: 2 }) })
    await client.commit(fork, { data: data({ a: 3 }) })
    const without = await client.post('/revisions/restore', { revision: { id: first.id } })
    expect(refused(without)).to.equal('409 ambiguous_variant')
    const target = { variant: { slug: fork } }
    const made = await client.post('/revisions/restore', {
      revision: { id: first.id },
      target,
      message: 'Back',
    })
    expect(made.body.workflow_revision).to.deep.include({
      ...{ slug: `${fork}-3`, message: 'Back', data: data({ a: 1 }) },
    })
    expect((await client.latest(slug)).data).to.deep.equal(data({ a: 2 }))
    const twice = { revision: { id: first.id }, target, workflow_variant_ref: { slug: fork } }
    expect(refused(await client.post('/revisions/restore', twice))).to.equal('400 contradictory_request')
    const other = await client.make(data({ a: 9 }))
    const apart = { revision: { slug: other, version: 1 }, target }
    expect(refused(await client.post('/revisions/restore', apart))).to.equal('422 unrelated')
  })

  it('is refused for what is archived, and for a head that is not the expected one', async () => {
    const slug = await client.make(data({ a: 1 }))
    const first = await client.latest(slug)
    const second = await client.commit(slug, { data: data({ a: 2 }) })
    await client.commit(slug, { data: data({ a: 3 }) })
    const body = { revision: { id: first.id }, target: { variant: { slug } } }
    const moved = await client.post('/revisions/restore', { ...body, expected_target: second.id })
    expect(refused(moved)).to.equal('409 revision_conflict')
    await client.post(`/revisions/${second.id}/archive`, {})
    const gone = await client.post('/revisions/restore', { ...body, revision: { id: second.id } })
    expect(refused(gone)).to.equal('409 archived')
    expect(gone.body.detail).to.include('before you restore it')
    await client.post(`/variants/${slug}/archive`, {})
    expect(refused(await client.post('/revisions/restore', body))).to.equal('409 archived')
  })

  it('brings back what an environment ran', async () => {
    const environments = await startMerging('environment')
    try {
      const pins = (version: number): object => ({
        references: { 'bot.revision': { workflow_revision: { slug: 'bot', version } } },
      })
      const slug = await environments.make(pins(1))
      await environments.commit(slug, { data: pins(2) })
      const revision = { slug, version: 1 }
      const { body } = await environments.post('/revisions/restore', { revision })
      expect(body.environment_revision.data).to.deep.include(pins(1))
    } finally {
      await environments.stop()
    }
  })

  // interface 6.17
  it('of a testset takes its rows as they lie, however many', async () => {
    const testsets = await startMerging('testset')
    try {
      const rows = (count: number): object => ({
        testcases: Array.from({ length: count }, (_, n) => ({ data: { testcase_dedup_id: `r${n}`, n } })),
      })
      const slug = await testsets.make(rows(3000))
      await testsets.commit(slug, { data: rows(1) })
      const { body } = await testsets.post('/revisions/restore', {
        ...{ revision: { slug, version: 1 }, target: { variant: { slug } } },
        ...{ include_testcases: false, include_testcase_ids: false },
      })
      expect(body.testset_revision).to.include({ version: 3 })
      const of = (ref: string): string => testsets.git(slug, 'rev-parse', `${ref}:testcases`)
      expect(of(slug)).to.equal(of(`${slug}~2`))
    } finally {
      await testsets.stop()
    }
  })
})

describe('compare', () => {
  // interface 6.4
  it('counts along first parents, and shows what the head changed since the merge base', async () => {
    const client = await startMerging('testset')
    try {
      const rows = (...ids: string[]): object => ({
        testcases: ids.map((id) => ({ data: { testcase_dedup_id: id } })),
      })
      const base = await client.make(rows('a', 'b'))
      const head = await client.fork(base)
      await client.commit(base, { data: rows('a', 'b', 'mine') })
      await client.commit(head, { data: rows('a', 'b', 'x') })
      await client.commit(head, { data: rows('b', 'x') })
      const compare = async (one: object, other: object, more = {}): Promise<any> =>
        (await client.post('/variants/compare', { base: one, head: other, ...more })).body
      const [mine, theirs] = [{ variant: { slug: base } }, { variant: { slug: head } }]
      const { compare: found } = await compare(mine, theirs)
      expect(found).to.deep.include({ ahead: 2, behind: 1 })
      expect(found.merge_base).to.include({ slug: `${base}-1`, version: 1 })
      expect(found.ahead_revisions.map((it: any) => it.slug)).to.deep.equal([`${head}-3`, `${head}-2`])
      expect(found.behind_revisions.map((it: any) => it.version)).to.deep.equal([2])
      const ids = (list: any[]): string[] => list.map(({ data }) => data.testcase_dedup_id)
      expect(ids(found.diff.rows.added)).to.deep.equal(['x'])
      expect(ids(found.diff.rows.removed)).to.deep.equal(['a'])
      const page = await compare(mine, theirs, { windowing: { limit: 1 } })
      expect(page.windowing).to.have.property('next')
      await client.merge(head, base)
      const { compare: after } = await compare(mine, theirs)
      expect(after).to.deep.include({ ahead: 0, behind: 2 })
      expect(after.merge_base.slug).to.equal(`${head}-3`)
      const [first] = [{ revision: { slug: base, version: 1 } }]
      expect((await compare(first, mine)).compare).to.deep.include({ ahead: 2, behind: 0 })
    } finally {
      await client.stop()
    }
  })
})
