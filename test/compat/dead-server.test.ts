import { expect } from 'chai'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { git } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../support/servers/service.ts'
import { made } from '../http/keyed-operations.ts'

const PROGRAM = fileURLToPath(new URL('doomed-server.js', import.meta.url))

/** When the server dies: each time what it was asked for is decided and not answered. */
const STEPS = {
  'before any ref moves': 'rename .*/bot.git/refs/heads/bot$',
  'between the commit and its deployment': 'rename .*/production.git/refs/heads/production$',
}

describe('servers: one of two dies after it has decided a write', () => {
  let storeDir: string
  let service: RunningService
  let variant: string
  let environment: string
  let doomed: ChildProcess | undefined
  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-dead-'))
    service = await startService({ storeDir })
    variant = (await made(service, 'bot')).variant_id
    await service.post('/workflows/revisions/deploy', {
      workflow_revision_ref: { slug: 'bot', version: 1 },
      environment_ref: { slug: 'production' },
    })
    environment = service.repository('production', 'environments')
  })
  afterEach(async () => {
    doomed?.kill('SIGKILL')
    await service.stop({ keepStore: true })
    rmSync(storeDir, { recursive: true, force: true })
  })

  const commit = (deploy: readonly string[] = []) => ({
    workflow_revision_commit: {
      workflow_variant_id: variant,
      message: 'decided',
      data: { parameters: { n: 2 } },
      ...(deploy.length > 0 ? { deploy } : {}),
    },
  })

  /** Sends a request to a server that dies at the step before it answers. */
  async function askDoomed(step: string, path: string, body: object, key?: string): Promise<void> {
    doomed = spawn(process.execPath, [PROGRAM, storeDir, step], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = once(doomed, 'exit')
    const [url] = await once(createInterface(doomed.stdout ?? process.stdin), 'line')
    const sent = fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${ADMIN_KEY}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    })
    expect(
      await sent.then(
        ({ status }) => status,
        () => 'no answer',
      ),
    ).to.equal('no answer')
    await exit
  }

  /** What the other server shows as the latest of the variant, and as deployed. */
  async function shown(): Promise<{ latest: number; deployed: number }> {
    const latest = await service.post('/workflows/revisions/retrieve', {
      workflow_variant_ref: { slug: 'bot' },
    })
    const deployed = await service.post('/workflows/revisions/retrieve', {
      environment_ref: { slug: 'production' },
      workflow_ref: { slug: 'bot' },
    })
    return {
      latest: latest.body.workflow_revision.version,
      deployed: deployed.body.workflow_revision.version,
    }
  }

  /** Resolves once the journals of the dead are gone. */
  async function isFinished(): Promise<void> {
    const own = `.${process.pid}.`
    while (readdirSync(`${storeDir}/.journal`).some((name) => !name.includes(own))) await pause(20)
  }

  for (const [when, step] of Object.entries(STEPS)) {
    it(`${when}: the other shows the commit and the deployment, without any start or request`, async () => {
      await askDoomed(step, '/workflows/revisions/commit', commit(['production']))
      await isFinished()
      expect(await shown()).to.deep.equal({ latest: 2, deployed: 2 })
      const repository = service.repository('bot')
      while (
        git(repository, ['for-each-ref', '--format=%(objectname)', 'refs/environments']) !==
        git(repository, ['rev-parse', 'bot'])
      )
        await pause(20)
      for (const path of [repository, environment]) {
        expect(git(path, ['fsck', '--strict', '--no-dangling'])).to.equal('')
        while (readdirSync(`${path}/locks`).length > 0) await pause(20)
      }
    })

    it(`${when}: the other answers the repeated request with what was decided`, async () => {
      await askDoomed(step, '/workflows/revisions/commit', commit(['production']), 'once')
      const repeated = await service.post('/workflows/revisions/commit', commit(['production']), {
        'idempotency-key': 'once',
      })
      expect([repeated.status, repeated.body.workflow_revision?.version]).to.deep.equal([200, 2])
      await isFinished()
      expect(await shown()).to.deep.equal({ latest: 2, deployed: 2 })
      expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('2')
      expect(git(environment, ['rev-list', '--count', 'production'])).to.equal('2')
    })
  }

  it('a commit that finds its lock finishes it at once, everywhere', async () => {
    await askDoomed(STEPS['before any ref moves'], '/workflows/revisions/commit', commit(['production']))
    const { body } = await service.post('/workflows/revisions/commit', commit())
    expect(body.workflow_revision.version).to.equal(3)
    expect(await shown()).to.deep.equal({ latest: 3, deployed: 2 })
  })

  it('a deployment that finds its lock finishes it at once, and has nothing left to do', async () => {
    const step = STEPS['between the commit and its deployment']
    await askDoomed(step, '/workflows/revisions/commit', commit(['production']))
    const { body } = await service.post('/workflows/revisions/deploy', {
      workflow_revision_ref: { slug: 'bot', version: 2 },
      environment_ref: { slug: 'production' },
    })
    expect(body.workflow_revision.version).to.equal(2)
    expect(await shown()).to.deep.equal({ latest: 2, deployed: 2 })
    expect(git(environment, ['rev-list', '--count', 'production'])).to.equal('2')
  })

  it('of one ref: it is there without any start, and the repeated request finds it', async () => {
    await askDoomed(STEPS['before any ref moves'], '/workflows/revisions/commit', commit(), 'once')
    await isFinished()
    expect((await shown()).latest).to.equal(2)
    const repeated = await service.post('/workflows/revisions/commit', commit(), {
      'idempotency-key': 'once',
    })
    expect([repeated.status, repeated.body.workflow_revision?.version]).to.deep.equal([200, 2])
    expect(git(service.repository('bot'), ['rev-list', '--count', 'bot'])).to.equal('2')
  })

  it('that took a slug: it means what the dead one made, whoever takes it then', async () => {
    const named = { ...commit().workflow_revision_commit, slug: 'taken' }
    await askDoomed(STEPS['before any ref moves'], '/workflows/revisions/commit', {
      workflow_revision_commit: named,
    })
    const other = await made(service, 'other')
    const { status, body } = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { ...named, workflow_variant_id: other.variant_id },
    })
    expect([status, body.warnings.map((it: { code: string }) => it.code)]).to.deep.equal([
      200,
      ['shadowed_slug'],
    ])
    expect((await shown()).latest).to.equal(2)
    const meant = await service.post('/workflows/revisions/retrieve', {
      workflow_revision_ref: { slug: 'taken' },
    })
    expect(meant.body.workflow_revision).to.include({ artifact_slug: 'bot', version: 2 })
    const refused = await service.post('/workflows/revisions/commit', { workflow_revision_commit: named })
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'slug_taken'])
  })

  it('a server that starts meanwhile and the one that looks do not disturb each other', async () => {
    await askDoomed(STEPS['before any ref moves'], '/workflows/revisions/commit', commit(['production']))
    const another = await startService({ storeDir })
    await isFinished()
    expect(await shown()).to.deep.equal({ latest: 2, deployed: 2 })
    await another.stop({ keepStore: true })
    for (const path of [service.repository('bot'), environment])
      expect(git(path, ['fsck', '--strict', '--no-dangling'])).to.equal('')
  })
})
