import { expect } from 'chai'
import { gzipSync } from 'node:zlib'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { keyWith, newFolder, remoteOf, runGit, workflow } from '../../support/git/git-client.ts'

const REFS = '/git/workflows/bot.git/info/refs?service=git-upload-pack'
const PUSH_REFS = '/git/workflows/bot.git/info/refs?service=git-receive-pack'

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`any:${key}`).toString('base64')}` })

describe('git: the door', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    await workflow(service, 'bot')
  })
  after(() => service.stop())

  const ask = (path: string, init: RequestInit = {}): Promise<Response> => fetch(service.url + path, init)

  it('lets in with Basic and with ApiKey, at the root and under /api', async () => {
    for (const headers of [basic(ADMIN_KEY), { authorization: `ApiKey ${ADMIN_KEY}` }]) {
      for (const path of [REFS, `/api${REFS}`, PUSH_REFS]) {
        const reply = await ask(path, { headers })
        expect(reply.status, path).to.equal(200)
        expect(await reply.text()).to.match(/^001[ef]# service=git-/)
      }
    }
  })

  it('asks who has no live key for one, the way git understands', async () => {
    for (const headers of [{}, basic('svc_wrong'), basic(''), { authorization: 'Bearer x' }]) {
      const reply = await ask(REFS, { headers })
      expect(reply.status).to.equal(401)
      expect(reply.headers.get('www-authenticate')).to.match(/^Basic realm="Branchpoint"/)
      expect(codeOf(await reply.json())).to.match(/^(missing|unknown)_key$/)
    }
    expect((await ask('/workflows/')).headers.get('www-authenticate')).to.equal('ApiKey')
  })

  it('does not take Basic anywhere else', async () => {
    expect((await ask('/workflows/query', { method: 'POST', headers: basic(ADMIN_KEY) })).status).to.equal(
      401,
    )
  })

  // interface 15.1
  it('wants read to fetch and write to push, or deploy for environments', async () => {
    const [reader, writer, deployer] = await Promise.all([
      keyWith(service, 'read'),
      keyWith(service, 'write'),
      keyWith(service, 'deploy'),
    ])
    const statuses = async (key: string): Promise<number[]> => {
      const paths = [REFS, PUSH_REFS, PUSH_REFS.replace('workflows/bot', 'environments/production')]
      return Promise.all(paths.map(async (path) => (await ask(path, { headers: basic(key) })).status))
    }
    expect(await statuses(reader)).to.deep.equal([200, 403, 403])
    expect(await statuses(writer)).to.deep.equal([403, 200, 200])
    expect(await statuses(deployer)).to.deep.equal([403, 403, 200])
  })

  it('says what is wrong on git’s terminal', async () => {
    const folder = newFolder()
    const reader = await keyWith(service, 'read')
    const missing = await runGit(folder, ['clone', remoteOf(service, 'nobody')])
    expect(missing.terminal).to.match(/remote: There is no repository \/git\/workflows\/nobody\.git/)
    const unknown = await runGit(folder, ['clone', remoteOf(service, 'bot', 'workflows', 'svc_x')])
    expect(unknown.terminal).to.match(/remote: This API key is unknown or revoked/)
    await runGit(folder, ['clone', '-q', remoteOf(service, 'bot', 'workflows', reader), '.'])
    const refused = await runGit(folder, ['push', 'origin', 'HEAD:x'])
    expect(refused.terminal).to.match(/remote: The key .* has the scopes read; this request needs "write"/)
  })

  it('shows a key only its own project', async () => {
    const other = { project: 'elsewhere', name: 'other', scopes: ['admin'] }
    const { token } = await createApiKey(nodeFs, service.storeDir, other)
    expect((await ask(REFS, { headers: basic(token) })).status).to.equal(404)
  })

  for (const [what, path, init, status, code] of [
    ['an unknown repository', REFS.replace('bot', 'nobody'), {}, 404, 'artifact_not_found'],
    ['an unknown family', REFS.replace('workflows', 'applications'), {}, 404, 'artifact_not_found'],
    [
      'a path out of the store',
      '/git/workflows/..%2Fbot.git/info/refs?service=git-upload-pack',
      {},
      404,
      'artifact_not_found',
    ],
    ['the dumb protocol', '/git/workflows/bot.git/info/refs', {}, 403, 'smart_protocol_only'],
    [
      'another service',
      '/git/workflows/bot.git/info/refs?service=git-upload-archive',
      {},
      403,
      'smart_protocol_only',
    ],
    ['HEAD of the dumb protocol', '/git/workflows/bot.git/HEAD', {}, 404, 'artifact_not_found'],
    ['a GET of a service', '/git/workflows/bot.git/git-upload-pack', {}, 405, 'method_not_allowed'],
    [
      'a body of another type',
      '/git/workflows/bot.git/git-upload-pack',
      { method: 'POST', body: '0000' },
      415,
      'unsupported_media_type',
    ],
    [
      'a push that is none',
      '/git/workflows/bot.git/git-receive-pack',
      posted('receive', 'nonsense'),
      400,
      'contradictory_request',
    ],
    [
      'a push that is cut off',
      '/git/workflows/bot.git/git-receive-pack',
      posted('receive', '00ff12'),
      400,
      'contradictory_request',
    ],
  ] as const) {
    it(`${what}: ${status} ${code}`, async () => {
      const reply = await ask(path, withKey(init))
      expect(reply.status).to.equal(status)
      expect(codeOf(await reply.json())).to.equal(code)
    })
  }

  it('answers a client that only asks whether it is let in', async () => {
    const reply = await ask('/git/workflows/bot.git/git-receive-pack', withKey(posted('receive', '0000')))
    expect([reply.status, await reply.text()]).to.deep.equal([200, ''])
  })

  it('takes request bodies compressed', async () => {
    const head = git(service.repository('bot'), ['rev-parse', 'HEAD'])
    const wants = `0032want ${head}\n00000009done\n`
    const body = gzipSync(wants)
    const init = posted('upload', body, { 'content-encoding': 'gzip' })
    const reply = await ask('/git/workflows/bot.git/git-upload-pack', withKey(init))
    expect(reply.status).to.equal(200)
    expect((await reply.text()).slice(0, 12)).to.equal('0008NAK\nPACK')
  })
})

function posted(service: string, body: string | Buffer, more: Record<string, string> = {}): RequestInit {
  const headers = { 'content-type': `application/x-git-${service}-pack-request`, ...more }
  return { method: 'POST', body: new Uint8Array(Buffer.from(body)), headers }
}

function withKey(init: RequestInit): RequestInit {
  return { ...init, headers: { ...(init.headers as Record<string, string>), ...basic(ADMIN_KEY) } }
}

function codeOf(problem: unknown): unknown {
  return (problem as { readonly code?: unknown }).code
}
