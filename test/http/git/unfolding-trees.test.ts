import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { restsDuring } from '../../support/rests.ts'
import { cloneOf, newFolder, workflow } from '../../support/git/git-client.ts'

/** A tree of `levels` folders in one another, each of which names the one below it twice: 2^levels files out of `levels` objects. */
function unfoldingTree(repository: string, levels: number, text = 'x\n'): string {
  const file = join(newFolder(), 'file')
  writeFileSync(file, text)
  const blob = git(repository, ['hash-object', '-w', file])
  let tree = git(repository, ['mktree'], `100644 blob ${blob}\tfile\n`)
  for (let level = 0; level < levels; level++)
    tree = git(repository, ['mktree'], `040000 tree ${tree}\ta\n040000 tree ${tree}\tb\n`)
  return tree
}

/** A commit on top of the branch, with this tree beside what is there. */
function commitWith(repository: string, branch: string, tree: string, name = 'folder'): string {
  const entries = git(repository, ['ls-tree', branch])
  const root = git(repository, ['mktree'], `${entries}\n040000 tree ${tree}\t${name}\n`)
  return git(repository, ['commit-tree', root, '-p', branch, '-m', 'Unfold'])
}

describe('git: trees that unfold', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  const diff = (slug: string) =>
    service.post('/workflows/revisions/diff', {
      base: { slug, version: 1 },
      head: { slug, version: 2 },
    })

  it('a push of 30 objects that unfold to 2^25 files is refused, and so is one that names a folder of its parent again and again', async () => {
    await workflow(service, 'small')
    const clone = await cloneOf(service, 'small')
    const commit = commitWith(clone.folder, 'small', unfoldingTree(clone.folder, 25))
    const { code, terminal } = await clone.try('push', 'origin', `${commit}:small`)
    expect(code).to.equal(1)
    expect(terminal).to.match(/remote: Commit [0-9a-f]{40} unfolds to more than 1000000 files and folders/)
    expect(terminal).to.include('(too many files)')
    const large = unfoldingTree(clone.folder, 18)
    const once = commitWith(clone.folder, 'small', large)
    await clone.git('push', '-q', 'origin', `${once}:small`)
    const again = commitWith(clone.folder, once, large, 'again')
    expect((await clone.try('push', 'origin', `${again}:small`)).terminal).to.include('(too many files)')
  })

  it('a push of folders that lie deeper in one another than a path is long is refused', async () => {
    await workflow(service, 'deep')
    const clone = await cloneOf(service, 'deep')
    let tree = unfoldingTree(clone.folder, 0)
    for (let level = 0; level < 30; level++)
      tree = git(clone.folder, ['mktree'], `040000 tree ${tree}\t${'n'.repeat(200)}\n`)
    const { terminal } = await clone.try('push', 'origin', `${commitWith(clone.folder, 'deep', tree)}:deep`)
    expect(terminal.replaceAll(/\s+/g, ' ')).to.include('is a path of more than 4096 characters')
    expect(terminal).to.include('(path too long)')
  })

  it('a diff of what plain git brought is refused, and gives others their turn until then', async () => {
    await workflow(service, 'brought')
    const repository = service.repository('brought')
    const commit = commitWith(repository, 'brought', unfoldingTree(repository, 25))
    git(repository, ['update-ref', 'refs/heads/brought', commit])
    let reply: Awaited<ReturnType<typeof diff>> | undefined
    expect(await restsDuring(async () => (reply = await diff('brought')))).to.be.greaterThan(100)
    expect(reply?.status, reply?.text).to.equal(413)
    expect(reply?.body.code).to.equal('limit_exceeded')
    expect(reply?.body.detail).to.include('more than 10000 files').and.include('git diff')
  })

  it('a diff of few files that are large together is refused', async () => {
    await workflow(service, 'heavy')
    const repository = service.repository('heavy')
    const commit = commitWith(repository, 'heavy', unfoldingTree(repository, 5, 'x'.repeat(4_000_000)))
    git(repository, ['update-ref', 'refs/heads/heavy', commit])
    const reply = await diff('heavy')
    expect(reply.status, reply.text.slice(0, 500)).to.equal(413)
  })

  it('a diff looks into no folder that both revisions have', async () => {
    const variant = await workflow(service, 'alike')
    const repository = service.repository('alike')
    const tree = unfoldingTree(repository, 25)
    git(repository, ['update-ref', 'refs/heads/alike', commitWith(repository, 'alike', tree)])
    const { status, body } = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, data: { parameters: { number: 2 } } },
    })
    expect(status).to.equal(200)
    const reply = await service.post('/workflows/revisions/diff', {
      base: { slug: 'alike', version: 2 },
      head: { id: body.workflow_revision.id },
    })
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.body.diff.files.map(({ path }: { path: string }) => path)).to.deep.equal(['data.json'])
  })

  it('rows of a testset that plain git brought: folders without rows are refused before they are walked', async () => {
    await service.post('/simple/testsets/', { testset: { slug: 'barren', data: { testcases: [] } } })
    const repository = service.repository('barren', 'testsets')
    let tree = git(repository, ['mktree'], '')
    for (let level = 0; level < 14; level++) {
      const entries = Array.from({ length: 32 }, (_, at) => (at + 16).toString(16))
      tree = git(repository, ['mktree'], entries.map((name) => `040000 tree ${tree}\t${name}\n`).join(''))
    }
    const root = git(repository, ['mktree'], `040000 tree ${tree}\ttestcases\n`)
    const commit = git(repository, ['commit-tree', root, '-m', 'Barren'])
    git(repository, ['update-ref', 'refs/heads/barren', commit])
    const reply = await service.post('/testsets/revisions/retrieve', {
      testset_variant_ref: { slug: 'barren' },
    })
    expect(reply.status, reply.text.slice(0, 300)).to.equal(503)
    expect(reply.body.detail).to.include('unfolds to more folders than can be walked')
  })
})
