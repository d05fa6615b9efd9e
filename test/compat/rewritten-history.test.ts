import { expect } from 'chai'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

/** Trailers are hints: what plain git does to history is told by the graph (interface 15.4, 4.29). */
describe('compat: histories that git rewrote', () => {
  const now = new Date('2026-03-01T09:30:00Z')
  let service: RunningService
  before(async () => (service = await startService({ now: () => now })))
  after(() => service.stop())

  it('equal first commits of two variants in one second are two revisions, each at home', async () => {
    const artifact = (await service.post('/workflows/', { workflow: { slug: 'twins' } })).body.workflow.id
    const ids = []
    for (const slug of ['left', 'right']) {
      const variant = await service.post('/workflows/variants/', {
        workflow_variant: { workflow_id: artifact, slug },
      })
      const { body } = await service.post('/workflows/revisions/commit', {
        workflow_revision: {
          workflow_variant_id: variant.body.workflow_variant.id,
          message: 'Same',
          data: { parameters: {} },
        },
      })
      ids.push(body.workflow_revision.id)
    }
    expect(ids[0]).not.to.equal(ids[1])
    for (const [index, slug] of ['left', 'right'].entries()) {
      const { body } = await service.get(`/workflows/revisions/${ids[index]}`)
      expect(body.workflow_revision).to.include({ variant_slug: slug, version: 1 })
    }
  })

  // interface 15.4
  it('a cherry-pick is a revision of the branch it lies on, whatever its trailer says', async () => {
    const { clone, repository } = await forked(service, 'picked')
    git(clone, ['switch', '-q', 'picked-exp'])
    git(clone, ['cherry-pick', '-X', 'theirs', 'picked'])
    git(repository, ['fetch', '-q', clone, 'picked-exp:picked-exp'])
    const [id = ''] = idsOf(repository, 'picked-exp')
    const { body } = await service.get(`/workflows/revisions/${await fullId(service, 'picked-exp', id)}`)
    expect(body.workflow_revision).to.include({
      variant_slug: 'picked-exp',
      version: 3,
      message: 'Main goes on',
    })
    expect(git(repository, ['log', '-1', '--format=%B', 'picked-exp'])).to.contain('Variant: picked\n')
  })

  it('a rebase renumbers along the graph; the commits left behind are no revisions any more', async () => {
    const { clone, repository } = await forked(service, 'rebased')
    const before = await latest(service, 'rebased-exp')
    git(clone, ['switch', '-q', 'rebased-exp'])
    git(clone, ['rebase', '-q', '-X', 'theirs', 'rebased'])
    git(repository, ['fetch', '-q', '-f', clone, 'rebased-exp:rebased-exp'])
    const after = await latest(service, 'rebased-exp')
    expect(after.version).to.equal(
      Number(git(repository, ['rev-list', '--first-parent', '--count', 'rebased-exp'])),
    )
    expect(after).to.include({ version: 3, variant_slug: 'rebased-exp' })
    expect(after.id).not.to.equal(before.id)
    expect((await service.get(`/workflows/revisions/${before.id}`)).body.code).to.equal('revision_not_found')
  })

  it('an amended commit has another id and the same version; a tag keeps the old one resolvable', async () => {
    const { clone, repository } = await forked(service, 'amended')
    const before = await latest(service, 'amended')
    git(repository, ['tag', 'kept', 'amended'])
    git(clone, ['commit', '-q', '--amend', '-m', 'Said better'])
    git(repository, ['fetch', '-q', '-f', clone, 'amended:amended'])
    const after = await latest(service, 'amended')
    expect(after).to.include({ version: before.version, message: 'Said better' })
    expect(after.id).not.to.equal(before.id)
    const { body } = await service.get(`/workflows/revisions/${before.id}`)
    expect(body.workflow_revision).to.include({
      id: before.id,
      version: before.version,
      variant_slug: 'amended',
    })
  })

  it('a revision that two branches share is at home where it was made', async () => {
    const { repository } = await forked(service, 'shared')
    const root = (
      await service.post('/workflows/revisions/retrieve', {
        workflow_revision_ref: { slug: 'shared-exp', version: 1 },
      })
    ).body
    expect(root.workflow_revision.variant_slug).to.equal('shared-exp')
    const home = (await service.get(`/workflows/revisions/${root.workflow_revision.id}`)).body
    expect(home.workflow_revision.variant_slug).to.equal('shared')
    expect(
      git(repository, [
        'show',
        '-s',
        '--format=%h',
        root.workflow_revision.id.replaceAll('-', '').slice(0, 12),
      ]),
    ).not.to.equal('')
  })
})

/** An artifact with main at version 2 and a fork from version 1 with a commit of its own, and a clone of it. */
async function forked(service: RunningService, slug: string): Promise<{ clone: string; repository: string }> {
  const { body } = await service.post('/simple/workflows/', {
    workflow: { slug, data: { parameters: { n: 1 } } },
  })
  const fork = await service.post('/variants/fork', {
    workflow_variant: { slug: `${slug}-exp` },
    workflow_variant_ref: { slug },
  })
  for (const [variant, message, n] of [
    [body.workflow.variant_id, 'Main goes on', 2],
    [fork.body.workflow_variant.id, 'The fork goes on', 1],
  ] as const) {
    await service.post('/workflows/revisions/commit', {
      workflow_revision: {
        workflow_variant_id: variant,
        message,
        data: { parameters: { n }, ...(n === 1 ? { headers: { x: 'y' } } : {}) },
      },
    })
  }
  const repository = service.repository(slug)
  const clone = temporaryFolder()
  git('/', ['clone', '-q', repository, clone])
  git(clone, ['config', 'merge.conflictStyle', 'merge'])
  return { clone, repository }
}

async function latest(service: RunningService, slug: string) {
  return (await service.post('/workflows/revisions/retrieve', { workflow_variant_ref: { slug } })).body
    .workflow_revision
}

function idsOf(repository: string, branch: string): string[] {
  return git(repository, ['rev-list', '--first-parent', branch]).split('\n')
}

async function fullId(service: RunningService, slug: string, oid: string): Promise<string> {
  const { id } = await latest(service, slug)
  expect(oid.startsWith(id.replaceAll('-', '').slice(0, 12))).to.equal(true)
  return id
}
