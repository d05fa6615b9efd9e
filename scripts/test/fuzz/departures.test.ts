import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { depart, type Departure } from '../../proofs/fuzz/depart.ts'
import { departingRequests, type DepartingRequest } from '../../proofs/fuzz/departing-requests.ts'
import { heldThings, nothingHeld } from '../../proofs/fuzz/held-things.ts'
import { seedStore } from '../../proofs/fuzz/seed-store.ts'
import { ADMIN_KEY, startService, type RunningService } from '../../../test/support/servers/service.ts'
import { newFolder, remoteOf, runGit } from '../../../test/support/git/git-client.ts'

/** Requests up to this length are cut off at every seventh byte, longer ones at so many places; `npm run proof -- fuzz` cuts at any. */
const SHORT = 1500
const STRIDE = 7
const PLACES = 24

const AT_ONCE = 16
const MANNERS = ['close', 'reset', 'half'] as const

describe('clients that leave', () => {
  let service: RunningService
  let requests: readonly DepartingRequest[]
  before(async () => {
    // So little that whatever is kept of a large body refuses the next.
    const little = { MAX_BODIES_BYTES: '250000', UPLOADS_MAX_BYTES: '700000' }
    service = await startService({ env: { ...little, HOOK_ALLOW_PRIVATE: 'true' } })
    const keys = { admin: `ApiKey ${ADMIN_KEY}` } as Parameters<typeof seedStore>[0]['keys']
    await seedStore({ url: service.url, keys }, () => undefined)
    requests = await departingRequests(service.url, ADMIN_KEY)
  })
  after(() => service.stop())

  // interface 2.33
  it('in the midst of a request, anywhere in it, leave nothing behind', async () => {
    for (const { bytes } of requests) {
      const count = bytes.length <= SHORT ? Math.ceil(bytes.length / STRIDE) : PLACES
      await all(count, (index) => ({
        bytes,
        sent: Math.floor((index * bytes.length) / count),
        read: 0,
        manner: MANNERS[index % MANNERS.length] ?? 'close',
      }))
    }
    await isWell()
  })

  // interface 2.33
  it('before their answer, or in the midst of it, leave nothing behind', async () => {
    for (const { bytes } of requests) {
      await all(4 * MANNERS.length, (index) => ({
        bytes,
        sent: bytes.length,
        read: [0, 0, 1, 300][index % 4] ?? 0,
        manner: MANNERS[index % MANNERS.length] ?? 'close',
      }))
    }
    await isWell()
  })

  it('do not count as requests while the evaluation that they began goes on', async () => {
    const hook = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(hook, 'listening')
    const { port } = hook.address() as AddressInfo // of TCP it is always this
    const data = { uri: 'svc:custom:hook:v0', url: `http://127.0.0.1:${port}` }
    await service.post('/simple/applications/', { application: { slug: 'silent', data } })
    const leaving = new AbortController()
    const called = once(hook, 'request')
    const order = {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'silent' },
      evaluator_refs: [{ slug: 'exact' }],
    }
    const asked = fetch(`${service.url}/evaluations/run`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
      signal: leaving.signal,
    }).catch(() => undefined)
    await called
    leaving.abort()
    await asked
    while ((await heldThings(service.url, ADMIN_KEY, service.storeDir)).some((it) => /in_flight/.test(it)))
      await pause(10)
    const running = await service.post('/evaluations/query', { evaluation: { state: 'running' } })
    expect(running.body.evaluations).to.have.length(1)
    await service.post(`/evaluations/${running.body.evaluations[0].id}/stop`)
    hook.closeAllConnections()
    hook.close()
    await nothingHeld(service.url, ADMIN_KEY, service.storeDir)
  })

  async function all(
    count: number,
    departureOf: (index: number) => Departure & { readonly bytes: Buffer },
  ): Promise<void> {
    let next = 0
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < count) {
          const { bytes, ...departure } = departureOf(next++)
          await depart(service.url, bytes, departure)
        }
      }),
    )
  }

  /** Nothing is held, and each kind of request is answered as if nobody had been there before. */
  async function isWell(): Promise<void> {
    await nothingHeld(service.url, ADMIN_KEY, service.storeDir)
    for (const { name, bytes } of requests) {
      const isAnswered = await depart(service.url, bytes, { sent: bytes.length, read: 1, manner: 'half' })
      expect(isAnswered, name).to.equal(true)
    }
    const large = { slug: `after-${Math.random()}`, data: { parameters: { text: 'x'.repeat(200_000) } } }
    expect((await service.post('/simple/applications/', { application: large })).status).to.equal(200)
    const cloned = await runGit(newFolder(), ['clone', '-q', remoteOf(service, 'flow')])
    expect(cloned).to.include({ code: 0 })
    await nothingHeld(service.url, ADMIN_KEY, service.storeDir)
  }
})
