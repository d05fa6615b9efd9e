import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { runHere } from '../command-here.ts'
import { makeEmptyStore } from '../empty-store.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint login', () => {
  let service: RunningService
  let folder: string
  const servers: Server[] = []
  before(async () => {
    service = await startService()
    await service.post('/simple/applications/', { application: { slug: 'bot' } })
  })
  after(() => service.stop())
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'login-'))))
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const file = () => join(folder, '.config/branchpoint/logins.json')
  const run = (line: string, env: Record<string, string> = {}) =>
    runHere(line.split(' '), { env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env }, cwd: folder })

  /** Another server, on a port of its own. */
  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('stores address and key for this user alone, and every command uses them until logout', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'login', `${service.url}/`, '--with-token'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    })
    child.stdin.end(`${ADMIN_KEY}\n`)
    const sentence = `Logged in to ${service.url}, project "default". The key is in ${file()}.\n`
    expect([await text(child.stderr), await text(child.stdout)]).to.deep.equal([sentence, ''])
    expect(statSync(file()).mode & 0o777).to.equal(0o600)
    expect(statSync(join(file(), '..')).mode & 0o777).to.equal(0o700)

    expect((await run('list')).stdout).to.match(/^NAME[^]*\nbot /)
    expect((await run('search bot')).stdout).to.contain('bot')
    expect((await run('keys list')).stdout).to.contain(`at ${service.url}`)
    expect((await run('--version')).stdout).to.match(
      new RegExp(`^branchpoint \\d+\\.\\d+\\.\\d+\\nserver \\d+\\.\\d+\\.\\d+ at ${service.url}\\n$`),
    )
    expect((await run('logout')).stderr).to.equal(`Forgot the key for ${service.url}.\n`)
    expect(readFileSync(file(), 'utf8')).to.not.contain(ADMIN_KEY)
    expect((await run('list')).code).to.equal(2)
    expect((await run('--version')).stdout).to.match(/^branchpoint \d+\.\d+\.\d+\n$/)
  })

  it('keeps an entry for each address; the last one counts, behind --store, --url and BRANCHPOINT_URL', async () => {
    const other = service.url.replace('127.0.0.1', 'localhost')
    await run(`login ${service.url} --key ${ADMIN_KEY}`)
    await run(`login ${other} --key ${ADMIN_KEY}`)
    chmodSync(file(), 0o644)
    await run(`login ${other} --key ${ADMIN_KEY}`)
    expect(statSync(file()).mode & 0o777).to.equal(0o600)
    expect(JSON.parse(readFileSync(file(), 'utf8')).logins).to.have.length(2)
    await makeEmptyStore(join(folder, 'store'))
    const listed = async (line: string, env = {}) => (await run(line, env)).stdout
    expect(await listed('keys list')).to.contain(`at ${other}`)
    expect(await listed(`keys list --url ${service.url}`)).to.contain(`at ${service.url}`)
    expect(await listed('keys list', { BRANCHPOINT_URL: service.url })).to.contain(`at ${service.url}`)
    expect(await listed('keys list --store ./store')).to.contain('in the store ./store')
    // A folder's work is never sent to a server because of a login.
    expect((await run('verify')).stdout).to.not.contain('http')
    expect((await run('logout')).stderr).to.equal(
      `Forgot the key for ${other}. Commands now ask ${service.url}.\n`,
    )
    expect((await run('logout http://127.0.0.1:9')).stderr).to.equal(
      `No key is stored for http://127.0.0.1:9. Stored are ${service.url}.\n`,
    )
  })

  it('sends a stored key to its own address only, and --key before all', async () => {
    await run(`login ${service.url} --key ${ADMIN_KEY}`)
    const seen: (string | undefined)[] = []
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization)
      response.writeHead(404).end()
    })
    expect((await run(`list --url ${url}`)).code).to.equal(2)
    expect((await run('list', { BRANCHPOINT_URL: url })).code).to.equal(2)
    await run(`list --url ${url}`, { BRANCHPOINT_KEY: 'of-the-variable' })
    await run(`list --url ${url} --key given`, { BRANCHPOINT_KEY: 'of-the-variable' })
    expect([...new Set(seen)]).to.deep.equal(['ApiKey of-the-variable', 'ApiKey given'])
    const right = await run(`list --url ${service.url}`, { BRANCHPOINT_KEY: 'of-the-variable' })
    expect(right.code).to.equal(0)
  })

  it('stores nothing that the server does not accept, and never sends a key over http to another machine', async () => {
    const silent = await serve(() => undefined)
    servers.pop()?.close()
    const html = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    )
    const moved = await serve((_, response) =>
      response.writeHead(301, { location: 'https://x.example' }).end(),
    )
    const broken = await serve((_, response) => response.writeHead(502).end('bad gateway'))
    const half = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{')
      setImmediate(() => response.destroy())
    })
    for (const [url, code, sentence] of [
      [silent, 128, `No server answers at ${silent}: connect ECONNREFUSED`],
      [service.url.replace('http', 'https'), 128, 'No server answers at https://'],
      [html, 128, 'it is no Branchpoint server'],
      [moved, 128, 'answered 301: use the address https://x.example.'],
      [broken, 128, 'answered 502.'],
      [half, 128, 'broke off'],
      [`${service.url}/nowhere`, 1, 'There is no'],
      ['http://prompts.example.org', 1, 'is not encrypted'],
      ['prompts.example.org', 2, 'is not the address of a server, such as https://'],
      ['http://me:pw@127.0.0.1', 2, 'holds a user or a password'],
      ['ftp://127.0.0.1', 2, 'is not the address of a server'],
    ] as const) {
      const { code: status, stderr, stdout } = await run(`login ${url} --key ${ADMIN_KEY}`)
      expect([status, stdout], url).to.deep.equal([code, ''])
      expect(stderr, url).to.contain(sentence)
    }
    const wrong = await run(`login ${service.url} --key wrong`)
    expect([wrong.code, wrong.stderr]).to.deep.equal([
      1,
      'This API key is unknown or revoked. Ask an administrator for a live one.\n',
    ])
    expect((await run('list')).code).to.equal(2)
    // With the option it is tried; this name leads nowhere.
    const tried = await run(`login http://nowhere.invalid --insecure --key ${ADMIN_KEY}`)
    expect([tried.code, tried.stderr.slice(0, 44)]).to.deep.equal([
      128,
      'No server answers at http://nowhere.invalid:',
    ])
  })

  it('takes a key that may not read, and refuses a file that it did not write', async () => {
    const { key } = (await service.post('/keys', { key: { name: 'ci', scopes: ['invoke'] } })).body
    expect((await run(`login ${service.url} --key ${key.secret}`)).stderr).to.contain(
      `Logged in to ${service.url}.`,
    )
    writeFileSync(file(), '{"logins": [1]}')
    const { code, stderr } = await run('list')
    expect([code, stderr]).to.deep.equal([
      1,
      `${file()} does not hold what branchpoint login writes. Remove it, and log in again.\n`,
    ])
  })
})
