import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { Browser } from '../../support/clients/browser.ts'

const HOUR = 3600_000

describe('http: sessions', () => {
  let service: RunningService
  let now = Date.now()
  before(async () => (service = await startService({ now: () => new Date(now) })))
  after(() => service.stop())

  const make = async (name: string, ...scopes: string[]): Promise<{ id: string; secret: string }> =>
    (await service.post('/keys/', { key: { name, scopes } })).body.key
  const signedIn = async (key: string): Promise<Browser> => {
    const browser = new Browser(service.url)
    expect((await browser.signIn(key)).status).to.equal(200)
    return browser
  }

  // interface 14.4
  it('begin with a key, and are then the key: for scopes, authors and Idempotency-Key', async () => {
    const key = await make('Pat', 'read', 'write')
    const browser = new Browser(service.url)
    const { status, body, headers } = await browser.signIn(key.secret)
    expect([status, body.count, headers.get('cache-control')]).to.deep.equal([200, 1, 'no-store'])
    const { created_at, expires_at, ...rest } = body.session
    expect(rest).to.deep.equal({
      principal: { id: `key:${key.id}`, kind: 'key', name: 'Pat' },
      scopes: ['read', 'write'],
      project: 'default',
    })
    expect(Date.parse(expires_at) - Date.parse(created_at)).to.equal(12 * HOUR)
    expect(browser.setCookie).to.match(
      /^branchpoint=default\.[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    )
    expect((await browser.get('/sessions/current')).body).to.deep.equal(body)

    const create = (slug: string, headers?: Record<string, string>) =>
      browser.post('/simple/workflows', { workflow: { slug, data: { parameters: { a: 1 } } } }, headers)
    const made = await create('by-session')
    const asked = await browser.post('/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'by-session' },
    })
    expect(asked.body.workflow_revision.author).to.equal('Pat <pat@branchpoint.local>')
    expect(made.headers.get('cache-control')).to.match(/^private, no-cache/)
    const twice = [
      await create('once', { 'idempotency-key': 'k1' }),
      await create('once', { 'idempotency-key': 'k1' }),
    ]
    expect(twice.map(({ body }) => body.workflow.id)[0]).to.equal(twice[1]?.body.workflow.id)
    const byKey = await service.post(
      '/simple/workflows',
      { workflow: { slug: 'once', data: { parameters: { a: 1 } } } },
      { authorization: `ApiKey ${key.secret}`, 'idempotency-key': 'k1' },
    )
    expect(byKey.body.workflow.id).to.equal(twice[0]?.body.workflow.id)
    const refused = await browser.get('/keys')
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'missing_scope'])
    const listed = (await service.get('/keys')).body.keys.find(({ id }: { id: string }) => id === key.id)
    expect(listed.last_used_at).to.be.a('string')
    expect((await browser.get('/ready')).body).to.have.property('damaged')
    expect((await browser.get('/metrics')).status).to.equal(200)
  })

  it('do not begin with a wrong key, a link that is none, or anything else', async () => {
    const browser = new Browser(service.url)
    for (const [session, status, code] of [
      [{ key: 'svc_wrong' }, 401, 'unknown_key'],
      [{ key: '' }, 401, 'unknown_key'],
      [{ token: 'default.wrong' }, 401, 'unknown_token'],
      [{ token: '../../x' }, 401, 'unknown_token'],
      [{ token: 'no-such-project.AAAA' }, 401, 'unknown_token'],
      [{}, 422, 'invalid_request'],
      [{ key: ADMIN_KEY, token: 'x' }, 422, 'invalid_request'],
      [{ key: 1 }, 422, 'invalid_request'],
      [{ key: ADMIN_KEY, hours: 900 }, 422, 'unknown_field'],
    ] as const) {
      const { status: got, body } = await browser.post('/sessions', { session })
      expect([got, body.code], JSON.stringify(session)).to.deep.equal([status, code])
    }
    expect((await browser.post('/sessions', {})).status).to.equal(422)
    // of a stranger not much is read
    expect((await browser.post('/sessions', { session: { key: 'x'.repeat(5000) } })).status).to.equal(413)
    expect((await browser.post('/sessions', 'key=svc', { 'content-type': 'text/plain' })).status).to.equal(
      415,
    )
    expect((await browser.post('/sessions', '{"session"')).body.code).to.equal('malformed_json')
    expect(browser.cookie).to.equal(undefined)
    expect((await browser.get('/sessions/current')).body.code).to.equal('missing_key')
  })

  it('end when their user signs out, and the cookie with them', async () => {
    const browser = await signedIn(ADMIN_KEY)
    const { cookie } = browser
    const { status, body } = await browser.call('DELETE', '/sessions/current')
    expect([status, body.session.principal.id]).to.deep.equal([200, 'key:admin'])
    expect(browser.setCookie).to.equal('branchpoint=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0')
    const kept = await new Browser(service.url, cookie).get('/projects/current')
    expect([kept.status, kept.body.code]).to.deep.equal([401, 'unknown_session'])
  })

  it('end after twelve hours', async () => {
    const browser = await signedIn(ADMIN_KEY)
    now += 12 * HOUR - 1000
    expect((await browser.get('/projects/current')).status).to.equal(200)
    now += 1000
    const over = await browser.get('/projects/current')
    expect([over.status, over.body.code]).to.deep.equal([401, 'unknown_session'])
    // and leave the file with the next one that begins
    await signedIn(ADMIN_KEY)
    expect(recorded()).to.have.length(1)
  })

  // interface 14.4
  it('end at once when their key is revoked', async () => {
    const key = await make('short', 'read')
    const browser = await signedIn(key.secret)
    expect((await browser.get('/projects/current')).status).to.equal(200)
    await service.call('DELETE', `/keys/${key.id}`)
    expect((await browser.get('/projects/current')).body.code).to.equal('unknown_session')
  })

  it('are at most twenty a key: one more ends the oldest', async () => {
    const key = await make('busy', 'read')
    const browsers: Browser[] = []
    for (let n = 0; n < 21; n++) browsers.push(await signedIn(key.secret))
    const states = await Promise.all(browsers.map(async (it) => (await it.get('/projects/current')).status))
    expect(states).to.deep.equal([401, ...Array<number>(20).fill(200)])
  })

  it('have a token of their own each time, whatever cookie the browser brought; the one before ends', async () => {
    const forged = 'branchpoint=default.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    const browser = new Browser(service.url, forged)
    await browser.signIn(ADMIN_KEY)
    expect(browser.cookie).to.be.a('string').and.not.equal(forged)
    const first = browser.cookie
    await browser.signIn(ADMIN_KEY)
    expect(browser.cookie).to.not.equal(first)
    expect((await new Browser(service.url, first).get('/projects/current')).status).to.equal(401)
    expect((await browser.get('/projects/current')).status).to.equal(200)
  })

  it('are in no answer, and in the store as hashes alone', async () => {
    const browser = await signedIn(ADMIN_KEY)
    const token = browser.cookie?.split('=')[1] ?? ''
    const text = readFileSync(join(service.storeDir, 'default/sessions.json'), 'utf8')
    expect(text).to.not.contain(token.split('.')[1]).and.not.contain(ADMIN_KEY)
    expect(JSON.stringify((await browser.get('/sessions/current')).body)).to.not.contain(token)
  })

  it('are known to every server of the store, also after a restart, but not where SVC_API_KEY is another', async () => {
    const key = await make('wide', 'read')
    const [stored, admin] = [await signedIn(key.secret), await signedIn(ADMIN_KEY)]
    const start = (env?: Record<string, string>) =>
      startService({ storeDir: service.storeDir, now: () => new Date(now), ...(env ? { env } : {}) })
    const ask = async (url: string, { cookie }: Browser) =>
      (await new Browser(url, cookie).get('/sessions/current')).status
    const [other, rotated] = [await start(), await start({ SVC_API_KEY: 'another-key' })]
    try {
      expect(await ask(other.url, stored)).to.equal(200)
      expect(await ask(other.url, admin)).to.equal(200)
      expect(await ask(rotated.url, stored)).to.equal(200)
      expect(await ask(rotated.url, admin)).to.equal(401)
      // signed out at one is signed out at all
      await new Browser(other.url, stored.cookie).call('DELETE', '/sessions/current')
      expect(await ask(service.url, stored)).to.equal(401)
    } finally {
      await other.stop({ keepStore: true })
      await rotated.stop({ keepStore: true })
    }
  })

  it('are over where their file is damaged, and begin again', async () => {
    const browser = await signedIn(ADMIN_KEY)
    writeFileSync(join(service.storeDir, 'default/sessions.json'), '{"format":1,"sess')
    expect((await browser.get('/projects/current')).body.code).to.equal('unknown_session')
    expect((await (await signedIn(ADMIN_KEY)).get('/projects/current')).status).to.equal(200)
  })

  it('are judged by the key where a request brings one, too', async () => {
    const key = await make('reader', 'read')
    const browser = await signedIn(ADMIN_KEY)
    const authorization = `ApiKey ${key.secret}`
    expect((await browser.get('/keys', { authorization })).body.code).to.equal('missing_scope')
    expect(
      (await browser.get('/projects/current', { authorization: 'ApiKey svc_wrong' })).body.code,
    ).to.equal('unknown_key')
    expect((await browser.get('/sessions/current', { authorization })).body.code).to.equal(
      'session_not_found',
    )
    // what a key writes needs no page
    const written = await browser.post(
      '/simple/workflows/query',
      {},
      { authorization, origin: 'https://evil.example' },
    )
    expect(written.status).to.equal(200)
  })

  it('do nothing for git', async () => {
    const browser = await signedIn(ADMIN_KEY)
    await browser.post('/simple/workflows', { workflow: { slug: 'cloned', data: {} } })
    const { status, headers } = await browser.get(
      '/git/workflows/cloned.git/info/refs?service=git-upload-pack',
    )
    expect([status, headers.get('www-authenticate')]).to.deep.equal([
      401,
      'Basic realm="Branchpoint", charset="UTF-8"',
    ])
    const put = await browser.call('PUT', '/git/workflows/other.git?head=refs/heads/x', 'x')
    expect(put.status).to.equal(401)
  })

  function recorded(): readonly object[] {
    return JSON.parse(readFileSync(join(service.storeDir, 'default/sessions.json'), 'utf8')).sessions
  }
})
