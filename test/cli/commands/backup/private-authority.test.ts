import { expect } from 'chai'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { Server } from 'node:https'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { git } from '../../../support/git/git-program.ts'
import { ADMIN_KEY, startService } from '../../../support/servers/service.ts'
import { withoutProgress } from '../../without-progress.ts'
import type { SmallStore } from './small-store.ts'
import { startSmallStore } from './small-store.ts'

const MAIN = fileURLToPath(new URL('../../../../src/cli/main.js', import.meta.url))

describe('branchpoint backup, branchpoint restore: over HTTPS with an authority of one’s own', () => {
  let store: SmallStore
  let authority: string
  before(async function () {
    // The real openssl, which the project cannot install.
    if (spawnSync('openssl', ['version']).error) this.skip()
    store = await startSmallStore()
    await store.workflow('a', 2)
    authority = makeCertificates(store.folder)
  })
  after(() => store?.stop())

  it('both work once node and git are told of it', async () => {
    const { server, url } = await tlsBefore(store.service.url, store.folder)
    const options = ['--to', store.backupDir, '--url', url, '--key', ADMIN_KEY]
    const trust = { NODE_EXTRA_CA_CERTS: authority, GIT_SSL_CAINFO: authority }
    expect(await run('backup', options, trust)).to.include({ code: 0, complaint: '' })
    expect(git(store.mirror('a'), ['rev-parse', 'a'])).to.equal(
      git(store.service.repository('a'), ['rev-parse', 'a']),
    )
    server.close()
    const empty = await startService()
    const front = await tlsBefore(empty.url, store.folder)
    const back = ['--from', store.backupDir, '--url', front.url, '--key', ADMIN_KEY]
    expect(await run('restore', back, trust)).to.include({ code: 0, complaint: '' })
    expect(git(empty.repository('a'), ['rev-list', '--count', 'a'])).to.equal('2')
    front.server.close()
    await empty.stop()
  })

  it('without, they say which variables to set', async () => {
    await store.backUp()
    const { server, url } = await tlsBefore(store.service.url, store.folder)
    for (const [program, folder] of [
      ['backup', '--to'],
      ['restore', '--from'],
    ] as const) {
      const { code, complaint } = await run(program, [
        folder,
        store.backupDir,
        '--url',
        url,
        '--key',
        ADMIN_KEY,
      ])
      expect(code).to.equal(1)
      expect(complaint).to.match(/cannot be reached: .*\. .* set NODE_EXTRA_CA_CERTS and GIT_SSL_CAINFO to/)
    }
    server.close()
  })
})

async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [MAIN, program, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const [code] = await once(child, 'close')
  return { code: code as number, complaint: withoutProgress(complaint) } // it was not ended by a signal
}

/** An authority, and a server's key and certificate by it. Answers the file of the authority's certificate. */
function makeCertificates(folder: string): string {
  const openssl = (...args: readonly string[]): Buffer =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Ours')
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost')
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n')
  const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', '1', '-extfile', 'names', '-days', '2']
  openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.pem', ...by)
  return join(folder, 'ca.pem')
}

/** What stands before a server that speaks HTTP only. */
async function tlsBefore(
  to: string,
  folder: string,
): Promise<{ readonly server: Server; readonly url: string }> {
  const { hostname, port } = new URL(to)
  const [key, cert] = ['server.key', 'server.pem'].map((name) => readFileSync(join(folder, name)))
  const server = createServer({ key, cert }, (asked, response) => {
    const passed = request({ hostname, port, path: asked.url, method: asked.method, headers: asked.headers })
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    asked.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `https://localhost:${(server.address() as AddressInfo).port}` } // it listens on TCP
}
