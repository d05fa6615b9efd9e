import { expect } from 'chai'
import { cloneOf, keyWith } from '../../support/git/git-client.ts'
import type { MergeClient } from './merge-client.ts'
import { refused, startMerging } from './merge-client.ts'

describe('merge: environments', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('environment')))
  after(() => client.stop())
  const pin = (version: number): object => ({ workflow_revision: { slug: 'bot', version } })
  const pins = (references: object): object => ({ references })

  it('pins are merged by key, and each is one thing', async () => {
    const target = await client.make(pins({ a: pin(1), b: pin(1) }))
    const source = await client.fork(target)
    await client.commit(target, { data: pins({ a: pin(2), b: pin(1) }) })
    await client.commit(source, {
      data: pins({ a: { workflow_revision: { slug: 'other', version: 1 } }, b: pin(3), c: pin(1) }),
    })
    const { body } = await client.ask(source, target)
    expect(body.conflicts.map(({ place }: any) => place)).to.deep.equal(['/references/a'])
    const { environment_revision: made } = await client.merge(source, target, {
      resolutions: [{ place: '/references/a', take: 'target' }],
    })
    expect(made.data.references).to.deep.equal({ a: pin(2), b: pin(3), c: pin(1) })
  })

  it('one that is guarded needs the scope deploy, as a commit does; to try it does not', async () => {
    const target = await client.make(pins({ a: pin(1) }))
    const source = await client.fork(target)
    await client.commit(source, { data: pins({ a: pin(2) }) })
    const { body } = await client.service.post('/environments/query', { environment: { slug: target } })
    const edited = { environment: { id: body.environments[0].id, flags: { is_guarded: true } } }
    expect((await client.service.put(`/environments/${edited.environment.id}`, edited)).status).to.equal(200)
    const asked = { source: { variant: { slug: source } }, target: { variant: { slug: target } } }
    const by = async (...scopes: ('read' | 'write' | 'deploy')[]) => ({
      authorization: `ApiKey ${await keyWith(client.service, ...scopes)}`,
    })
    const merge = async (more: object, headers: Record<string, string>) =>
      client.service.post('/environments/variants/merge', { ...asked, ...more }, headers)
    expect(refused(await merge({}, await by('read', 'write')))).to.equal('403 guarded')
    expect((await merge({ dry_run: true }, await by('read'))).body.merge.kind).to.equal('fast_forward')
    expect((await merge({}, await by('read', 'write', 'deploy'))).status).to.equal(200)
  })

  it('what would deploy something archived is refused', async () => {
    const bot = await client.service.post('/simple/workflows/', {
      workflow: { slug: 'old-bot', data: { parameters: {} } },
    })
    const target = await client.make(pins({}))
    const source = await client.fork(target)
    const old = { workflow_revision: { slug: 'old-bot', version: 1 } }
    await client.commit(source, { data: pins({ old }) })
    await client.commit(target, { data: pins({ a: pin(1) }) })
    await client.service.post(`/workflows/${bot.body.workflow.id}/archive`)
    for (const more of [{}, { dry_run: true }])
      expect(refused(await client.ask(source, target, more))).to.equal('409 archived')
  })

  // interface 6.2
  it('what an environment runs is a side of a merge', async () => {
    const workflows = await startMerging('workflow')
    try {
      const { service } = workflows
      const target = await workflows.make({ parameters: { a: 1 } })
      const source = await workflows.fork(target)
      const { id } = await workflows.commit(source, { data: { parameters: { a: 2 } } })
      await workflows.commit(source, { data: { parameters: { a: 3 } } })
      const deploy = { workflow_revision_ref: { id }, environment_ref: { slug: 'staging' } }
      expect((await service.post('/workflows/revisions/deploy', deploy)).status).to.equal(200)
      const side = { environment: { slug: 'staging' }, key: `${target}.revision` }
      const { body } = await workflows.post('/variants/merge', {
        source: side,
        target: { variant: { slug: target } },
        fast_forward: false,
      })
      expect(body.workflow_revision.data.parameters).to.deep.equal({ a: 2 })
      expect(workflows.git(target, 'log', '-1', '--format=%s', target)).to.equal(
        `Merge revision '${source}-2' into '${target}'`,
      )
    } finally {
      await workflows.stop()
    }
  })
})

describe('merge: queries', () => {
  it('are merged as JSON', async () => {
    const client = await startMerging('query')
    try {
      const filter = (value: string, limit: number): object => ({
        filtering: { conditions: [{ field: 'name', operator: 'is', value }] },
        windowing: { limit },
      })
      const target = await client.make(filter('a', 10))
      const source = await client.fork(target)
      await client.commit(target, { data: filter('b', 10) })
      await client.commit(source, { data: filter('a', 20) })
      const { query_revision: made } = await client.merge(source, target)
      expect(made.data.windowing.limit).to.equal(20)
      expect(made.data.filtering.conditions[0].value).to.equal('b')
    } finally {
      await client.stop()
    }
  })
})

