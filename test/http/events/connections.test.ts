import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { workflow } from '../../support/git/git-client.ts'
import { Browser } from '../../support/clients/browser.ts'
import { TestFollower } from './follower.ts'

describe('http: those who follow GET /events', () => {
  let service: RunningService
  beforeEach(async () => (service = await startService({ env: { EVENTS_AT_ONCE: '8', MAX_REQUESTS: '5' } })))
  afterEach(() => service.stop())

  const keyOf = async (...scopes: string[]): Promise<{ id: string; secret: string }> =>
    (await service.post('/keys', { key: { name: 'k', scopes } })).body.key
  const followers = async (): Promise<number> =>
    Number(/^branchpoint_event_followers (\d+)$/m.exec((await service.get('/metrics')).text)?.[1])

  it('need a key that may read, and see its project alone', async () => {
    const writer = await keyOf('write')
    const refused = await TestFollower.open(service.url, { authorization: `ApiKey ${writer.secret}` })
    expect(refused.response.statusCode).to.equal(403)
    const nobody = await TestFollower.open(service.url, { authorization: 'ApiKey svc_x' })
    expect(nobody.response.statusCode).to.equal(401)
    const { token } = await createApiKey(nodeFs, service.storeDir, {
      project: 'other',
      name: 'o',
      scopes: ['admin'],
    })
    const other = await TestFollower.open(service.url, { authorization: `ApiKey ${token}` })
    const own = await TestFollower.open(service.url)
    await workflow(service, 'secret-name')
    await own.find(({ data }) => data.action === 'committed')
    await service.post(
      '/simple/workflows',
      { workflow: { slug: 'theirs', data: {} } },
      { authorization: `ApiKey ${token}` },
    )
    await other.find(({ data }) => data.action === 'committed')
    expect(other.text).to.contain('theirs').and.not.contain('secret-name')
    expect(own.text).to.not.contain('theirs')
    for (const it of [own, other]) it.close()
  })

  it('are let go of when their key is revoked, before they are told anything more', async () => {
    const key = await keyOf('read')
    const follower = await TestFollower.open(service.url, { authorization: `ApiKey ${key.secret}` })
    await service.call('DELETE', `/keys/${key.id}`)
    await workflow(service, 'later')
    await follower.until(() => follower.isEnded)
    expect(follower.text).to.not.contain('later')
  })

  it('are let go of when they sign out', async () => {
    const browser = new Browser(service.url)
    await browser.signIn(ADMIN_KEY)
    const cookie = browser.cookie ?? ''
    const follower = await TestFollower.open(service.url, { cookie, 'sec-fetch-site': 'same-origin' })
    await workflow(service, 'before')
    await follower.find(({ data }) => data.action === 'committed')
    await browser.call('DELETE', '/sessions/current')
    await workflow(service, 'after')
    await follower.until(() => follower.isEnded)
    expect(follower.text).to.contain('before').and.not.contain('after')
    const foreign = await TestFollower.open(service.url, { cookie, 'sec-fetch-site': 'cross-site' })
    expect(foreign.response.statusCode).to.be.within(401, 403)
  })

  // interface 3.10
  it('are so many at most, count as no requests, and are counted out when they leave', async () => {
    const opened: TestFollower[] = []
    const codes = new Set<string>()
    const open = async (secret: string): Promise<[number | undefined, string | undefined]> => {
      const follower = await TestFollower.open(service.url, { authorization: `ApiKey ${secret}` })
      const { statusCode, headers } = follower.response
      if (statusCode === 200) opened.push(follower)
      else {
        await follower.until(() => follower.isEnded)
        codes.add((JSON.parse(follower.text) as { readonly code: string }).code)
      }
      return [statusCode, headers['retry-after']]
    }
    const other = async (): Promise<string> => {
      const wanted = { project: 'other', name: 'o', scopes: ['read'] }
      return (await createApiKey(nodeFs, service.storeDir, wanted)).token
    }
    const keys = await Promise.all([keyOf('read'), keyOf('read'), keyOf('read')])
    const [first = '', second = '', third = ''] = keys.map(({ secret }) => secret)
    const answers: (number | undefined)[] = []
    for (const secret of [first, first, first, second, second, third]) answers.push((await open(secret))[0])
    // A key has a quarter of eight, and a project half.
    expect(answers).to.deep.equal([200, 200, 429, 200, 200, 429])
    expect([...codes]).to.deep.equal(['too_many_connections'])
    expect(await open(third)).to.deep.equal([429, '1'])
    const [another, more, last] = [await other(), await other(), await other()]
    for (const secret of [another, another, more, more]) expect((await open(secret))[0]).to.equal(200)
    expect(await open(last)).to.deep.equal([429, '1'])
    const { token } = await createApiKey(nodeFs, service.storeDir, {
      project: 'third',
      name: 't',
      scopes: ['read'],
    })
    expect(await open(token)).to.deep.equal([503, '1'])
    expect(await followers()).to.equal(8)
    // eight of five requests would be theirs
    const requests = await Promise.all([1, 2, 3, 4, 5].map(() => service.post('/workflows/query')))
    expect(requests.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200])
    for (const it of opened) it.close()
    while ((await followers()) > 0) await pause(10)
    const next = await TestFollower.open(service.url)
    expect(next.response.statusCode).to.equal(200)
    next.close()
  })

  it('are counted out where they only ask with HEAD, or leave in the midst of asking', async () => {
    for (let n = 0; n < 6; n++) {
      const head = request(`${service.url}/events`, {
        method: 'HEAD',
        headers: { authorization: `ApiKey ${ADMIN_KEY}` },
      })
      head.end()
      await new Promise((resolve) => head.once('response', resolve).once('error', resolve))
      head.destroy()
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(`GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${ADMIN_KEY}\r\n\r\n`)
      await pause(5)
      socket.destroy()
    }
    while ((await followers()) > 0) await pause(10)
  })

  it('do not hold up a stop', async () => {
    const follower = await TestFollower.open(service.url)
    const began = Date.now()
    const stopping = service.stop({ keepStore: true })
    await follower.until(() => follower.isEnded)
    await stopping
    expect(Date.now() - began).to.be.below(4000) // the server would have cut it off after five seconds
    service = await startService({ storeDir: service.storeDir })
  })
})
