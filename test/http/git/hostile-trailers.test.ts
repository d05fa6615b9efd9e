import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whatPushesReach } from '../../support/git/what-pushes-reach.ts'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { cloneOf, keyWith, workflow } from '../../support/git/git-client.ts'

/** The slug of the revision after all that are pushed here. */
const NEXT = 'target-65'

/** What a trailer would do if it were taken for the name of a tag, a branch or a mirror. */
const REACHES: Readonly<Record<string, string>> = {
  'the key of the secrets': '../../../../../secrets.key',
  'a file outside the store': '../../../../../../outside',
  'a guarded environment': '../../../../environments/production.git/refs/meta/artifact',
  'its own record': '../meta/artifact',
  'the folder of a family': '../../../../queries',
  'the slug of a later revision': NEXT,
  'an absolute path': '/tmp/branchpoint-outside',
  'a line of packed-refs': 'x\x0bdeadbeef',
  'a lock': 'mine.lock',
}

/** The trailers that a server writes, and all that could be taken for a name. */
const KEYS = ['Slug', 'Variant', 'Deploy', 'Deploy-Key', 'Deploy-From', 'Deploy-To', 'Idempotency-Key']

describe('git over HTTP: trailers that were pushed', () => {
  let folder: string
  let service: RunningService

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-trailers-'))
    mkdirSync(join(folder, 'store'))
    service = await startService({ storeDir: join(folder, 'store') })
  })
  afterEach(async () => {
    await service.stop({ keepStore: true })
    rmSync(folder, { recursive: true, force: true })
  })

  async function restart(): Promise<void> {
    await service.stop({ keepStore: true })
    service = await startService({ storeDir: join(folder, 'store') })
  }

  // interface 15.4
  it('put nothing in place at the next start, wherever they would lead', async () => {
    writeFileSync(join(folder, 'store/secrets.key'), `${'a'.repeat(40)}\n`)
    const variant = await workflow(service, 'target')
    const { body } = await service.post('/environments/query', { environment: { slug: 'production' } })
    await service.post(`/simple/environments/${body.environments[0].id}/guard`)
    git(service.repository('production', 'environments'), ['pack-refs', '--all'])
    const key = await keyWith(service, 'write', 'read')
    const clone = await cloneOf(service, 'target', { key })
    const branches = ['HEAD']
    for (const [what, text] of Object.entries(REACHES)) {
      for (const trailer of KEYS) {
        const oid = await clone.commit(`Look harmless\n\n${trailer}: ${text}`)
        branches.push(`${oid}:refs/heads/${what.replaceAll(/\W/g, '-')}-by-${trailer.toLowerCase()}`)
      }
    }
    await clone.git('push', '-q', 'origin', ...branches)
    const before = whatPushesReach(folder)
    await restart()
    await restart()
    expect(whatPushesReach(folder)).to.deep.equal(before)
    expect(git(service.repository('target'), ['tag'])).to.equal('')
    const { status } = await service.post('/workflows/query', {})
    expect(status).to.equal(200)
    await service.post('/queries/', { query: { slug: 'q' } })
    const commit = { workflow_variant_id: variant, data: { parameters: {} } }
    const committed = await service.post('/workflows/revisions/commit', { workflow_revision_commit: commit })
    expect(committed.body.workflow_revision.slug, committed.text).to.equal(NEXT)
  })
})
