import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createApiKey } from '../../src/access/keys/api-keys.ts'
import { readConfig } from '../../src/config.ts'
import { openLogger } from '../../src/http/logger.ts'
import { openSecrets } from '../../src/access/secrets/open-secrets.ts'
import type { StartedService } from '../../src/server/started-service.ts'
import { start } from '../../src/server/start.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { rawRequest } from './raw-request.ts'

const SECRET = 'sk-nobody-may-see-this-0123456789'
const OPERATORS = 'sk-of-the-operator-0123456789'

describe('secrets and keys', () => {
  let folder: string
  let service: StartedService
  let token: string
  let url: string
  let flush: () => void
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-secrecy-'))
    const storeDir = join(folder, 'store')
    const env = {
      PORT: '0',
      STORE_DIR: storeDir,
      OPENAI_API_KEY: OPERATORS,
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
    }
    const config = readConfig({ ...env, LOG_LEVEL: 'debug' })
    const log = openLogger(config.logLevel, join(folder, 'log'))
    flush = log.flush
    service = await start({ config, fs: nodeFs, log, now: () => new Date() })
    url = service.server.url
    token = (await createApiKey(nodeFs, storeDir, { project: 'default', name: 'all', scopes: ['admin'] }))
      .token
    await openSecrets(nodeFs, storeDir, undefined).of('default').set('TOKEN', SECRET)
  })
  after(async () => {
    await service.server.stop(5000)
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function ask(path: string, body?: object): Promise<string> {
    const response = await fetch(url + path, {
      headers: { authorization: `ApiKey ${token}`, 'content-type': 'application/json' },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
  }

  function shown(text: string): readonly string[] {
    const hidden = [token, SECRET, OPERATORS]
    return hidden.filter((it) => text.includes(it) || text.includes(Buffer.from(it).toString('base64')))
  }

  it('are in no answer, no document, no log and no clone', async () => {
    const data = {
      uri: 'svc:custom:hook:v0',
      url: 'https://hooks.invalid/',
      headers: { authorization: { secret: 'TOKEN' } },
    }
    const answers = [await ask('/simple/workflows/', { workflow: { slug: 'hook', data } })]
    const of = { references: { workflow: { slug: 'hook' } } }
    const prompt = { parameters: { prompt: { messages: [{ role: 'user', content: 'Hi' }] } } }
    answers.push(
      await ask('/services/invoke', of),
      await ask('/services/completion/v0/invoke', { data: prompt }),
    )
    answers.push(
      await ask('/services/inspect', of),
      await ask('/traces/query', {}),
      await ask('/workflows/query', {}),
    )
    for (const path of ['/openapi.json', '/docs', '/metrics', '/ready', '/nowhere', '/webhooks/1'])
      answers.push(await ask(path))
    answers.push(await rawRequest(url, `GET / HTTP/1.1\r\nAuthorization: ApiKey ${token}\r\nX : y\r\n\r\n`))
    expect(answers.flatMap(shown)).to.deep.equal([])
    // Both runs got as far as needing what must not be shown.
    expect(answers[1]).to.contain('hooks.invalid')
    expect(answers[2]).to.match(/127\.0\.0\.1|ECONNREFUSED/)

    const mirror = join(folder, 'mirror.git')
    const git = async (...args: readonly string[]): Promise<string> =>
      (await promisify(execFile)('git', args, { encoding: 'utf8' })).stdout
    await git(
      'clone',
      '-q',
      '--mirror',
      `${url.replace('//', `//me:${token}@`)}/git/workflows/hook.git`,
      mirror,
    )
    const objects = await git('-C', mirror, 'cat-file', '--batch-all-objects', '--batch')
    expect(objects).to.contain('"secret": "TOKEN"')
    expect(shown(objects)).to.deep.equal([])
    flush()
    const log = readFileSync(join(folder, 'log'), 'utf8')
    expect(log).to.contain('/services/invoke')
    expect(shown(log)).to.deep.equal([])
  })

  it('are behind no path that climbs out of where it belongs', async () => {
    const climbs = [
      '..',
      '../..',
      '%2e%2e',
      '..%2f..',
      '%2e%2e%2f%2e%2e',
      '..%5c..',
      '....//',
      '%00',
      'a%00b',
      '%c0%ae%c0%ae',
    ]
    const paths = climbs.flatMap((it) => [
      `/git/${it}/keys.json`,
      `/git/workflows/${it}.git/info/refs?service=git-upload-pack`,
      `/git/workflows/${it}/keys.json.git/info/refs?service=git-upload-pack`,
      `/git/${it}/default.git/info/refs?service=git-upload-pack`,
      `/workflows/${it}`,
      `/workflows/catalog/templates/${it}`,
      `/webhooks/deliveries/${it}`,
      `/evaluations/${it}`,
      `/traces/${it}`,
      `/testcases/${it}`,
    ])
    for (const path of paths) {
      const lines = ['', 'Host: x', `Authorization: ApiKey ${token}`, 'Connection: close', '', '']
      const answer = await rawRequest(url, `GET ${path} HTTP/1.1${lines.join('\r\n')}`)
      expect(answer, path).to.match(/^HTTP\/1\.1 4(?:00|04|22) /)
      expect(answer, path).not.to.contain('sha256').and.not.contain(folder)
    }
  })

  it('are not shown to a key of another project, nor used for it', async () => {
    const { token: other } = await createApiKey(nodeFs, join(folder, 'store'), {
      project: 'other',
      name: 'all',
      scopes: ['admin'],
    })
    const headers = { authorization: `ApiKey ${other}`, 'content-type': 'application/json' }
    const data = {
      uri: 'svc:custom:hook:v0',
      url: 'https://hooks.invalid/',
      headers: { a: { secret: 'TOKEN' } },
    }
    const body = JSON.stringify({ data: { revision: { data } } })
    const response = await fetch(`${url}/services/invoke`, { method: 'POST', headers, body })
    expect(await response.text()).to.contain("has no secret 'TOKEN'")
    const found = await fetch(`${url}/git/workflows/hook.git/info/refs?service=git-upload-pack`, { headers })
    expect(found.status).to.equal(404)
  })
})