describe('merge: files that are no payload', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('workflow')))
  after(() => client.stop())

  /** Two variants that git filled with files. */
  const pushed = async (
    mine: Record<string, string | Buffer>,
    theirs: Record<string, string | Buffer>,
  ): Promise<[string, string]> => {
    const target = await client.make({
      parameters: { prompt: { messages: [{ role: 'user', content: 'x' }] } },
    })
    const clone = await cloneOf(client.service, target)
    const put = async (files: Record<string, string | Buffer>): Promise<void> => {
      for (const [path, text] of Object.entries(files)) {
        if (text === '') await clone.git('rm', '-q', path)
        else clone.write(path, text)
      }
      await clone.commit('Files')
    }
    await put({ 'README.md': 'One\nTwo\nThree\nFour\nFive\n', 'prompt/notes.txt': 'n\n', 'logo.bin': 'a\0b' })
    await clone.git('push', '-q', 'origin', `HEAD:${target}`, `HEAD:${target}-theirs`)
    await put(mine)
    await clone.git('push', '-q', 'origin', `HEAD:${target}`)
    await clone.git('reset', '-q', '--hard', `HEAD~1`)
    await put(theirs)
    await clone.git('push', '-q', 'origin', `HEAD:${target}-theirs`)
    return [`${target}-theirs`, target]
  }
  const file = (slug: string, path: string): string => client.git(slug, 'show', `${slug}:${path}`)

  it('texts are merged by line, also beside the texts of a prompt; others are taken whole', async () => {
    const [source, target] = await pushed(
      { 'README.md': 'Eins\nTwo\nThree\nFour\nFive\n', 'mine.txt': 'm' },
      {
        'README.md': 'One\nTwo\nThree\nFour\nFünf\n',
        'prompt/notes.txt': 'more\n',
        'logo.bin': 'a\0c',
        'theirs.txt': 't',
      },
    )
    await client.merge(source, target)
    expect(file(target, 'README.md')).to.equal('Eins\nTwo\nThree\nFour\nFünf')
    expect(file(target, 'prompt/notes.txt')).to.equal('more')
    expect(file(target, 'logo.bin')).to.equal('a\0c')
    expect(client.git(target, 'ls-tree', '-r', '--name-only', target).split('\n')).to.have.members([
      'README.md',
      'data.json',
      'logo.bin',
      'mine.txt',
      'prompt/notes.txt',
      'prompt/user.md',
      'theirs.txt',
    ])
  })

  // interface 6.3
  it('what both changed is a conflict of the file', async () => {
    const [source, target] = await pushed(
      { 'README.md': 'One\nTwo\nDrei\nFour\nFive\n', 'logo.bin': 'a\0x', 'prompt/notes.txt': '' },
      { 'README.md': 'One\nTwo\nTrois\nFour\nFive\n', 'logo.bin': 'a\0y', 'prompt/notes.txt': 'more\n' },
    )
    const { body } = await client.ask(source, target)
    expect(
      body.conflicts.map(({ place, in: side, kind }: any) => [place.file, side, kind]),
    ).to.have.deep.members([
      ['README.md', undefined, 'both_changed'],
      ['logo.bin', undefined, 'both_changed'],
      ['prompt/notes.txt', 'source', 'changed_and_removed'],
    ])
    const readme = body.conflicts.find(({ place }: any) => place.file === 'README.md')
    expect(readme.marked).to.equal(
      'One\nTwo\n<<<<<<< target\nDrei\n||||||| base\nThree\n=======\nTrois\n>>>>>>> source\nFour\nFive\n',
    )
    await client.merge(source, target, {
      resolutions: [
        { place: { file: 'README.md' }, value: 'All\n' },
        { place: { file: 'logo.bin' }, take: 'source' },
        { place: { file: 'prompt/notes.txt' }, in: 'source', remove: true },
      ],
    })
    expect(file(target, 'README.md')).to.equal('All')
    expect(file(target, 'logo.bin')).to.equal('a\0y')
    expect(client.git(target, 'ls-tree', '-r', '--name-only', target)).to.not.include('notes.txt')
  })
})

describe('merge: several merge bases', () => {
  it('are merged first: what both sides took of one another is no conflict any more', async () => {
    for (const singular of ['workflow', 'testset'] as const) {
      const client = await startMerging(singular)
      try {
        const data = (x: number, y: number): object =>
          singular === 'workflow'
            ? { parameters: { x, y } }
            : { testcases: [{ data: { testcase_dedup_id: 'a', x, y } }] }
        const one = await client.make(data(0, 0))
        const other = await client.fork(one)
        const { id: x } = await client.commit(one, { data: data(1, 0) })
        const { id: y } = await client.commit(other, { data: data(0, 1) })
        const take = (id: string, slug: string) =>
          client.post('/variants/merge', { source: { revision: { id } }, target: { variant: { slug } } })
        expect((await take(y, one)).body.merge.kind).to.equal('merge')
        expect((await take(x, other)).body.merge.kind).to.equal('merge')
        expect(client.git(one, 'merge-base', '--all', one, other).split('\n')).to.have.length(2)
        await client.commit(one, { data: data(2, 1) })
        await client.commit(other, { data: data(1, 3) })
        const { merge, ...made } = await client.merge(other, one)
        expect(merge).to.deep.include({ kind: 'merge', base: null })
        const shown = made[`${singular}_revision`].data
        expect(shown.parameters ?? shown.testcases[0].data).to.deep.include({ x: 2, y: 3 })
      } finally {
        await client.stop()
      }
    }
  })
})
