import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { rawRequest } from '../raw-request.ts'
import { Browser } from '../../support/clients/browser.ts'

/** What a browser says of the page that sends a request. */
type Said = Readonly<Record<string, string>>

const WORKFLOW = { workflow: { data: {} } }

describe('http: sessions and pages of others', () => {
  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  const signedIn = async (): Promise<Browser> => {
    const browser = new Browser(service.url)
    await browser.signIn(ADMIN_KEY)
    return browser
  }
  const count = async (): Promise<number> => (await service.post('/simple/workflows/query')).body.count

  const others: [string, Said][] = [
    ['names another origin', { origin: 'https://evil.example' }],
    ['names another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['names none that can be known', { origin: 'null' }],
    ['names none', { origin: '' }],
    ['is cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['is of another port, as the browser says', { 'sec-fetch-site': 'same-site' }],
    ['was typed', { 'sec-fetch-site': 'none' }],
    [
      'says it is ours in a header that anybody may send',
      { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
    ],
  ]
  for (const [what, headers] of others) {
    // interface 14.4
    it(`write nothing: a POST with the cookie that ${what} is 403, and so are PUT and DELETE`, async () => {
      const browser = await signedIn()
      const before = await count()
      const posted = await browser.post('/simple/workflows', WORKFLOW, headers)
      expect([posted.status, posted.body.code]).to.deep.equal([403, 'foreign_origin'])
      for (const [method, path] of [
        ['PUT', '/secrets/NAME'],
        ['DELETE', '/sessions/current'],
        ['DELETE', '/keys/x'],
        ['POST', '/api/simple/workflows/query'],
      ] as const)
        expect((await browser.call(method, path, {}, headers)).status, path).to.equal(403)
      expect(await count()).to.equal(before)
      expect((await browser.get('/sessions/current')).status).to.equal(200)
    })
  }

  it('write nothing by a form, whatever its type', async () => {
    const browser = await signedIn()
    const before = await count()
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const posted = await browser.post('/simple/workflows', JSON.stringify(WORKFLOW), {
        'content-type': type,
        origin: 'https://evil.example',
      })
      expect(posted.status, type).to.equal(403)
    }
    expect(await count()).to.equal(before)
  })

  it('read nothing where the browser says whose page asks', async () => {
    const browser = await signedIn()
    for (const site of ['cross-site', 'same-site'])
      expect((await browser.get('/projects/current', { 'sec-fetch-site': site })).status).to.equal(403)
    for (const site of ['same-origin', 'none'])
      expect((await browser.get('/projects/current', { 'sec-fetch-site': site })).status).to.equal(200)
    const { headers } = await browser.get('/projects/current', { origin: 'https://evil.example' })
    expect(headers.get('access-control-allow-origin')).to.equal(null)
  })

  it('are no way around for our own pages, which write as they like', async () => {
    const browser = await signedIn()
    const headersOf: Said[] = [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-origin', origin: '' },
    ]
    for (const headers of headersOf)
      expect((await browser.post('/simple/workflows', WORKFLOW, headers)).status).to.equal(200)
  })

  it('sign nobody in', async () => {
    const headersOf: Said[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ]
    for (const headers of headersOf) {
      const browser = new Browser(service.url)
      const { status, body } = await browser.signIn(ADMIN_KEY, headers)
      expect([status, body.code, browser.cookie]).to.deep.equal([403, 'foreign_origin', undefined])
    }
    const program = new Browser(service.url)
    expect((await program.signIn(ADMIN_KEY, { origin: '' })).status).to.equal(200)
  })
})

describe('http: the cookie of a session', () => {
  it('holds nothing that a request brought', async () => {
    const service = await startService()
    try {
      const { host, port } = new URL(service.url)
      const body = JSON.stringify({ session: { key: ADMIN_KEY } })
      for (const odd of [
        `Cookie: branchpoint=default.x; Domain=evil.example; Set-Cookie: a=b`,
        `X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https`,
      ]) {
        const text = await rawRequest(
          `http://127.0.0.1:${port}`,
          `POST /sessions HTTP/1.1\r\nHost: ${host}\r\n${odd}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
        )
        const cookies = text.match(/^set-cookie: .*$/gim) ?? []
        expect(cookies, text).to.have.length(1)
        expect(cookies[0]).to.match(
          /^set-cookie: branchpoint=default\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/i,
        )
      }
    } finally {
      await service.stop()
    }
  })

  it('is for https alone where the page came by https, and then no other is taken in its place', async () => {
    const service = await startService({ env: { PUBLIC_URL: 'https://registry.example/' } })
    try {
      // The proxy asks by another name than browsers do.
      const page = { origin: 'https://registry.example', host: 'branchpoint' }
      const browser = new Browser(service.url)
      expect((await browser.signIn(ADMIN_KEY, page)).status).to.equal(200)
      expect(browser.setCookie).to.match(
        /^__Host-branchpoint=default\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=43200$/,
      )
      expect((await browser.post('/simple/workflows', WORKFLOW, page)).status).to.equal(200)
      const foreign = await browser.post('/simple/workflows', WORKFLOW, {
        ...page,
        origin: 'https://branchpoint.evil',
      })
      expect(foreign.status).to.equal(403)
      const plain = browser.cookie?.replace('__Host-', '')
      expect((await new Browser(service.url, plain).get('/sessions/current')).body.code).to.equal(
        'missing_key',
      )
      await browser.call('DELETE', '/sessions/current', undefined, page)
      expect(browser.setCookie).to.equal(
        '__Host-branchpoint=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0',
      )
    } finally {
      await service.stop()
    }
  })

  it('is one of http without PUBLIC_URL, unless the page says that it came by https; that one counts first', async () => {
    const service = await startService()
    try {
      const { host } = new URL(service.url)
      const [plain, secure] = [new Browser(service.url), new Browser(service.url)]
      await plain.signIn(ADMIN_KEY)
      expect(plain.setCookie)
        .to.match(/^branchpoint=/)
        .and.not.contain('Secure')
      await secure.signIn(ADMIN_KEY, { origin: `https://${host}` })
      expect(secure.setCookie).to.match(/^__Host-branchpoint=.*; Secure/)
      const both = new Browser(service.url, `branchpoint=default.x; a=b; ${secure.cookie}`)
      expect((await both.get('/sessions/current')).status).to.equal(200)
      for (const cookie of [
        'branchpoint=',
        'branchpoint=%00',
        'branchpoint=../../etc.x',
        'xbranchpoint=default.x',
        'branchpoint',
      ])
        expect((await new Browser(service.url, cookie).get('/sessions/current')).status, cookie).to.equal(401)
    } finally {
      await service.stop()
    }
  })
})
