import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { readdirSync, utimesSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import { type Container, needsNamespaces, startContainer } from '../support/servers/containers.ts'
import { ADMIN_KEY, startService } from '../support/servers/service.ts'
import { made } from '../http/keyed-operations.ts'

const SERVER = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const STOPPING = fileURLToPath(new URL('doomed-server.js', import.meta.url))

/** Of a commit: what decides it is on the disk, and no ref has moved. */
const DECIDED = 'rename .*/bot.git/refs/heads/bot$'
/** Of a commit: it has the lock of the ref, and nothing is decided. */
const LOCKED = 'append .*/\\.journal/'

/** The sources' folder: what is stored as an example is not built. */
const EXAMPLE = fileURLToPath(
  new URL('../../../test/compat/earlier-store/killed-in-container.tgz', import.meta.url),
)

describe('servers in containers that share a store', () => {
  before(function () {
    needsNamespaces(this)
  })
  let storeDir: string
  let variant: string
  let running: Container[]
  beforeEach(async () => {
    running = []
    storeDir = temporaryFolder()
    const service = await startService({ storeDir })
    variant = (await made(service, 'bot')).variant_id
    await service.stop({ keepStore: true })
  })
  afterEach(() => Promise.all(running.map((container) => container.kill())))

  /** A server that is process 1 of a host of that name; answers its address. */
  async function serve(hostname: string): Promise<string> {
    const settings = { STORE_DIR: storeDir, PORT: '0', HOST: '127.0.0.1', SVC_API_KEY: ADMIN_KEY }
    const container = startContainer([process.execPath, SERVER], {
      hostname,
      env: { PATH: process.env['PATH'], ...settings },
    })
    running.push(container)
    return JSON.parse((await container.line()) ?? '{}').url
  }

  async function commit(url: string, n: number): Promise<{ status: number; version: number }> {
    const revision = { workflow_variant_id: variant, message: `commit ${n}`, data: { parameters: { n } } }
    const answer = await fetch(`${url}/workflows/revisions/commit`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ workflow_revision_commit: revision }),
    })
    const body: any = await answer.json()
    return { status: answer.status, version: body.workflow_revision?.version }
  }

  /** Has a server of the host `one` killed at that step of a commit. */
  async function killedAt(step: string): Promise<void> {
    const container = startContainer([process.execPath, STOPPING, storeDir, step, 'wait'], {
      hostname: 'one',
    })
    running.push(container)
    commit((await container.line()) ?? '', 2).catch(() => undefined)
    expect(await container.line()).to.equal('at the step')
    expect(readdirSync(`${storeDir}/.servers`).some((name) => /^one\.[0-9a-f]+\.1\./.test(name))).to.equal(
      true,
    )
    await container.kill()
  }

  for (const [when, step, next] of [
    ['has decided a commit', DECIDED, 3],
    ['holds the lock of a ref', LOCKED, 2],
  ] as const) {
    it(`a new one on another host commits at once after one was killed that ${when}`, async () => {
      await killedAt(step)
      const url = await serve('two')
      expect(await commit(url, 3)).to.deep.equal({ status: 200, version: next })
      expect(git(`${storeDir}/default/workflows/bot.git`, ['rev-list', '--count', 'bot'])).to.equal(`${next}`)
      expect(readdirSync(`${storeDir}/.servers`).filter((name) => !name.startsWith('two.'))).to.deep.equal([])
    })
  }

  it('a living one on another host commits at once after one was killed that has decided a commit', async () => {
    const url = await serve('two')
    await killedAt(DECIDED)
    expect(await commit(url, 3)).to.deep.equal({ status: 200, version: 3 })
    expect(git(`${storeDir}/default/workflows/bot.git`, ['fsck', '--strict', '--no-dangling'])).to.equal('')
  })

  for (const [names, ...hosts] of [
    ['different names', 'one', 'two'],
    ['the same name', 'one', 'one'],
  ] as const) {
    it(`two on hosts of ${names} lose nothing of one another`, async () => {
      const servers = await Promise.all(hosts.map((host) => serve(host)))
      const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => commit(servers[n % 2] ?? '', n)))
      expect(answers.map(({ version }) => version).sort((a, b) => a - b)).to.deep.equal(
        Array.from({ length: 40 }, (_, n) => n + 2),
      )
      // Long enough for each to look for journals of dead servers.
      await pause(1200)
      expect(readdirSync(`${storeDir}/.servers`)).to.have.length(2)
      expect(git(`${storeDir}/default/workflows/bot.git`, ['rev-list', '--count', 'bot'])).to.equal('41')
      expect(git(`${storeDir}/default/workflows/bot.git`, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    })
  }
})

describe('a store whose server of an earlier version was killed in a container', () => {
  const extracted = (): string => {
    const folder = temporaryFolder()
    execFileSync('tar', ['-xzf', EXAMPLE, '-C', folder])
    return `${folder}/store`
  }
  const versions = (storeDir: string): string =>
    git(`${storeDir}/default/workflows/bot.git`, ['rev-list', '--count', 'bot'])

  it('has what that one decided, once its journal was left alone for five minutes', async () => {
    const storeDir = extracted()
    const tenMinutesAgo = Date.now() / 1000 - 600
    for (const name of readdirSync(`${storeDir}/.journal`))
      utimesSync(`${storeDir}/.journal/${name}`, tenMinutesAgo, tenMinutesAgo)
    expect(versions(storeDir)).to.equal('1')
    const service = await startService({ storeDir })
    expect(versions(storeDir)).to.equal('2')
    const { body } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    expect(body.workflow_revision.data).to.deep.equal({ parameters: { n: 2 } })
    await service.stop()
  })

  it('keeps a journal that was written a moment ago, and serves all other artifacts', async () => {
    const storeDir = extracted()
    const [journal = ''] = readdirSync(`${storeDir}/.journal`)
    utimesSync(`${storeDir}/.journal/${journal}`, new Date(), new Date())
    utimesSync(`${storeDir}/.servers/${journal.replace(/\.1$/, '')}`, 0, 0)
    const service = await startService({ storeDir })
    expect(versions(storeDir)).to.equal('1')
    expect(readdirSync(`${storeDir}/.journal`)).to.include(journal)
    const other = { workflow_ref: { slug: 'other' }, data: { parameters: { n: 2 } } }
    expect(
      (await service.post('/workflows/revisions/commit', { workflow_revision_commit: other })).status,
    ).to.equal(200)
    await service.stop()
  })
})
