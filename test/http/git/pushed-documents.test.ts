import { expect } from 'chai'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneIn, cloneOf, latest, newFolder, workflow } from '../../support/git/git-client.ts'

/** What a file of a workflow or query may not hold, and what the terminal shows of it. */
const REFUSED: readonly (readonly [what: string, path: string, content: object, says: RegExp])[] = [
  [
    'an unknown key in data',
    'data.json',
    { colour: 'red', parameters: {} },
    /data\.json: colour: "colour" is not a key of data; its keys are uri, url, .*git commit --amend/,
  ],
  [
    'every problem, not the first only',
    'data.json',
    { url: 'nowhere', runtime: 'cobol' },
    /data\.json: url: "nowhere" is not an absolute .*; runtime: "cobol" is not a runtime/,
  ],
  [
    'a uri of ours that is no handler',
    'data.json',
    { uri: 'svc:builtin:nonsense:v0' },
    /data\.json: uri: "svc:builtin:nonsense" is not a handler of this service/,
  ],
  [
    'schemas that are none',
    'data.json',
    { schemas: { inputs: { type: 'banana' } } },
    /data\.json: schemas\.inputs/,
  ],
  [
    'headers that HTTP cannot carry',
    'data.json',
    { headers: { 'X Y': '1' } },
    /data\.json: headers\.X Y: "X Y" cannot be/,
  ],
  [
    'a header of the revision that is of another kind',
    'revision.json',
    { flags: { is_good: 'yes' } },
    /revision\.json: flags: is_good: /,
  ],
]

describe('git: a pushed document is checked as a commit over REST is', () => {
  let service: RunningService
  let number = 0
  before(async () => (service = await startService()))
  after(() => service.stop())

  const fresh = async (): Promise<{ readonly clone: Clone; readonly slug: string }> => {
    const slug = `bot${++number}`
    await workflow(service, slug)
    return { slug, clone: await cloneOf(service, slug) }
  }

  for (const [what, path, content, says] of REFUSED) {
    // interface 15.2
    it(`names file, place and reason of ${what}`, async () => {
      const { clone, slug } = await fresh()
      clone.write(path, JSON.stringify(content))
      const commit = await clone.commit('Bad')
      const { code, terminal } = await clone.try('push')
      expect(code).to.equal(1)
      expect(terminal).to.match(new RegExp(`^remote: Commit ${commit} .*${says.source}`, 'm'))
      expect((await latest(service, slug)).version).to.equal(1)
    })
  }

  it('REST refuses the same data', async () => {
    const { slug } = await fresh()
    const { variant_id } = await latest(service, slug)
    for (const [what, path, data] of REFUSED) {
      if (path !== 'data.json') continue
      const { status } = await service.post('/workflows/revisions/commit', {
        workflow_revision_commit: { workflow_variant_id: variant_id, data },
      })
      expect(status, what).to.equal(422)
    }
  })

  it('a query with an unknown key', async () => {
    await service.post('/simple/queries/', { query: { slug: 'recent', data: {} } })
    const clone = await cloneOf(service, 'recent', { family: 'queries' })
    clone.write('data.json', '{"filtering": {"operator": "xor", "conditions": []}, "colour": "red"}')
    await clone.commit('Bad')
    expect((await clone.try('push')).terminal).to.match(
      /^remote: .*data\.json: filtering\.operator: .*colour: "colour" is not a key of data/m,
    )
  })

  it('a good commit on top of a bad one does not make it good', async () => {
    const { clone } = await fresh()
    clone.write('data.json', '{"colour": "red"}')
    const bad = await clone.commit('Bad')
    clone.write('data.json', '{"parameters": {}}')
    await clone.commit('Good again')
    expect((await clone.try('push')).terminal).to.match(new RegExp(`^remote: Commit ${bad} `, 'm'))
  })

  it('what older revisions hold can be built upon as long as it stays as it is', async () => {
    const { clone, slug } = await fresh()
    for (const content of ['{"colour": "red"}', '{"parameters": ']) {
      behindTheBack(service.repository(slug), slug, content)
      await clone.git('pull', '-q', '--rebase')
      clone.write('README.md', content)
      await clone.commit('Read me')
      await clone.git('push', '-q')
      expect(git(service.repository(slug), ['show', `${slug}:data.json`])).to.equal(content)
    }
    clone.write('data.json', '{"colour": "green"}')
    await clone.commit('Still an unknown key')
    expect((await clone.try('push')).terminal).to.match(/^remote: .*"colour" is not a key of data/m)
    clone.write('data.json', '{"parameters": {}}')
    await clone.git('add', '-A')
    await clone.git('commit', '-q', '--amend', '-m', 'Put right')
    await clone.git('push', '-q')
    expect(await latest(service, slug)).to.include({ version: 6, message: 'Put right' })
  })

  it('a payload may come later than the first revision, and not go away again', async () => {
    await service.post('/workflows/', { workflow: { slug: 'bare' } })
    const clone = cloneIn(newFolder())
    await clone.git('init', '-q', '-b', 'bare')
    await clone.git('remote', 'add', 'origin', (await remote(await fresh())).replace(/bot\d+/, 'bare'))
    clone.write('README.md', 'Nothing yet\n')
    await clone.commit('Begin')
    await clone.git('push', '-q', 'origin', 'bare')
    expect((await latest(service, 'bare')).data).to.equal(undefined)
    clone.write('data.json', '{"parameters": {"number": 2}}')
    await clone.commit('Data')
    await clone.git('push', '-q', 'origin', 'bare')
    expect((await latest(service, 'bare')).version).to.equal(2)
    rmSync(join(clone.folder, 'data.json'))
    await clone.commit('Away')
    const { terminal } = await clone.try('push', 'origin', 'bare')
    expect(terminal).to.match(
      /^remote: Commit .* takes data\.json away, .*\(git checkout [0-9a-f]{12}~1 -- data\.json/m,
    )
    expect(terminal).to.include('(payload removed)')
  })
})

async function remote({ clone }: { readonly clone: Clone }): Promise<string> {
  return clone.git('remote', 'get-url', 'origin')
}

/** A commit that changes `data.json`, made in the repository itself. */
function behindTheBack(repository: string, branch: string, content: string): void {
  const folder = newFolder()
  git(folder, ['clone', '-q', '-b', branch, repository, '.'])
  writeFileSync(join(folder, 'data.json'), content)
  git(folder, ['commit', '-q', '-am', 'By hand'])
  git(folder, ['push', '-q', 'origin', branch])
}
