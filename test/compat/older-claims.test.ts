import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

const SLUGS = ['one', 'two', 'three']

/**
 * Versions before 0.3 recorded no dates of tags, and none of branches that git made. What they left is made here of a store of this version, by
 * taking those records out of it.
 */
describe('compat: since when slugs count that an earlier version left', () => {
  let service: RunningService
  let refsBefore: Record<string, string>
  let clock = Date.parse('2026-01-01T00:00:00Z')

  const now = (): Date => new Date(clock)
  const repository = (slug: string): string => `${service.storeDir}/default/workflows/${slug}.git`
  const refs = (): Record<string, string> =>
    Object.fromEntries(SLUGS.map((slug) => [slug, git(repository(slug), ['for-each-ref'])]))
  const commit = (slug: string, more: object) =>
    service.post('/workflows/revisions/commit', {
      workflow_revision: { workflow_ref: { slug }, data: { parameters: { of: slug } }, ...more },
    })
  const meant = async (references: object): Promise<string> => {
    const { body, text } = await service.post('/workflows/revisions/retrieve', references)
    expect(body.count, text).to.equal(1)
    return body.workflow_revision.artifact_slug
  }
  const shown = (slug: string, path: string): any =>
    JSON.parse(git(repository(slug), ['show', `refs/meta/artifact:${path}`]))
  const namesIn = (slug: string): string[] =>
    git(repository(slug), ['ls-tree', '-r', '--name-only', 'refs/meta/artifact']).split('\n')

  before(async () => {
    service = await startService({ storeDir: temporaryFolder(), now })
    for (const slug of SLUGS) {
      clock += 86_400_000
      await service.post('/simple/workflows', { workflow: { slug, data: { parameters: { of: slug } } } })
    }
    // The tag of the younger artifact is the older one.
    for (const slug of ['two', 'one']) {
      clock += 86_400_000
      await commit(slug, { slug: 'stable', message: 'Stable' })
    }
    await service.stop({ keepStore: true })
    for (const slug of SLUGS) withoutRecords(repository(slug))
    git(repository('two'), ['branch', 'shared', 'two'])
    git(repository('one'), ['branch', 'shared', 'one'])
    rmSync(`${service.storeDir}/default/index.db`, { force: true })
    refsBefore = refs()
    clock = Date.parse('2026-06-01T00:00:00Z')
    service = await startService({ storeDir: service.storeDir, now })
  })
  after(() => service.stop())

  // interface 5.13
  it('are those of commits and creation, and opening writes nothing', async () => {
    expect(await meant({ workflow_revision_ref: { slug: 'stable' } })).to.equal('two')
    // A branch that git made counts from its own oldest commit.
    expect(await meant({ workflow_variant_ref: { slug: 'shared' } })).to.equal('one')
    await pause(500)
    expect(refs()).to.deep.equal(refsBefore)
  })

  // interface 5.13
  it('are recorded with the next write, and what git makes from then on counts from when it was seen', async () => {
    await service.put('/workflows/one', { workflow: { description: 'Changed' } })
    const dates = shown('one', 'tags.json')
    expect(dates).to.deep.equal({ stable: '2026-01-06T00:00:00.000Z' })
    expect(namesIn('one')).to.include('variants/shared.json')
    expect(await meant({ workflow_revision_ref: { slug: 'stable' } })).to.equal('two')
    // Its commit is older than that of the others.
    git(repository('three'), ['tag', 'launch', 'three'])
    git(repository('three'), ['tag', 'stable', 'three'])
    expect(await meant({ workflow_revision_ref: { slug: 'launch' } })).to.equal('three')
    while (!namesIn('three').includes('tags.json')) await pause(50)
    expect(shown('three', 'tags.json').stable > '2026-02').to.equal(true)
    expect(await meant({ workflow_revision_ref: { slug: 'stable' } })).to.equal('two')
  })

  it('stay what they are after a restart without an index', async () => {
    await service.stop({ keepStore: true })
    rmSync(`${service.storeDir}/default/index.db`, { force: true })
    service = await startService({ storeDir: service.storeDir, now })
    expect(await meant({ workflow_revision_ref: { slug: 'stable' } })).to.equal('two')
    expect(await meant({ workflow_variant_ref: { slug: 'shared' } })).to.equal('one')
    git(repository('two'), ['tag', '-d', 'stable'])
    expect(await meant({ workflow_revision_ref: { slug: 'stable' } })).to.equal('one')
  })
})

/** Makes of refs/meta/artifact what an earlier version would have written. */
function withoutRecords(gitdir: string): void {
  const entries = git(gitdir, ['ls-tree', 'refs/meta/artifact'])
    .split('\n')
    .filter((line) => !line.endsWith('tags.json'))
  const tree = execFileSync('git', ['-C', gitdir, 'mktree'], { input: `${entries.join('\n')}\n` })
    .toString()
    .trim()
  const oid = git(gitdir, ['commit-tree', tree, '-m', 'As an earlier version left it'])
  git(gitdir, ['update-ref', 'refs/meta/artifact', oid])
}
