import { expect } from 'chai'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'

describe('compat: what the service writes, as git sees it', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  it('a simple create costs at most 64 KB, has no hooks, and passes git fsck --strict', async () => {
    await service.post('/simple/workflows/', { workflow: { slug: 'small', data: { parameters: { a: 1 } } } })
    const repository = service.repository('small')
    expect(git(repository, ['fsck', '--strict'])).to.equal('')
    expect(existsSync(`${repository}/hooks`)).to.equal(false)
    expect(readdirSync(`${repository}/objects/pack`)).to.have.length(2)
    const kilobytes = Number(du(repository))
    expect(kilobytes).to.be.at.most(64)
  })

  // interface 1.2, 15.5
  it('a clone has the latest of the default variant as files a person can read', async () => {
    const data = {
      uri: 'user:custom:fn:v1',
      runtime: 'python',
      script: 'def f():\n    return 1\n',
      parameters: { z: 1, a: 2 },
    }
    await service.post('/simple/workflows/', { workflow: { slug: 'files', data } })
    const clone = temporaryFolder()
    git('/', ['clone', '-q', service.repository('files'), clone])
    expect(git(clone, ['show', 'HEAD:data.json'])).to.equal(
      JSON.stringify({ ...data, script: 'script.py' }, undefined, 2),
    )
    expect(git(clone, ['show', 'HEAD:script.py'])).to.equal('def f():\n    return 1')
    expect(git(clone, ['log', '-1', '--format=%an <%ae>'])).to.equal('admin <admin@branchpoint.local>')
  })

  // interface 15.5
  it('a file that git brought is carried over by the next commit', async () => {
    const variant = await create(service, 'carried')
    const clone = temporaryFolder()
    git('/', ['clone', '-q', service.repository('carried'), clone])
    writeFileSync(`${clone}/README.md`, '# About this prompt\n')
    git(clone, ['add', '.'])
    git(clone, ['commit', '-qm', 'Explain'])
    git(service.repository('carried'), ['fetch', '-q', clone, 'carried:carried'])
    const { body } = await commit(service, variant, 2)
    expect(body.workflow_revision.version).to.equal(3)
    expect(git(service.repository('carried'), ['show', 'carried:README.md'])).to.equal('# About this prompt')
  })
})

