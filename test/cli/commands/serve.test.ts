import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { runHere } from '../command-here.ts'

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint serve', () => {
  let folder: string
  const running: ChildProcess[] = []
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'serve-'))))
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const environment = (more: Readonly<Record<string, string>>) => ({
    PATH: process.env['PATH'] ?? '',
    ...more,
  })

  /** Starts it, and answers what its first line says, and how to end it and learn all that it printed. */
  async function serve(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [MAIN, 'serve', ...args], {
      cwd: folder,
      env: environment(more),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.push(child)
    let out = ''
    let log = ''
    child.stderr.on('data', (piece) => (log += String(piece)))
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (piece) => {
        out += String(piece)
        if (out.includes('\n')) resolve()
      })
      child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${log}`)))
    })
    const told = JSON.parse(out) as { readonly url: string; readonly key?: string; readonly project: string }
    const end = async () => {
      child.kill('SIGTERM')
      const [code] = (await once(child, 'close')) as [number]
      return { code, out, log }
    }
    return { told, end }
  }

  const ask = async (url: string, key: string | undefined, path: string, method = 'GET', body?: object) => {
    const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, body: (await answer.json()) as any } // tests look into answers freely
  }

  it('prints one line for a test that starts it: address, key and project of a store in memory', async () => {
    // These are of the server that the developer has beside it.
    const { told, end } = await serve(['--memory', '--port', '0', '--json'], {
      STORE: 'postgres://nobody@127.0.0.1:1/nothing',
      STORE_DIR: join(folder, 'store'),
      PORT: '3000',
    })
    expect(Object.keys(told)).to.deep.equal(['url', 'key', 'project'])
    expect(told.project).to.equal('default')
    const { url, key } = told
    const made = await ask(url, key, '/simple/applications/', 'POST', {
      application: { slug: 'bot', data: { parameters: {} } },
    })
    expect(made.status).to.equal(200)
    const deployed = await ask(url, key, '/applications/revisions/deploy', 'POST', {
      application_revision_ref: { slug: 'bot', version: 1 },
      environment_ref: { slug: 'production' },
    })
    expect(deployed.status).to.equal(200)
    expect((await ask(url, key, '/keys/')).status).to.equal(200)
    const { code, out, log } = await end()
    expect(code).to.equal(0)
    expect(out.split('\n')).to.have.length(2)
    expect(log)
      .to.include('nothing is kept')
      .and.not.include(key ?? '')
    expect(readdirSync(folder)).to.deep.equal([])
  })

  it('with SVC_API_KEY prints that key, and of a folder with keys none', async () => {
    const own = await serve(['--memory', '--port', '0', '--json'], { SVC_API_KEY: 'my-own-key' })
    expect(own.told.key).to.equal('my-own-key')
    expect((await ask(own.told.url, 'my-own-key', '/keys/')).status).to.equal(200)
    await own.end()
    const store = { STORE_DIR: join(folder, 'store'), PORT: '0' }
    const first = await serve(['--json'], store)
    expect((await ask(first.told.url, first.told.key, '/keys/')).status).to.equal(200)
    await first.end()
    const second = await serve(['--json'], store)
    expect(Object.keys(second.told)).to.deep.equal(['url', 'project'])
    await second.end()
  })

  it('refuses what it does not understand', async () => {
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHere(['serve', ...args], {
        env: environment({}),
        cwd: folder,
      })
      expect(stdout).to.equal('')
      return { code, stderr }
    }
    expect(await refused('--memori')).to.deep.include({ code: 2 })
    expect((await refused('--memori')).stderr).to.match(/Did you mean --memory\?/)
    expect((await refused('--memory', '--port', 'x')).stderr).to.match(/PORT: "x" is not a whole number/)
    expect((await refused('--memory', '--port', '70000')).code).to.equal(1)
    expect(existsSync(join(folder, 'store'))).to.equal(false)
  })
})
