import { expect } from 'chai'
import { keyWith, cloneOf } from '../../support/git/git-client.ts'
import type { MergeClient } from './merge-client.ts'
import { refused, startMerging } from './merge-client.ts'

describe('merge: what is refused stores nothing', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('workflow')))
  after(() => client.stop())
  const data = (parameters: object): object => ({ parameters })

  const parted = async (): Promise<[string, string]> => {
    const target = await client.make(data({ a: 1 }))
    const source = await client.fork(target)
    await client.commit(target, { data: data({ a: 1, mine: 1 }) })
    await client.commit(source, { data: data({ a: 1, theirs: 1 }) })
    return [source, target]
  }
  const refs = (slug: string): string => client.git(slug, 'for-each-ref')

  // interface 6.12
  it('histories that have nothing in common', async () => {
    const [source, target] = await parted()
    const clone = await cloneOf(client.service, target)
    await clone.git('switch', '-q', '--orphan', `${target}-other`)
    clone.write('data.json', '{"parameters":{}}\n')
    await clone.commit('Begin anew')
    await clone.git('push', '-q', 'origin', `HEAD:${target}-other`)
    const before = refs(target)
    const reply = await client.ask(`${target}-other`, target)
    expect(refused(reply)).to.equal('422 unrelated')
    expect(reply.body.detail).to.include('have no revision in common')
    expect(refs(target)).to.equal(before)
    expect((await client.merge(source, target)).merge.kind).to.equal('merge')
  })

  // interface 6.12
  it('another artifact', async () => {
    const [one] = await parted()
    const [, two] = await parted()
    for (const more of [{}, { dry_run: true }])
      expect(refused(await client.ask(one, two, more))).to.equal('422 unrelated')
    const pick = await client.post('/revisions/cherry-pick', {
      revision: { slug: one, version: 2 },
      target: { variant: { slug: two } },
    })
    expect(refused(pick)).to.equal('422 unrelated')
    const compare = await client.post('/variants/compare', {
      base: { variant: { slug: one } },
      head: { variant: { slug: two } },
    })
    expect(refused(compare)).to.equal('422 unrelated')
  })

  it('a variant into itself', async () => {
    const [, target] = await parted()
    const reply = await client.ask(target, target)
    expect(refused(reply)).to.equal('422 invalid_request')
    expect(reply.body.errors[0]).to.deep.include({ loc: ['body', 'source'], type: 'same_variant' })
  })

  it('what is archived: the artifact, the target, the source, a revision', async () => {
    for (const which of ['target', 'source'] as const) {
      const [source, target] = await parted()
      const slug = { source, target }[which]
      expect((await client.post(`/variants/${slug}/archive`, {})).status).to.equal(200)
      const before = refs(target)
      expect(refused(await client.ask(source, target)), which).to.equal('409 archived')
      expect(refs(target)).to.equal(before)
    }
    const [source, target] = await parted()
    const { id } = await client.latest(source)
    await client.post(`/revisions/${id}/archive`, {})
    const side = { source: { revision: { id } }, target: { variant: { slug: target } } }
    expect(refused(await client.post('/variants/merge', side))).to.equal('409 archived')
    await client.post(`/${target}/archive`, {})
    expect(refused(await client.ask(source, target))).to.equal('409 archived')
  })

  // interface 6.10
  it('a target that moved between the dry run and the merge', async () => {
    const [source, target] = await parted()
    const { id } = await client.latest(target)
    await client.merge(source, target, { dry_run: true, expected_target: id })
    await client.commit(target, { data: data({ a: 1, mine: 2 }) })
    const before = refs(target)
    const reply = await client.ask(source, target, { expected_target: id })
    expect(refused(reply)).to.equal('409 revision_conflict')
    const now = await client.latest(target)
    expect(reply.body.details).to.deep.equal({ expected_target: id, current_revision_id: now.id })
    expect(refs(target)).to.equal(before)
    await client.merge(source, target, { expected_target: now.id })
  })

  // interface 6.8
  it('a resolution where nothing is in conflict, also where nothing is to be merged', async () => {
    const [source, target] = await parted()
    const resolutions = [{ place: '/parameters/a', take: 'target' }]
    const before = refs(target)
    expect(refused(await client.ask(source, target, { resolutions }))).to.equal('422 no_such_conflict')
    expect(refs(target)).to.equal(before)
    await client.merge(source, target)
    expect(refused(await client.ask(source, target, { resolutions }))).to.equal('422 no_such_conflict')
  })

  it('sides and resolutions that say nothing, or too much', async () => {
    const [source, target] = await parted()
    const [mine, theirs] = [{ variant: { slug: target } }, { variant: { slug: source } }]
    const asked = (body: object) => client.post('/variants/merge', body)
    for (const [name, body] of Object.entries({
      'no target': { source: theirs },
      'no source': { target: mine },
      'an empty side': { source: {}, target: mine },
      'two things': { source: { ...theirs, revision: { slug: source, version: 1 } }, target: mine },
      'a revision as target': { source: theirs, target: { revision: { slug: target, version: 1 } } },
      'a key without an environment': { source: { ...theirs, key: 'x' }, target: mine },
      'a resolution of nothing': { source: theirs, target: mine, resolutions: [{ place: '/a' }] },
      'a resolution of two': {
        source: theirs,
        target: mine,
        resolutions: [{ place: '/a', take: 'base', remove: true }],
      },
      'an odd place': { source: theirs, target: mine, resolutions: [{ place: { spot: 1 }, take: 'base' }] },
      'an odd take': { source: theirs, target: mine, resolutions: [{ place: '/a', take: 'mine' }] },
      'a resolution of no place': { source: theirs, target: mine, resolutions: [{ take: 'source' }] },
      'a side of all that has a place': {
        source: theirs,
        target: mine,
        resolutions: [{ place: '/a', all: 'source' }],
      },
      'a side of all that is the base': { source: theirs, target: mine, resolutions: [{ all: 'base' }] },
      'a side of all that is not the last': {
        source: theirs,
        target: mine,
        resolutions: [{ all: 'source' }, { place: '/a', take: 'source' }],
      },
      'two sides of all': {
        source: theirs,
        target: mine,
        resolutions: [{ all: 'source' }, { all: 'target' }],
      },
      'an unknown field': { source: theirs, target: mine, squash: true },
    })) {
      const { status } = await asked(body)
      expect(status, name).to.equal(422)
    }
    const missing = await asked({ source: { variant: { slug: 'nowhere' } }, target: mine })
    expect(refused(missing)).to.equal('404 variant_not_found')
  })

  // interface 2.4
  it('a key without the scope: reading is enough to try, writing to merge', async () => {
    const [source, target] = await parted()
    const headers = { authorization: `ApiKey ${await keyWith(client.service, 'read')}` }
    const body = { source: { variant: { slug: source } }, target: { variant: { slug: target } } }
    const ask = (more: object, by = headers) =>
      client.service.post('/workflows/variants/merge', { ...body, ...more }, by)
    expect(refused(await ask({}))).to.equal('403 missing_scope')
    expect((await ask({ dry_run: true })).body.merge.kind).to.equal('merge')
    const writer = { authorization: `ApiKey ${await keyWith(client.service, 'write')}` }
    expect(refused(await ask({ dry_run: true }, writer))).to.equal('403 missing_scope')
    const { status, body: answer } = await ask({}, writer)
    expect(status).to.equal(200)
    expect(answer.workflow_revision).to.not.have.property('data')
  })

  it('16 merges into one variant at once all happen, on top of one another', async () => {
    const target = await client.make(data({ a: 1 }))
    const sources = await Promise.all(
      Array.from({ length: 16 }, async (_, n) => {
        const source = await client.fork(target)
        await client.commit(source, { data: data({ a: 1, [`from${n}`]: n }) })
        return source
      }),
    )
    await client.commit(target, { data: data({ a: 1, mine: true }) })
    const merged = await Promise.all(sources.map((source) => client.merge(source, target)))
    const versions = merged.map(({ workflow_revision: it }) => it.version).sort((a, b) => a - b)
    expect(versions).to.deep.equal(Array.from({ length: 16 }, (_, n) => n + 3))
    const { parameters } = (await client.latest(target)).data
    expect(Object.keys(parameters)).to.have.length(18)
    expect(client.git(target, 'rev-list', '--first-parent', '--count', target)).to.equal('18')
  })

  it('16 merges of one source at once: one merges, the others find it up to date', async () => {
    const [source, target] = await parted()
    const merged = await Promise.all(Array.from({ length: 16 }, () => client.merge(source, target)))
    const kinds = merged.map(({ merge }) => merge.kind).sort()
    expect(kinds).to.deep.equal(['merge', ...new Array<string>(15).fill('up_to_date')])
    expect((await client.latest(target)).version).to.equal(3)
  })

  it('an Idempotency-Key makes a merge safe to repeat, and another body with it is refused', async () => {
    const [source, target] = await parted()
    const body = { source: { variant: { slug: source } }, target: { variant: { slug: target } } }
    const headers = { 'idempotency-key': `merge-${target}` }
    const ask = (more = {}) => client.service.post('/workflows/variants/merge', { ...body, ...more }, headers)
    const first = await ask()
    const again = await ask()
    expect(first.body.merge.kind).to.equal('merge')
    expect(again.body).to.deep.equal(first.body)
    expect((await client.latest(target)).version).to.equal(3)
    expect(refused(await ask({ message: 'Other' }))).to.equal('422 idempotency_key_reused')
  })

  it('a repeated fast-forward names the target again, though the source has the same revision', async () => {
    const target = await client.make({ parameters: { a: 1 } })
    const source = await client.fork(target)
    await client.commit(source, { data: { parameters: { a: 2 } } })
    const body = { source: { variant: { slug: source } }, target: { variant: { slug: target } } }
    const ask = () =>
      client.service.post('/workflows/variants/merge', body, { 'idempotency-key': `forward-${target}` })
    const first = await ask()
    expect(first.body.merge.kind, first.text).to.equal('fast_forward')
    expect(first.body.workflow_revision.variant_slug).to.equal(target)
    expect((await ask()).body).to.deep.equal(first.body)
  })
})
