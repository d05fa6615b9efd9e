import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { createApiKey, revokeApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneOf, latest, remoteOf, workflow } from '../../support/git/git-client.ts'

const REF = 'refs/notes/pushes'

describe('git: who pushed', () => {
  let service: RunningService
  let ann: string
  let bob: string
  before(async () => {
    service = await startService()
    ann = await keyOf('ann')
    bob = await keyOf('bob')
  })
  after(() => service.stop())

  const keyOf = async (name: string) =>
    (await createApiKey(nodeFs, service.storeDir, { project: 'default', name, scopes: ['read', 'write'] }))
      .token
  const inStore = (slug: string, ...args: readonly string[]) => git(service.repository(slug), args)
  const note = (slug: string, commit: string) =>
    JSON.parse(inStore(slug, 'notes', '--ref=pushes', 'show', commit))
  const noted = (slug: string) =>
    inStore(slug, 'notes', '--ref=pushes', 'list')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(41))
  const started = async (slug: string, key: string): Promise<Clone> => {
    await workflow(service, slug)
    return cloneOf(service, slug, { key })
  }
  const edit = async (clone: Clone, number: number) => {
    clone.write('data.json', `{"parameters": {"number": ${number}}}`)
    return clone.commit(`Number ${number}`)
  }
  const provenance = async (id: string) =>
    (await service.get(`/workflows/revisions/${id}/provenance`)).body.provenance
  const log = async (slug: string) =>
    (await service.post('/workflows/revisions/log', { workflow: { workflow_ref: { slug } } })).body
      .workflow_revisions

  // interface 15.6
  it('is noted on each commit that a push brings, and on no other', async () => {
    const clone = await started('bot', ann)
    const commits = [await edit(clone, 2), await edit(clone, 3)]
    const before = Date.now()
    await clone.git('push', '-q')
    expect(noted('bot').sort()).to.deep.equal([...commits].sort())
    const [first] = commits
    const said = note('bot', first ?? '')
    expect(Object.keys(said)).to.deep.equal(['principal', 'time', 'door'])
    expect(said.principal).to.include({ kind: 'key', name: 'ann' })
    expect(said.principal.id).to.match(/^key:[0-9a-f-]{36}$/)
    expect(said.door).to.equal('git')
    expect(said.time).to.match(/Z$/)
    expect(Date.parse(said.time)).to.be.within(before - 1000, Date.now() + 1000)
    expect(inStore('bot', 'log', '-1', '--notes=pushes', '--format=%N', 'bot')).to.include('"name":"ann"')
    expect(inStore('bot', 'log', '-1', '--format=%an: %s', REF)).to.equal('ann: Push 2 commits')
    inStore('bot', 'fsck', '--strict')

    const revisions = await log('bot')
    expect(revisions.map(({ arrival }: any) => arrival?.principal.name)).to.deep.equal([
      'ann',
      'ann',
      undefined,
    ])
    expect(revisions[0].author).to.equal('Ann <ann@example.com>')
    const { id } = await latest(service, 'bot')
    expect((await provenance(id)).arrival).to.deep.equal(said)
    expect((await provenance(revisions[2].id)).arrival).to.equal(null)
  })

  it('is who came first, for ever', async () => {
    const clone = await started('first', ann)
    const commit = await edit(clone, 2)
    await clone.git('push', '-q', 'origin', 'HEAD:refs/heads/first-a')
    const said = note('first', commit)
    const head = inStore('first', 'rev-parse', REF)
    await clone.git('push', '-q', remoteOf(service, 'first', 'workflows', bob), 'HEAD:refs/heads/first-b')
    expect(inStore('first', 'rev-parse', REF)).to.equal(head)
    inStore('first', 'update-ref', '-d', 'refs/heads/first-a')
    inStore('first', 'update-ref', '-d', 'refs/heads/first-b')
    await clone.git('push', '-q', remoteOf(service, 'first', 'workflows', bob), 'HEAD:refs/heads/first-c')
    expect(note('first', commit)).to.deep.equal(said)
  })

  it('is noted on commits behind a merge, an annotated tag and a new branch, too', async () => {
    const clone = await started('merged', ann)
    await clone.git('switch', '-q', '-c', 'side')
    clone.write('README.md', 'x')
    const side = await clone.commit('Side')
    await clone.git('switch', '-q', 'merged')
    const own = await edit(clone, 2)
    await clone.git('merge', '-q', '--no-ff', '-m', 'Merge', 'side')
    const merge = await clone.git('rev-parse', 'HEAD')
    await clone.git('push', '-q', 'origin', 'merged')
    const tagged = await edit(clone, 3)
    await clone.git('tag', '-a', '-m', 'Tag', 'merged-tag')
    await clone.git('push', '-q', 'origin', 'merged-tag')
    expect(noted('merged').sort()).to.deep.equal([side, own, merge, tagged].sort())
  })

  it('is not noted on what was refused', async () => {
    const clone = await started('refused', ann)
    const good = await edit(clone, 2)
    await clone.git('branch', 'refused-good')
    clone.write('data.json', '{"unknown": 1}')
    const bad = await clone.commit('Bad')
    await clone.git('branch', 'refused-bad')
    const { code } = await clone.try('push', 'origin', 'refused-good', 'refused-bad')
    expect(code).to.equal(1)
    expect(noted('refused')).to.deep.equal([good])
    expect(noted('refused')).not.to.include(bad)
    const atomic = await started('atomic', ann)
    await edit(atomic, 2)
    await atomic.git('branch', 'atomic-good')
    atomic.write('data.json', '{"unknown": 1}')
    await atomic.commit('Bad')
    await atomic.try('push', '--atomic', 'origin', 'HEAD:refs/heads/atomic-bad', 'atomic-good')
    expect(() => inStore('atomic', 'rev-parse', '--verify', '-q', REF)).to.throw()
  })

  it('lies in folders of two digits, beside notes that git laid flat', async () => {
    const clone = await started('spread', ann)
    const first = await edit(clone, 2)
    await clone.git('push', '-q')
    expect(inStore('spread', 'ls-tree', '-r', '--name-only', REF)).to.equal(
      `${first.slice(0, 2)}/${first.slice(2)}`,
    )
    // git lays few notes flat when it writes one of its own
    const root = inStore('spread', 'rev-list', '--max-parents=0', 'spread')
    inStore('spread', 'notes', '--ref=pushes', 'add', '-m', 'mine', root)
    expect(inStore('spread', 'ls-tree', '--name-only', REF)).to.include(first)
    const second = await edit(clone, 3)
    await clone.git('push', '-q')
    expect(noted('spread').sort()).to.deep.equal([root, first, second].sort())
    expect(note('spread', first).principal.name).to.equal('ann')
    const arrivals = (await log('spread')).map(({ arrival }: any) => arrival?.principal.name)
    expect(arrivals).to.deep.equal(['ann', 'ann', undefined])
    inStore('spread', 'fsck', '--strict')
  })

  // interface 14.2
  it('is shown by the name of the key, and where the key is unknown by that of the note', async () => {
    const carol = await keyOf('carol')
    const clone = await started('names', carol)
    const commit = await edit(clone, 2)
    await clone.git('push', '-q')
    await revokeApiKey(nodeFs, service.storeDir, 'default', { name: 'carol' })
    const { id } = await latest(service, 'names')
    expect((await provenance(id)).arrival.principal.name).to.equal('carol')
    const { principal, ...rest } = note('names', commit)
    const put = (said: object) =>
      inStore(
        'names',
        'notes',
        '--ref=pushes',
        'add',
        '-f',
        '-m',
        JSON.stringify({ ...rest, principal: said }),
        commit,
      )
    put({ ...principal, name: 'was called' })
    expect((await provenance(id)).arrival.principal.name).to.equal('carol')
    put({ ...principal, id: 'key:elsewhere', name: 'dora' })
    expect((await provenance(id)).arrival.principal.name).to.equal('dora')
    expect((await log('names'))[0].arrival.principal.name).to.equal('dora')
  })

  it('is as if it were missing where somebody damaged it', async () => {
    const clone = await started('odd', ann)
    const commit = await edit(clone, 2)
    await clone.git('push', '-q')
    const { id } = await latest(service, 'odd')
    for (const text of ['by hand', '{"principal": "ann"}', '[]', 'x'.repeat(100_000)]) {
      inStore('odd', 'notes', '--ref=pushes', 'add', '-f', '-m', text, commit)
      expect((await provenance(id)).arrival).to.equal(null)
    }
    inStore('odd', 'update-ref', REF, inStore('odd', 'rev-parse', 'odd:data.json'))
    expect((await provenance(id)).arrival).to.equal(null)
    expect((await log('odd'))[0]).not.to.have.property('arrival')
  })

  it('cannot be pushed, and is fetched by whoever asks', async () => {
    const clone = await started('fetched', ann)
    await edit(clone, 2)
    await clone.git('push', '-q')
    const { code, terminal } = await clone.try('push', 'origin', `HEAD:${REF}`)
    expect(code).to.equal(1)
    expect(terminal).to.include(`${REF} cannot be pushed`)
    await clone.git('fetch', '-q', 'origin', '+refs/notes/*:refs/notes/*')
    expect(await clone.git('log', '-1', '--notes=pushes', '--format=%N')).to.include('"door":"git"')
  })

  it('is noted for each of many that push at once', async () => {
    await workflow(service, 'many')
    const clones = await Promise.all(Array.from({ length: 6 }, () => cloneOf(service, 'many', { key: ann })))
    const commits = await Promise.all(clones.map((clone, number) => edit(clone, 10 + number)))
    await Promise.all(
      clones.map((clone, number) => clone.git('push', '-q', 'origin', `HEAD:refs/heads/many_${number}`)),
    )
    expect(noted('many').sort()).to.deep.equal([...commits].sort())
  })
})