describe('compat: what git writes, as the service sees it', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  for (const [what, commands] of Object.entries({
    'git gc': [['gc', '--quiet', '--prune=now']],
    'git repack -ad': [['repack', '-adq']],
    'git pack-refs --all': [['pack-refs', '--all']],
    'all of them': [
      ['pack-refs', '--all'],
      ['repack', '-adfq', '--depth=20'],
      ['gc', '--quiet'],
    ],
  })) {
    // interface 15.7
    it(`${what}: read and written on without a restart`, async () => {
      const slug = what.replaceAll(/[^a-z]+/g, '_')
      const variant = await create(service, slug)
      for (let number = 2; number <= 20; number++) await commit(service, variant, number)
      for (const command of commands) git(service.repository(slug), command)
      expect((await latest(service, slug)).version).to.equal(20)
      expect((await commit(service, variant, 21)).body.workflow_revision.version).to.equal(21)
      for (const command of commands) git(service.repository(slug), command)
      expect((await latest(service, slug)).data.parameters).to.deep.equal({ number: 21 })
      expect(git(service.repository(slug), ['fsck', '--strict'])).to.equal('')
    })
  }

  // interface 15.2, 4.13
  it('a branch and tags that a fetch brings are a variant and revision slugs at once', async () => {
    await create(service, 'fetched')
    const repository = service.repository('fetched')
    const clone = temporaryFolder()
    git('/', ['clone', '-q', repository, clone])
    git(clone, ['switch', '-qc', 'by-hand'])
    writeFileSync(`${clone}/data.json`, '{"parameters": {"by": "hand"}}')
    git(clone, ['commit', '-qam', 'By hand'])
    git(clone, ['tag', 'light'])
    git(clone, ['tag', '-a', '-m', 'heavy', 'heavy'])
    git(repository, ['fetch', '-q', '--tags', clone, 'by-hand:by-hand'])
    const revision = await latest(service, 'by-hand')
    expect(revision).to.include({
      version: 2,
      variant_slug: 'by-hand',
      message: 'By hand',
      author: 'Ann <ann@example.com>',
    })
    expect(
      git(repository, ['rev-parse', 'by-hand']).startsWith(revision.id.replaceAll('-', '').slice(0, 12)),
    ).to.equal(true)
    for (const slug of ['light', 'heavy']) {
      const { body } = await service.post('/workflows/revisions/retrieve', {
        workflow_revision_ref: { slug },
      })
      expect(body.workflow_revision.id).to.equal(revision.id)
    }
    git(repository, ['update-ref', 'refs/heads/by-hand', 'by-hand~1'])
    expect((await latest(service, 'by-hand')).version).to.equal(1)
  })

  it('queries over the project see it a little later', async () => {
    await create(service, 'swept')
    const repository = service.repository('swept')
    git(repository, ['update-ref', 'refs/heads/swept-too', 'refs/heads/swept'])
    const found = async (): Promise<number> =>
      (await service.post('/workflows/variants/query', { workflow_variant: { slug: 'swept-too' } })).body
        .count
    while ((await found()) === 0) await pause(100)
    expect(await found()).to.equal(1)
  })

  // interface 4.15
  it('the default variant is the one HEAD names', async () => {
    await create(service, 'headed')
    await service.post('/variants/fork', {
      workflow_variant: { slug: 'other' },
      workflow_variant_ref: { slug: 'headed' },
    })
    git(service.repository('headed'), ['symbolic-ref', 'HEAD', 'refs/heads/other'])
    const { body } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'headed' } })
    expect(body.workflow_revision.variant_slug).to.equal('other')
  })

  it('a variant slug that git brought into two artifacts means the one that was seen first, alone and after a restart', async () => {
    for (const slug of ['twin-a', 'twin-b']) {
      await create(service, slug)
      git(service.repository(slug), ['update-ref', 'refs/heads/shared', `refs/heads/${slug}`])
      await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug } })
    }
    const meant = async (): Promise<string> =>
      (
        await service.post('/workflows/revisions/retrieve', {
          workflow_variant_ref: { slug: 'shared' },
        })
      ).body.workflow_revision.artifact_slug
    expect(await meant()).to.equal('twin-a')
    const recorded = (slug: string): string =>
      git(service.repository(slug), ['ls-tree', '-r', '--name-only', 'refs/meta/artifact'])
    for (const slug of ['twin-a', 'twin-b'])
      while (!recorded(slug).includes('variants/shared.json')) await pause(50)
    const dateIn = (slug: string): string =>
      JSON.parse(git(service.repository(slug), ['show', 'refs/meta/artifact:variants/shared.json']))
        .claimed_at
    expect(dateIn('twin-a') < dateIn('twin-b')).to.equal(true)
    const { body } = await service.post('/workflows/revisions/retrieve', {
      workflow_variant_ref: { slug: 'shared' },
      workflow_ref: { slug: 'twin-b' },
    })
    expect(body.workflow_revision.artifact_slug).to.equal('twin-b')
  })
})

async function create(service: RunningService, slug: string): Promise<string> {
  const { body } = await service.post('/simple/workflows/', {
    workflow: { slug, data: { parameters: { number: 1 } } },
  })
  return body.workflow.variant_id
}

function commit(service: RunningService, variant: string, number: number) {
  return service.post('/workflows/revisions/commit', {
    workflow_revision: {
      workflow_variant_id: variant,
      message: `${number}`,
      data: { parameters: { number } },
    },
  })
}

async function latest(service: RunningService, slug: string) {
  const { body } = await service.post('/workflows/revisions/retrieve', { workflow_variant_ref: { slug } })
  return body.workflow_revision
}

function du(folder: string): string {
  return git('/', ['-c', `alias.du=!du -sk ${folder} | cut -f1`, 'du'])
}
