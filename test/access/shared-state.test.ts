import { expect } from 'chai'
import { createApiKey, createFirstApiKey, listApiKeys, revokeApiKey } from '../../src/access/keys/api-keys.ts'
import { callerWith } from '../../src/access/keys/caller.ts'
import { openKeyRing } from '../../src/access/keys/authenticator.ts'
import { Intents } from '../../src/access/keys/intents.ts'
import { Sessions } from '../../src/access/keys/sessions.ts'
import { Refusal } from '../../src/errors.ts'
import { openSecrets } from '../../src/access/secrets/open-secrets.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { DeliveryStore } from '../../src/feeds/webhooks/deliveries/delivery-store.ts'
import { WebhookStore } from '../../src/feeds/webhooks/webhook-store.ts'
import { memoryShare } from '../support/postgres/memory-table.ts'
import { FOLDER, sharingServer, type SharingServer } from '../storage/documents/shared-store.ts'

describe('two servers with folders of their own, over one table', () => {
  let servers: readonly SharingServer[]
  beforeEach(async () => {
    const { server } = memoryShare()
    servers = [await sharingServer({ feed: server() }), await sharingServer({ feed: server() })]
  })
  const onBoth = <T>(work: (fs: Fs, number: number) => Promise<T>): Promise<T[]> =>
    Promise.all(servers.map(({ storeFs }, number) => work(storeFs, number)))
  /** A request comes to each. */
  const look = (): Promise<unknown> => Promise.all(servers.map(({ fresh }) => fresh()))
  const fail = (error: unknown): never => {
    throw error
  }

  it('keys that both make at once are all there, and one that is revoked is refused by both', async () => {
    const made = await onBoth((fs, number) =>
      Promise.all(
        [1, 2, 3].map((it) =>
          createApiKey(fs, FOLDER, { project: 'default', name: `key ${number} ${it}`, scopes: ['read'] }),
        ),
      ),
    )
    await look()
    const rings = servers.map(({ storeFs }) => openKeyRing({ fs: storeFs, storeDir: FOLDER, onDamage: fail }))
    for (const { token, key } of made.flat())
      for (const ring of rings) expect(ring.callerOf(token)?.key.id).to.equal(key.id)
    const [one] = servers
    const gone = made[1]?.[0]
    await revokeApiKey(one?.storeFs ?? fail('none'), FOLDER, 'default', { id: gone?.key.id ?? '' })
    await look()
    await new Promise((resolve) => setImmediate(resolve))
    for (const ring of rings) expect(ring.callerOf(gone?.token ?? '')).to.equal(undefined)
  })

  it('the first key is made once', async () => {
    const made = await onBoth((fs) => createFirstApiKey(fs, FOLDER))
    expect(made.filter(Boolean)).to.have.length(1)
    await look()
    for (const { storeFs } of servers) expect(listApiKeys(storeFs, FOLDER, 'default')).to.have.length(1)
  })

  it('who signs in at one is signed in at both, and a link signs in once', async () => {
    const [{ storeFs }] = servers as [SharingServer]
    const { key } = await createApiKey(storeFs, FOLDER, { project: 'default', name: 'me', scopes: ['read'] })
    await look()
    const sessions = servers.map(({ storeFs: fs }) => {
      const keys = openKeyRing({ fs, storeDir: FOLDER, onDamage: fail })
      return new Sessions({ fs, storeDir: FOLDER, keys, now: () => new Date(), onDamage: fail })
    })
    const [here, there] = sessions as [Sessions, Sessions]
    const { token: link } = await here.makeLink(callerWith('default', key))
    await look()
    const used = await Promise.allSettled(sessions.map((it) => it.useLink(link)))
    expect(used.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
    const { token } = await there.begin(callerWith('default', key))
    await look()
    expect(here.find(token)?.caller.key.id).to.equal(key.id)
    await here.end(token)
    await look()
    expect([here.find(token), there.find(token)]).to.deep.equal([undefined, undefined])
  })

  it('secrets that both set at once are kept with one key, and for no other user’s eyes', async () => {
    const names = await onBoth(async (fs, number) => {
      await openSecrets(fs, FOLDER, undefined).of('default').set(`SECRET_${number}`, `value ${number}`)
      return `SECRET_${number}`
    })
    await look()
    for (const { storeFs } of servers)
      for (const [number, name] of names.entries())
        expect(await openSecrets(storeFs, FOLDER, undefined).of('default').get(name)).to.equal(
          `value ${number}`,
        )
  })

  it('a request with an Idempotency-Key is carried out once, whichever of them it comes to', async () => {
    const intents = servers.map(({ storeFs }) => new Intents(storeFs, FOLDER, () => new Date()))
    let runs = 0
    const send = (to: Intents): Promise<string> =>
      to.once(
        { project: 'default', credential: 'c', key: 'k', asks: ['POST'] },
        {
          run: async () => ({ answer: String(++runs), address: { id: String(runs) } }),
          recall: async ({ id }) => `${id} again`,
          isRefusal: (error) => error instanceof Refusal,
        },
      )
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, at) => send(intents[at % 2] ?? fail('none'))),
    )
    expect(sent.sort()).to.deep.equal(['1', ...Array<string>(9).fill('1 again')])
  })

  it('a webhook that both edit has both edits, and a delivery that one adds is there for the other', async () => {
    const id = '0190b3a0-0000-7000-8000-000000000001'
    const shelves = servers.map(({ storeFs }) => new WebhookStore(storeFs, `${FOLDER}/default/webhooks`))
    const [here, there] = shelves as [WebhookStore, WebhookStore]
    const at = '2026-01-01T00:00:00.000Z'
    const made = { id, url: 'https://example.com/', events: [], filters: {}, is_active: true }
    await here.add({ ...made, secret: 'whsec_', created_at: at, created_by_id: 'key:1' })
    await look()
    await Promise.all([
      here.change(id, (before) => ({ ...before, name: 'named' })),
      there.change(id, (before) => ({ ...before, description: 'described' })),
    ])
    await look()
    for (const shelf of shelves) expect(shelf.get(id)).to.include({ name: 'named', description: 'described' })
    const box = there.deliveries(id)
    const delivery = box.make({ event_id: id, event_type: 'artifact.created', body: '{}' }, new Date(at))
    await box.add(delivery)
    await look()
    const [{ storeFs }] = servers as [SharingServer]
    const other = new DeliveryStore(storeFs, `${FOLDER}/default/webhooks/${id}`, id)
    expect([other.hasMoved(), other.read(delivery.id)]).to.deep.equal([true, delivery])
  })
})
