import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import type { Reply } from '../../support/servers/service.ts'
import { git } from '../../support/git/git-program.ts'
import { expectRefusal } from '../conformance/surface-client.ts'
import { keyWithScopes } from '../invocation/key-with-scopes.ts'
import type { MadeTestset, TestsetClient } from './testset-client.ts'
import { startTestsets } from './testset-client.ts'

interface Change {
  readonly revision: { readonly id: string; readonly slug: string; readonly version: number }
  readonly author: string
  readonly date: string
  readonly kind: string
  readonly data?: Readonly<Record<string, unknown>>
}

describe('POST /testsets/rows/history', () => {
  let client: TestsetClient
  before(async () => (client = await startTestsets()))
  after(() => client.stop())

  const ask = (slug: string, dedupId: string, windowing?: object): Promise<Reply> =>
    client.service.post('/testsets/rows/history', {
      ...{ testset_variant_ref: { slug }, dedup_id: dedupId, windowing },
    })
  const changesOf = async (slug: string, dedupId: string, windowing?: object): Promise<readonly Change[]> => {
    const { status, text, body } = await ask(slug, dedupId, windowing)
    expect(status, text).to.equal(200)
    expect(body.count).to.equal(body.changes.length)
    return body.changes
  }
  /** The row of a dedup id in the latest revision: the id of its testcase. */
  const idOf = async (testset: MadeTestset, dedupId: string): Promise<string> => {
    const { data } = await client.latest(testset)
    return data.testcases.find((it: any) => it.data.testcase_dedup_id === dedupId)?.id ?? expect.fail(dedupId)
  }
  const row = (dedupId: string, value: number) => ({ n: value, testcase_dedup_id: dedupId })
  const many = (count: number) => Array.from({ length: count }, (_, n) => row(`r${n}`, n))

  // interface 13.6
  it('tells when it was added, changed, removed and added again, and leaves out what did not touch it', async () => {
    const testset = await client.make([row('other', 1)])
    const added = await client.change(testset, { rows: { add: [{ data: row('mine', 1) }] } })
    await client.change(testset, { rows: { add: [{ data: row('third', 3) }] } })
    const replaced = { id: await idOf(testset, 'mine'), data: row('mine', 2) }
    const changed = await client.change(testset, { rows: { replace: [replaced] } })
    const removed = await client.change(testset, { rows: { remove: [await idOf(testset, 'mine')] } })
    await client.change(testset, { columns: { add: ['note'] } })
    const again = await client.change(testset, { rows: { add: [{ data: row('mine', 2) }] } })
    const shown = ({ id, slug, version, author, date }: any, kind: string, data?: object) => ({
      ...{ revision: { id, slug, version }, author, date, kind },
      ...(data ? { data } : {}),
    })
    const changes = await changesOf(testset.slug, 'mine')
    const { note, ...last } = changes[0]?.data ?? {}
    expect(last).to.deep.equal(row('mine', 2))
    expect([{ ...changes[0], data: last }, ...changes.slice(1)]).to.deep.equal([
      shown(again, 'added', row('mine', 2)),
      shown(removed, 'removed'),
      shown(changed, 'changed', row('mine', 2)),
      shown(added, 'added', row('mine', 1)),
    ])
    // A new column is one more member of every row that is there.
    const other = await changesOf(testset.slug, 'other')
    expect(other.map(({ kind, revision }) => [kind, revision.version])).to.deep.equal([
      ['changed', 6],
      ['added', 1],
    ])
    expect(other[0]?.data).to.have.property('note')
    expect(await changesOf(testset.slug, 'nobody')).to.deep.equal([])
  })

  it('does not count that it moved, nor that all rows were written anew, and finds it in a row that git wrote', async () => {
    const testset = await client.make(many(600))
    await client.change(testset, { rows: { remove: [await idOf(testset, 'r1'), await idOf(testset, 'r2')] } })
    const lines = [...many(600).reverse(), row('r700', 700)]
    const { revision_id: before } = { revision_id: (await client.latest(testset)).id }
    const turned = lines.map((it) => `${JSON.stringify(it)}\n`).join('')
    await client.replaceBy(before, turned, { file_type: 'jsonl' })
    expect((await changesOf(testset.slug, 'r300')).map(({ kind }) => kind)).to.deep.equal(['added'])
    expect((await changesOf(testset.slug, 'r2')).map(({ kind }) => kind)).to.deep.equal([
      'added',
      'removed',
      'added',
    ])
    expect((await changesOf(testset.slug, 'r700'))[0]).to.deep.include({
      kind: 'added',
      data: row('r700', 700),
    })
    const folder = `${client.repository(testset.slug)}.clone`
    execFileSync('git', ['clone', '-q', client.repository(testset.slug), folder])
    const found = git(folder, ['grep', '-l', '"r300"', '--', 'testcases'])
    execFileSync('sed', ['-i', 's/"n":300/"n":301/', `${folder}/${found}`])
    git(folder, ['commit', '-qam', 'By hand'])
    git(folder, ['push', '-q', 'origin', 'HEAD'])
    const [newest] = await changesOf(testset.slug, 'r300')
    expect(newest).to.deep.include({
      kind: 'changed',
      data: row('r300', 301),
      author: 'Ann <ann@example.com>',
    })
  })

  it('follows the variant that is asked, and pages without a gap', async () => {
    const testset = await client.make([row('mine', 0)])
    for (let n = 1; n <= 5; n++) {
      const id = await idOf(testset, 'mine')
      await client.change(testset, { rows: { replace: [{ id, data: row('mine', n) }] } })
    }
    const slug = `${testset.slug}.fork`
    const forked = await client.service.post('/testsets/variants/fork', {
      ...{ testset_variant: { slug }, testset_revision_ref: { slug: testset.slug, version: 3 } },
    })
    expect(forked.status, forked.text).to.equal(200)
    const onFork = await changesOf(slug, 'mine')
    expect(onFork.map(({ data }) => data?.['n'])).to.deep.equal([2, 1, 0])
    expect(onFork.map(({ revision }) => revision.slug)).to.deep.equal([`${slug}-3`, `${slug}-2`, `${slug}-1`])
    const values: unknown[] = []
    let next: string | undefined
    do {
      const { status, text, body } = await ask(testset.slug, 'mine', { limit: 2, next })
      expect(status, text).to.equal(200)
      values.push(...body.changes.map(({ data }: Change) => data?.['n']))
      next = body.windowing?.next
      if (next !== undefined) expect(body.windowing).to.deep.equal({ limit: 2, next })
    } while (next !== undefined && values.length < 20)
    expect(values).to.deep.equal([5, 4, 3, 2, 1, 0])
  })

  it('tells that only what belongs to the row has changed', async () => {
    const testset = await client.make([row('mine', 0)])
    const id = await idOf(testset, 'mine')
    await client.change(testset, { rows: { replace: [{ id, data: row('mine', 0), tags: { hard: true } }] } })
    expect((await changesOf(testset.slug, 'mine')).map(({ kind }) => kind)).to.deep.equal([
      'changed',
      'added',
    ])
  })

  it('refuses to look through rows without an end', async () => {
    const { slug } = await client.make([row('mine', 0)])
    const repository = client.repository(slug)
    const named = (mode: string, oid: string, ending: string) =>
      Array.from({ length: 255 }, (_, n) => {
        const name = (n + 1).toString(16).padStart(2, '0') + ending
        return `${mode} ${oid}\t${name}\n`
      }).join('')
    const blob = git(repository, ['hash-object', '-w', '--stdin'], `${JSON.stringify(row('one', 1))}\n`)
    let tree = git(repository, ['mktree'], named('100644 blob', blob, '.json'))
    for (let level = 0; level < 4; level++) tree = git(repository, ['mktree'], named('040000 tree', tree, ''))
    const root = git(repository, ['mktree'], `040000 tree ${tree}\ttestcases\n`)
    const commit = git(repository, ['commit-tree', root, '-p', slug, '-m', 'Bomb'])
    git(repository, ['update-ref', `refs/heads/${slug}`, commit])
    expectRefusal(await ask(slug, 'mine'), 503, 'damaged_repository', 'more than 10000000 rows')
  })

  it('refuses, naming the field', async () => {
    const testset = await client.make([row('mine', 0)])
    const other = await client.make([row('mine', 0)])
    const { slug } = testset
    expectRefusal(
      await ask(slug, 'mine', { next: other.revisionId }),
      422,
      'invalid_request',
      'body.windowing.next',
    )
    expectRefusal(await ask(slug, 'mine', { next: 'x' }), 422, 'invalid_request', 'body.windowing.next')
    expectRefusal(await ask(slug, 'mine', { limit: 0 }), 422, 'invalid_request', 'body.windowing.limit')
    expectRefusal(await ask(slug, 'mine', { order: 'name' }), 422, 'unknown_field', 'body.windowing.order')
    expectRefusal(await ask(slug, ''), 422, 'invalid_request', 'body.dedup_id')
    expectRefusal(await ask('nobody', 'mine'), 404, 'variant_not_found', 'nobody')
    const post = (body: object, headers?: Readonly<Record<string, string>>) =>
      client.service.post('/testsets/rows/history', body, headers)
    const named = { testset_variant_ref: { slug } }
    expectRefusal(await post({ dedup_id: 'mine' }), 422, 'invalid_request', 'body.testset_variant_ref')
    expectRefusal(await post(named), 422, 'invalid_request', 'body.dedup_id')
    const headers = await keyWithScopes(client.service, ['write'])
    expectRefusal(await post({ ...named, dedup_id: 'mine' }, headers), 403, 'missing_scope', 'read')
    expect((await post({ ...named, testset_ref: { slug }, dedup_id: 'mine' })).body.count).to.equal(1)
  })
})
