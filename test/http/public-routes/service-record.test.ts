import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

describe('GET / of a program', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  /** Asks without a key. */
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetch(service.url + path, { method, headers })
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

  for (const accept of [
    undefined,
    '*/*',
    'application/json',
    'image/png',
    'application/json, text/html;q=0.5',
  ]) {
    it(`answers JSON to Accept: ${accept ?? '(none)'}`, async () => {
      const response = await ask('/', accept === undefined ? {} : { accept })
      expect(response.status).to.equal(200)
      expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8')
      const { key, ...rest } = (await response.json()) as Record<string, string>
      expect(rest).to.deep.equal({ name: 'branchpoint', version, docs: '/docs', openapi: '/openapi.json' })
      expect(key).to.include('branchpoint keys')
    })
  }

  it('takes GET and HEAD only', async () => {
    expect((await ask('/', {}, 'HEAD')).status).to.equal(200)
    const posted = await ask('/', {}, 'POST')
    expect([posted.status, posted.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD'])
  })

  it('/favicon.ico is nothing, without a key, and browsers keep that', async () => {
    const response = await ask('/favicon.ico', { accept: 'image/*' })
    expect([response.status, await response.text()]).to.deep.equal([204, ''])
    expect(response.headers.get('cache-control')).to.equal('public, max-age=86400')
  })

  it('everything else still needs a key', async () => {
    expect((await ask('/workflows', { accept: BROWSER })).status).to.equal(401)
  })
})
