import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { Browser } from '../../support/clients/browser.ts'

describe('http: a key', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
    const workflow = { slug: 'bot', data: { parameters: { a: 1 } } }
    expect((await service.post('/simple/workflows/', { workflow })).status).to.equal(200)
  })
  after(() => service.stop())

  type Headers = Readonly<Record<string, string>>
  const query = (headers: Headers): Promise<Response> =>
    fetch(`${service.url}/workflows/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    })
  const refs = (headers: Headers): Promise<Response> =>
    fetch(`${service.url}/git/workflows/bot.git/info/refs?service=git-upload-pack`, { headers })
  const basic = `Basic ${Buffer.from('ann:hers').toString('base64')}`

  const ways: readonly (readonly [string, Headers])[] = [
    ['as Bearer', { authorization: `Bearer ${ADMIN_KEY}` }],
    ['as bearer, in any case', { authorization: `bEARER  ${ADMIN_KEY}` }],
    ['alone in X-API-Key', { 'x-api-key': ADMIN_KEY }],
    ['in both headers', { 'x-api-key': ADMIN_KEY, authorization: `ApiKey ${ADMIN_KEY}` }],
    ['in X-API-Key, beside what a proxy wants', { 'x-api-key': ADMIN_KEY, authorization: basic }],
    ['in X-API-Key, beside an empty header', { 'x-api-key': ADMIN_KEY, authorization: '' }],
  ]
  for (const [way, headers] of ways) {
    it(`is taken ${way}, for what REST and git ask`, async () => {
      const reply = await query(headers)
      expect(reply.status).to.equal(200)
      expect(await reply.json()).to.include({ count: 1 })
      expect((await refs(headers)).status).to.equal(200)
    })
  }

  const refusals: readonly (readonly [string, Headers, number, string, RegExp])[] = [
    ['an unknown Bearer', { authorization: 'Bearer svc_no' }, 401, 'unknown_key', /unknown or revoked/],
    ['an unknown X-API-Key', { 'x-api-key': 'svc_no' }, 401, 'unknown_key', /unknown or revoked/],
    ['Bearer without a key', { authorization: 'Bearer ' }, 401, 'missing_key', /is not ApiKey and one key/],
    ['two Bearer keys', { authorization: 'Bearer a b' }, 401, 'missing_key', /is not ApiKey and one key/],
    ['an empty X-API-Key', { 'x-api-key': '' }, 401, 'missing_key', /X-API-Key header is empty/],
    [
      'an X-API-Key with a scheme',
      { 'x-api-key': `ApiKey ${ADMIN_KEY}` },
      401,
      'missing_key',
      /X-API-Key header is not one key/,
    ],
    ['two of them', { 'x-api-key': `${ADMIN_KEY}, svc_b` }, 401, 'missing_key', /is not one key/],
    [
      'two different keys',
      { 'x-api-key': ADMIN_KEY, authorization: 'Bearer svc_no' },
      400,
      'contradictory_request',
      /Authorization and X-API-Key carry two different keys: send one/,
    ],
  ]
  for (const [what, headers, status, code, says] of refusals) {
    it(`refuses ${what}, saying so, and how a key is sent`, async () => {
      for (const reply of [await query(headers), await refs(headers)]) {
        expect(reply.status).to.equal(status)
        const body = (await reply.json()) as { code: string; detail: string }
        expect(body.code).to.equal(code)
        expect(body.detail).to.match(says)
        if (code === 'missing_key') expect(body.detail).to.include('X-API-Key: <key>')
      }
    })
  }

  it('in X-API-Key counts before the cookie of a session', async () => {
    const { secret } = (await service.post('/keys/', { key: { name: 'Pat', scopes: ['write'] } })).body.key
    const browser = new Browser(service.url)
    expect((await browser.signIn(secret)).status).to.equal(200)
    expect((await browser.post('/workflows/query', {})).status).to.equal(403)
    expect((await browser.post('/workflows/query', {}, { 'x-api-key': ADMIN_KEY })).status).to.equal(200)
  })

  it('in X-API-Key keeps what is answered from caches in between, which do not know the header', async () => {
    const reply = await fetch(`${service.url}/workflows/bot`, { headers: { 'x-api-key': ADMIN_KEY } })
    expect(reply.status).to.equal(200)
    expect(reply.headers.get('cache-control')).to.match(/^private, no-cache/)
  })
})
