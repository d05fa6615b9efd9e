import { expect } from 'chai'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Browser } from '../support/clients/browser.ts'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'
import { TestFollower } from './events/follower.ts'

const HOUR = 3600_000

describe('http: keys that expire', () => {
  let service: RunningService
  let now = Date.now()
  before(async () => (service = await startService({ now: () => new Date(now) })))
  after(() => service.stop())

  const inAnHour = (): string => new Date(now + HOUR).toISOString()
  const make = async (name: string, ...scopes: string[]): Promise<{ id: string; secret: string }> => {
    const made = await service.post('/keys/', { key: { name, scopes, expires_at: inAnHour() } })
    expect(made.status, made.text).to.equal(200)
    return made.body.key
  }
  const as = (secret: string) => ({ authorization: `ApiKey ${secret}` })

  // interface 14.5
  it('work until then, and are a 401 that says so from then on, for REST, git and signing in', async () => {
    const key = await make('brief', 'read', 'write')
    const listed = (await service.post('/keys/query', { key: { name: 'brief' } })).body.keys
    expect(listed[0].expires_at).to.equal(inAnHour())
    expect((await service.get('/keys')).body.keys[0]).to.include({ id: key.id })

    const ask = () => service.post('/workflows/query', {}, as(key.secret))
    const basic = { authorization: `Basic ${Buffer.from(`me:${key.secret}`).toString('base64')}` }
    const fetchRefs = () =>
      service.get('/git/environments/production.git/info/refs?service=git-upload-pack', basic)
    const browser = new Browser(service.url)
    expect((await browser.signIn(key.secret)).body.session.expires_at).to.equal(inAnHour())

    now += HOUR - 1
    for (const reply of [await ask(), await fetchRefs(), await browser.get('/projects/current')])
      expect(reply.status).to.equal(200)
    now += 1
    for (const reply of [await ask(), await fetchRefs(), await new Browser(service.url).signIn(key.secret)])
      expect([reply.status, reply.headers.get('www-authenticate') !== null]).to.have.property('0', 401)
    const { body } = await ask()
    expect(body.code).to.equal('key_expired')
    expect(body.detail).to.contain('"brief" expired at')
    const over = await browser.get('/projects/current')
    expect([over.status, over.body.code]).to.deep.equal([401, 'unknown_session'])
    // What is answered to everybody is answered to it as well.
    expect((await service.get('/ready', as(key.secret))).status).to.equal(200)
    // It may still be revoked.
    expect((await service.call('DELETE', `/keys/${key.id}`)).body.key.revoked_at).to.be.a('string')
    expect((await ask()).body.code).to.equal('unknown_key')
  })

  // interface 14.5
  it('finish an upload that began before', async () => {
    const key = await make('uploader', 'read', 'write')
    const rows = Array.from({ length: 200 }, (_, at) => `${at},Oslo\n`)
    const sent = request(`${service.url}/simple/testsets/upload?file_type=csv&testset_slug=long`, {
      method: 'POST',
      headers: { ...as(key.secret), 'content-type': 'text/csv' },
    })
    sent.write(`n,city\n${rows.slice(0, 100).join('')}`)
    // It was let in once its use is noted.
    while (
      (await service.post('/keys/query', { key: { name: 'uploader' } })).body.keys[0].last_used_at === null
    )
      await pause(5)
    now += 2 * HOUR
    expect((await service.post('/testsets/query', {}, as(key.secret))).body.code).to.equal('key_expired')
    sent.end(rows.slice(100).join(''))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).to.equal(200)
    const { body } = await service.post('/testsets/revisions/retrieve', { testset_ref: { slug: 'long' } })
    expect(body.testset_revision.data.testcases).to.have.length(200)
  })

  // interface 14.5
  it('see no more events', async () => {
    const key = await make('follower', 'read')
    const browser = new Browser(service.url)
    await browser.signIn(key.secret)
    const followers = [
      await TestFollower.open(service.url, as(key.secret)),
      await TestFollower.open(service.url, { cookie: browser.cookie ?? '' }),
    ]
    const create = (slug: string) =>
      service.post('/simple/workflows', { workflow: { slug, data: { parameters: { a: 1 } } } })
    await create('seen')
    for (const follower of followers) await follower.find(({ event }) => event === 'revision')
    const seen = followers.map(({ text }) => text)
    now += HOUR
    await create('unseen')
    for (const follower of followers) await follower.until(() => follower.isEnded)
    expect(followers.map(({ text }) => text)).to.deep.equal(seen)
  })

  it('are refused with a time that has passed, or that is none, and not made then', async () => {
    const before = (await service.get('/keys')).body.count
    for (const [expires_at, about] of [
      [new Date(now).toISOString(), 'in the past'],
      ['2020-01-01', 'in the past'],
      ['tomorrow', 'not a time'],
      ['2027-13-45', 'not a time'],
      [1_900_000_000, 'string'],
    ] as const) {
      const { status, text } = await service.post('/keys', {
        key: { name: 'late', scopes: ['read'], expires_at },
      })
      expect([status, text.includes('expires_at'), text.includes(about)], text).to.deep.equal([
        422,
        true,
        true,
      ])
    }
    expect((await service.get('/keys')).body.count).to.equal(before)
  })

  it('stop at the first moment of a date in UTC', async () => {
    const { body } = await service.post('/keys', {
      key: { name: 'century', scopes: ['read'], expires_at: '2100-01-01' },
    })
    expect(body.key.expires_at).to.equal('2100-01-01T00:00:00.000Z')
    const zoned = await service.post('/keys', {
      key: { name: 'century', scopes: ['read'], expires_at: '2100-01-01T01:30:00+02:00' },
    })
    expect(zoned.body.key.expires_at).to.equal('2099-12-31T23:30:00.000Z')
    expect((await service.get('/keys', { authorization: `ApiKey ${ADMIN_KEY}` })).status).to.equal(200)
  })
})
