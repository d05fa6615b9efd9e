import { cpSync, rmSync } from 'node:fs'
import { git } from '../../../support/git/git-program.ts'
import type { RunningService } from '../../../support/servers/service.ts'
import { startService } from '../../../support/servers/service.ts'

/** For each test of the current `describe` a copy of the store that `makeStore` makes. */
export function storeForEach(): {
  readonly dir: () => string
  readonly repository: (path: string) => string
} {
  let pristine: string
  before(async () => (pristine = await makeStore()))
  after(() => rmSync(pristine, { recursive: true, force: true }))
  beforeEach(() => cpSync(pristine, `${pristine}-copy`, { recursive: true }))
  afterEach(() => rmSync(`${pristine}-copy`, { recursive: true, force: true }))
  return {
    dir: () => `${pristine}-copy`,
    repository: (path) => `${pristine}-copy/default/${path}.git`,
  }
}

/** A stopped store: a prompt with a fork, a chosen slug and deployments, a testset, environments. Answers its folder. */
export async function makeStore(): Promise<string> {
  const service = await startService()
  const made = await service.post('/simple/workflows/', {
    workflow: { slug: 'bot', data: { parameters: {} } },
  })
  const id = made.body.workflow.variant_id
  await commit(service, id, { n: 2 })
  await service.post('/variants/fork', {
    workflow_variant: { slug: 'fork' },
    workflow_variant_ref: { slug: 'bot' },
  })
  await commit(service, id, { n: 3 }, { slug: 'chosen', deploy: ['production'] })
  const rows = [{ a: '1' }, { a: '2' }].map((data) => ({ data }))
  const testset = await service.post('/simple/testsets/', {
    testset: { slug: 'rows', data: { testcases: rows } },
  })
  await service.post('/testsets/revisions/commit', {
    testset_revision_commit: {
      testset_id: testset.body.testset.id,
      message: 'More',
      delta: { rows: { add: [{ data: { a: '3' } }] } },
    },
  })
  await service.stop({ keepStore: true })
  return service.storeDir
}

/** Commits a prompt's next revision. */
export function commit(service: RunningService, variantId: string, parameters: object, more: object = {}) {
  return service.post('/workflows/revisions/commit', {
    workflow_revision_commit: {
      workflow_variant_id: variantId,
      message: 'Next',
      data: { parameters },
      ...more,
    },
  })
}

/** Commits a file to a branch or ref of a bare repository with plain git. */
export function commitFile(gitdir: string, branch: string, path: string, content: string): void {
  const ref = branch.startsWith('refs/') ? branch : `refs/heads/${branch}`
  const index = `${gitdir}/index-by-hand`
  const withIndex = (args: readonly string[]): string =>
    git(gitdir, ['-c', `alias.indexed=!GIT_INDEX_FILE=${index} git`, 'indexed', ...args])
  const blob = git(gitdir, ['hash-object', '-w', '--stdin'], content)
  withIndex(['read-tree', ref])
  withIndex(['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`])
  const commitOid = git(gitdir, ['commit-tree', withIndex(['write-tree']), '-p', ref, '-m', 'By hand'])
  git(gitdir, ['update-ref', ref, commitOid])
  rmSync(index)
}
