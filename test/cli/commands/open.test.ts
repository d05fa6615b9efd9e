import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { startService } from '../../support/servers/service.ts'
import { runHere } from '../command-here.ts'
import { makeEmptyStore } from '../empty-store.ts'
import { Browser } from '../../support/clients/browser.ts'

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('links that sign in', () => {
  let folder: string
  let running: ChildProcess | undefined
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'open-'))))
  afterEach(() => {
    running?.kill('SIGKILL')
    running = undefined
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env['PATH'] ?? '',
    STORE_DIR: join(folder, 'store'),
    PORT: '0',
    ...more,
  })

  const branchpoint = (args: readonly string[], env = environment()) => runHere(args, { env, cwd: folder })

  /** Runs a program until it has said this, or ended, and answers all that it said. It is told to end once it has said `ending`. */
  function saidBy(command: string, args: readonly string[], until: RegExp, ending?: string): Promise<string> {
    const child = spawn(command, args, { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    running = child
    return new Promise((resolve) => {
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece) => {
          said += String(piece)
          if (ending !== undefined && said.includes(ending)) child.kill('SIGTERM')
          if (until.test(said)) resolve(said)
        })
      child.on('close', () => resolve(said))
    })
  }

  const tokenIn = (text: string): string | undefined => /\/signin#token=(\S+)/.exec(text)?.[1]

  it('are printed by the first start, with the key; by a later one on a terminal alone', async function () {
    const serve = [MAIN, 'serve']
    const first = await saidBy(process.execPath, serve, /#token=\S+\s/)
    expect(first).to.match(/BRANCHPOINT_KEY=svc_/)
    expect(tokenIn(first)).to.match(/^default\.[\w-]{43}$/)
    running?.kill('SIGKILL')
    const later = await saidBy(process.execPath, serve, /"stopped"/, 'listening') // all that a start says comes before
    expect(later).to.contain('listening').and.not.contain('#token=')
    if (spawnSync('script', ['--version']).status !== 0) this.skip()
    const terminal = ['-qec', `exec ${process.execPath} ${serve.join(' ')}`, '/dev/null']
    const onTerminal = await saidBy('script', terminal, /#token=\S+\s/)
    expect(tokenIn(onTerminal), onTerminal).to.match(/^default\./)
    expect(onTerminal).to.not.contain('svc_')
  })

  it('sign a browser in once, as the key that they stand for', async () => {
    const env = environment()
    await makeEmptyStore(env.STORE_DIR)
    const made = await branchpoint(['keys', 'create', '--name', 'Pat', '--scopes', 'admin'], env)
    const key = made.stdout.trim()
    expect(key).to.match(/^svc_/)
    const service = await startService({ storeDir: env.STORE_DIR, env: { SVC_API_KEY: '' } })
    try {
      const { code, stdout, stderr } = await branchpoint(
        ['open'],
        environment({ PUBLIC_URL: `${service.url}/` }),
      )
      expect([code, stdout]).to.deep.equal([0, `${service.url}/signin#token=${tokenIn(stdout)}\n`])
      expect(stderr).to.contain('the key "Pat"').and.not.contain('token')
      const file = readFileSync(join(env.STORE_DIR, 'default/sessions.json'), 'utf8')
      expect(file).to.not.contain(tokenIn(stdout)?.split('.')[1])

      const session = { token: tokenIn(stdout) }
      const browsers = [new Browser(service.url), new Browser(service.url)]
      const answers = await Promise.all(browsers.map((it) => it.post('/sessions', { session })))
      expect(answers.map((it) => it.status).sort()).to.deep.equal([200, 401])
      expect(answers.find((it) => it.status === 401)?.body.code).to.equal('unknown_token')
      const signedIn = browsers.find(({ cookie }) => cookie !== undefined)
      expect((await signedIn?.get('/sessions/current'))?.body.session).to.deep.include({ scopes: ['admin'] })
      // nothing but a session comes of it
      const { status: asKey } = await new Browser(service.url).get('/projects/current', {
        authorization: `ApiKey ${session.token}`,
      })
      expect(asKey).to.equal(401)
      const { stdout: another } = await branchpoint(['open'], env)
      const asCookie = new Browser(service.url, `branchpoint=${tokenIn(another)}`)
      expect((await asCookie.get('/projects/current')).status).to.equal(401)
    } finally {
      await service.stop({ keepStore: true })
    }
  })

  it('are good for a quarter of an hour, and as long as their key is', async () => {
    let now = Date.now()
    const service = await startService({ now: () => new Date(now), env: { SVC_API_KEY: '' } })
    const env = environment({ STORE_DIR: service.storeDir })
    try {
      const link = async (...args: string[]) => tokenIn((await branchpoint(['open', ...args], env)).stdout)
      const use = async (token: string | undefined) =>
        (await new Browser(service.url).post('/sessions', { session: { token } })).status
      const [early, late] = [await link(), await link()]
      now += 14 * 60_000
      expect(await use(early)).to.equal(200)
      now += 60_000 + 10_000
      expect(await use(late)).to.equal(401)
      await branchpoint(['keys', 'create', '--name', 'ci', '--scopes', 'read'], env)
      now = Date.now()
      const ofRevoked = await link('--name', 'ci')
      await branchpoint(['keys', 'revoke', '--name', 'ci'], env)
      expect(await use(ofRevoked)).to.equal(401)
    } finally {
      await service.stop()
    }
  })

  it('stand for SVC_API_KEY where it is set, and are no good at a server that has another', async () => {
    const service = await startService({ env: { SVC_API_KEY: 'one' } })
    try {
      const statusOf = async (adminKey: string) => {
        const env = environment({ STORE_DIR: service.storeDir, SVC_API_KEY: adminKey })
        const session = { token: tokenIn((await branchpoint(['open'], env)).stdout) }
        return (await new Browser(service.url).post('/sessions', { session })).status
      }
      expect([await statusOf('one'), await statusOf('two')]).to.deep.equal([200, 401])
    } finally {
      await service.stop()
    }
  })

  it('are refused with a sentence where there is no key for them, and where it is not clear which', async () => {
    const env = environment()
    await makeEmptyStore(env.STORE_DIR)
    const none = await branchpoint(['open'], env)
    expect([none.code, none.stdout]).to.deep.equal([1, ''])
    expect(none.stderr).to.match(/no live key with the scope admin. Make one: \.\/branchpoint keys create/)
    for (let n = 0; n < 2; n++)
      await branchpoint(['keys', 'create', '--name', 'twin', '--scopes', 'read'], env)
    for (const [args, code, sentence] of [
      [['--name', 'twin'], 1, 'give the id of one'],
      [['--name', 'ghost'], 1, 'no live key with the name "ghost"'],
      [['--project', '../x'], 1, 'not a project name'],
      [['--name', 'a', '--id', 'b'], 2, '--name or --id'],
    ] as const) {
      const refused = await branchpoint(['open', ...args], env)
      expect([refused.code, refused.stdout], args.join(' ')).to.deep.equal([code, ''])
      expect(refused.stderr).to.contain(sentence)
    }
    writeFileSync(join(env.STORE_DIR, 'default/sessions.json'), 'x')
    await branchpoint(['keys', 'create', '--name', 'me', '--scopes', 'admin'], env)
    expect((await branchpoint(['open'], env)).stderr).to.contain('sessions.json is not a list of sessions')
  })
})
