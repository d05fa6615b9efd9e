import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneOf, latest } from '../../support/git/git-client.ts'

const PLACE = '/parameters/prompt/messages/0/content'

describe('http: blame of a text', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  const create = async (slug: string, text: string): Promise<string> => {
    const reply = await service.post('/simple/workflows/', { workflow: { slug, data: prompt(text) } })
    expect(reply.status, reply.text).to.equal(200)
    return reply.body.workflow.variant_id
  }
  const commit = async (variant: string, message: string | undefined, ...texts: readonly string[]) => {
    const reply = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, message, data: prompt(...texts) },
    })
    expect(reply.status, reply.text).to.equal(200)
    return reply.body.workflow_revision
  }
  const blame = async (id: string, place = PLACE) => {
    const reply = await service.get(`/workflows/revisions/${id}/blame?place=${encodeURIComponent(place)}`)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }

  // interface 6.13
  it('says of each line which revision and commit wrote it, whatever moved around it', async () => {
    const variant = await create('capitals', 'one\ntwo\nthree')
    await commit(variant, 'Second line', 'one\n2\nthree')
    const last = await commit(variant, 'In front', 'hello', 'one\n2\nthree\nfour')
    const { count, lines } = await blame(last.id, '/parameters/prompt/messages/1/content')
    expect(count).to.equal(4)
    expect(lines.map((it: any) => [it.line, it.text, it.revision.version, it.message])).to.deep.equal([
      [1, 'one', 1, null],
      [2, '2', 2, 'Second line'],
      [3, 'three', 1, null],
      [4, 'four', 3, 'In front'],
    ])
    expect(lines[3].revision).to.deep.equal({ id: last.id, slug: 'capitals-3', version: 3 })
    expect(lines[3]).to.include({ author: last.author, date: last.date, subject: 'In front' })
  })

  it('counts inline and file revisions alike, and is what git blames', async () => {
    const tree = await (await create('old', 'a\nb\nc'), cloneOf(service, 'old'))
    tree.write('data.json', JSON.stringify(prompt('a\nb2\nc')))
    await tree.git('rm', '-rq', 'prompt')
    tree.write('data.json', JSON.stringify(prompt('a\nb2\nc')))
    await tree.commit('Inline again')
    await tree.git('push', '-q')
    const { workflow_variant_id, id } = await latest(service, 'old')
    expect((await blame(id)).lines.map((it: any) => it.revision.version)).to.deep.equal([1, 2, 1])
    const next = await commit(workflow_variant_id, 'c', 'a\nb2\nc3')
    expect((await blame(next.id)).lines.map((it: any) => it.revision.version)).to.deep.equal([1, 2, 3])
  })

  it('follows what a merge took in: its commit, and the merge as the revision', async () => {
    const variant = await create('merged', lines('l', 12).join('\n'))
    const tree = await cloneOf(service, 'merged')
    await tree.git('checkout', '-q', '-b', 'side')
    edit(tree, 'prompt/user.md', (text) => text.replace('l11', 'theirs'))
    const theirs = await tree.commit('Theirs')
    await tree.git('checkout', '-q', 'merged')
    edit(tree, 'prompt/user.md', (text) => text.replace('l0\n', 'ours\n'))
    const ours = await tree.commit('Ours')
    await tree.git('merge', '-q', '--no-ff', '-m', 'Both', 'side')
    const merge = await tree.git('rev-parse', 'HEAD')
    await tree.git('push', '-q', 'origin', 'merged')
    const { id, version } = await latest(service, 'merged')
    expect(version).to.equal(3)
    const { lines: blamed } = await blame(id)
    expect(blamed.map((it: any) => [it.commit, it.revision.version])).to.deep.include([theirs, 3])
    expect([blamed[0].commit, blamed[0].revision.version]).to.deep.equal([ours, 2])
    expect(blamed.at(-1).commit).to.equal(theirs)
    expect(await gitBlame(tree, 'prompt/user.md')).to.deep.equal(blamed.map((it: any) => it.commit))
    expect(merge).not.to.equal(theirs)
    expect(variant).to.be.a('string')
  })

  it('is what git blames over a random history of edits, moves and merges', async () => {
    let number = 0
    const fresh = (): string => `line ${number++}`
    const variant = await create('random', Array.from({ length: 20 }, fresh).join('\n'))
    const tree = await cloneOf(service, 'random')
    const change = (): void =>
      edit(tree, 'prompt/user.md', (text) => {
        const all = text.trimEnd().split('\n')
        for (let edits = 0; edits < 3; edits++)
          all.splice(random(all.length), random(3), ...Array.from({ length: random(3) }, fresh))
        return `${all.join('\n')}\n`
      })
    for (let round = 0; round < 12; round++) {
      await tree.git('checkout', '-q', '-B', 'side')
      change()
      await tree.commit(`Side ${round}`)
      await tree.git('checkout', '-q', 'random')
      change()
      await tree.commit(`Main ${round}`)
      if ((await tree.try('merge', '-q', '--no-ff', '-m', `Merge ${round}`, 'side')).code !== 0) {
        await tree.git('checkout', '-q', '--ours', 'prompt/user.md')
        await tree.commit(`Merge ${round}, ours`)
      }
    }
    await tree.git('push', '-q', 'origin', 'random')
    const { id } = await latest(service, 'random')
    const { lines: blamed } = await blame(id)
    expect(blamed.map((it: any) => it.commit)).to.deep.equal(await gitBlame(tree, 'prompt/user.md'))
    expect(blamed.length).to.be.greaterThan(3)
    expect(variant).to.be.a('string')
  })

  // interface 6.13
  it('refuses a place that is no text, naming those that are, and a revision without texts', async () => {
    const { id } = await commit(await create('places', 'one'), 'Two', 'one', 'two')
    for (const place of ['/parameters', '/parameters/prompt/messages/7/content', 'x', '']) {
      const reply = await service.get(`/workflows/revisions/${id}/blame?place=${encodeURIComponent(place)}`)
      expect(reply.status, reply.text).to.equal(422)
      expect(reply.body.detail).to.include(PLACE).and.include('/parameters/prompt/messages/1/content')
    }
    const none = await service.get(`/workflows/revisions/${id}/blame`)
    expect([none.status, none.body.errors?.[0]?.type, none.body.errors?.[0]?.loc]).to.deep.equal([
      422,
      'missing',
      ['query', 'place'],
    ])
    expect(none.body.detail).to.include(PLACE).and.include('/parameters/prompt/messages/1/content')
    await service.post('/simple/testsets/', {
      testset: { slug: 'rows', data: { testcases: [{ data: { a: 'b' } }] } },
    })
    const rows = await latest(service, 'rows', 'testset')
    const reply = await service.get(`/testsets/revisions/${rows.id}/blame?place=/a`)
    expect([reply.status, reply.body.detail]).to.deep.equal([
      422,
      'query.place: "/a" is the JSON Pointer of no text of this revision\'s data. It has no texts.',
    ])
    const nothing = await service.get(`/testsets/revisions/${rows.id}/blame`)
    expect(nothing.body.detail).to.include('It has no texts.')
  })

  // interface 6.15
  it('ends at a thousand lines, and says so', async () => {
    const { id } = await commit(await create('long', 'x'), undefined, lines('long', 1001).join('\n'))
    const { count, lines: blamed, truncated } = await blame(id)
    expect([count, blamed.length, truncated]).to.deep.equal([1000, 1000, true])
  })
})

function prompt(...texts: readonly string[]): object {
  return { parameters: { prompt: { messages: texts.map((content) => ({ role: 'user', content })) } } }
}

function lines(word: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${word}${at}`)
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}

function edit(tree: Clone, path: string, change: (text: string) => string): void {
  tree.write(path, change(readFileSync(join(tree.folder, path), 'utf8')))
}

/** The commit of each line, as git says. */
async function gitBlame(tree: Clone, path: string): Promise<string[]> {
  return (await tree.git('blame', '-l', '-s', '--root', path)).split('\n').map((line) => line.slice(0, 40))
}
