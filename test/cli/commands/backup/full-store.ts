import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../../support/git/git-program.ts'
import type { RunningService } from '../../../support/servers/service.ts'
import { SurfaceClient } from '../../../http/conformance/surface-client.ts'
import { testedSurfaces } from '../../../http/conformance/tested-surface.ts'

/**
 * Puts every feature to use: on each surface several artifacts with revisions, forks, named revisions, headers and archives at all levels;
 * embeds, uploads, row deltas, deployments, an undeployment, a guard; and what plain git brings.
 */
export async function fillStore(service: RunningService): Promise<void> {
  for (const surface of testedSurfaces) await fillSurface(new SurfaceClient(surface, () => service))
  await embed(service)
  await changeRows(service)
  await deploy(service)
  pushWithGit(service.repository('application-main'))
  pushWithGit(service.repository('testset-main', 'testsets'))
}

async function fillSurface(client: SurfaceClient): Promise<void> {
  const { singular } = client.surface
  const header = { name: 'Main', description: 'Ünïcode', tags: { team: 'a' }, meta: { n: 1.5 } }
  const main = await client.made(3, { slug: `${singular}-main`, ...header })
  const fork = client.record(
    await client.post('/variants/fork', {
      ...client.wrap('_variant', { slug: `${singular}-warm`, tags: { warm: true } }),
      [`${singular}_revision_ref`]: { id: main.revisions[1].id },
    }),
    '_variant',
  )
  const second = { message: 'Named', slug: `${singular}-launch`, tags: { is: 'named' } }
  await client.committed(fork.id, { ...second, ...client.payload('warm') })
  const third = await client.committed(fork.id, client.payload('archived'))
  await client.archive('/revisions', third.id)
  const empty = await client.variant(main.id, { slug: `${singular}-empty` })
  await client.archive('/variants', empty.id)
  await client.artifact({ slug: `${singular}-bare` })
  const old = await client.made(2, { slug: `${singular}-old` })
  await client.archive('', old.id)
  const back = await client.made(1, { slug: `${singular}-back` })
  await client.archive('', back.id)
  await client.archive('', back.id, 'unarchive')
  const edit = client.wrap('', { description: 'Edited', meta: { big: 3 } })
  expect((await client.put(`/${main.id}`, edit)).status).to.equal(200)
}

async function embed(service: RunningService): Promise<void> {
  const data = {
    parameters: { host: { '@svc.embed': embedded }, text: 'See @{{workflow.slug=workflow-main, path=n3}}.' },
  }
  await posted(service, '/simple/workflows/', { workflow: { slug: 'workflow-host', data } })
}

const embedded = {
  '@svc.references': { workflow_revision: { slug: 'workflow-main', version: '1' } },
  '@svc.selector': { path: 'parameters' },
}

async function changeRows(service: RunningService): Promise<void> {
  const form = new FormData()
  form.append(
    'file',
    new Blob(['country,capital\nNorway,Oslo\nPeru,Lima\nChad,"N\'\nDjamena"\n']),
    'rows.csv',
  )
  form.append('testset_slug', 'capitals')
  const { testset } = await posted(service, '/simple/testsets/upload', form)
  const [first, second] = testset.data.testcase_ids
  for (const rows of [
    { add: [{ data: { country: 'Mali', capital: 'Bamako' }, tags: { far: true } }] },
    { remove: [first] },
    { replace: [{ id: second, data: { country: 'Peru', capital: 'LIMA' } }] },
  ]) {
    const fields = { testset_id: testset.id, delta: { rows } }
    await posted(service, '/testsets/revisions/commit', { testset_revision_commit: fields })
  }
}

async function deploy(service: RunningService): Promise<void> {
  const made = await posted(service, '/simple/environments/', { environment: { slug: 'canary' } })
  const canary = made.environment
  for (const [environment, version] of [
    ['production', 1],
    ['production', 3],
    ['staging', 2],
    ['canary', 2],
  ] as const) {
    for (const singular of ['application', 'evaluator']) {
      await posted(service, `/${singular}s/revisions/deploy`, {
        [`${singular}_revision_ref`]: { slug: `${singular}-main`, version },
        environment_ref: { slug: environment },
      })
    }
  }
  const undeploy = {
    environment_variant_id: canary.variant_id,
    delta: { remove: ['evaluator-main.revision'] },
  }
  await posted(service, '/environments/revisions/commit', { environment_revision_commit: undeploy })
  await posted(service, `/simple/environments/${canary.id}/guard`)
}

/** A branch, tags of both kinds, a note and a file that the registry does not know. */
function pushWithGit(repository: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-push-'))
  try {
    git(folder, ['clone', '--quiet', repository, '.'])
    writeFileSync(join(folder, 'README.md'), 'About this.\n')
    git(folder, ['add', '.'])
    git(folder, ['commit', '--quiet', '--message', 'Say what this is'])
    const slug = git(folder, ['branch', '--show-current'])
    git(folder, ['tag', `${slug}-light`])
    git(folder, ['tag', '--annotate', '--message', 'Heavy', `${slug}-heavy`, 'HEAD~1'])
    git(folder, ['notes', 'add', '--message', 'A note'])
    const branch = [`HEAD:refs/heads/${slug}-pushed`, `HEAD:refs/heads/${slug}`]
    git(folder, ['push', '--quiet', '--tags', 'origin', ...branch, 'refs/notes/commits'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What was answered with a 200. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
async function posted(service: RunningService, path: string, body?: unknown): Promise<any> {
  const reply =
    body instanceof FormData ? await service.call('POST', path, body) : await service.post(path, body)
  expect(reply.status, reply.text).to.equal(200)
  return reply.body
}
