import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { ChildServer } from '../../support/servers/child-server.ts'
import { KEY, startBranchpoint } from '../../support/servers/child-server.ts'
import type { Received, Receiver } from '../../support/servers/receiver.ts'
import { startReceiver } from '../../support/servers/receiver.ts'
import type { WebhookClient } from '../../support/clients/webhook-client.ts'
import { HOOK_ENV, startWebhooks } from '../../support/clients/webhook-client.ts'

// Tests look into answers freely.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Found = any

const versionOf = ({ body }: Received): number => body.data.references.workflow_revision.version

/** One store and its servers, which the tests kill one after the other. */
describe('webhooks: several processes, and some that are killed', () => {
  let storeDir: string
  let receiver: Receiver
  let one: ChildServer
  let two: ChildServer
  let variantId: string
  let webhookId: string
  const servers: ChildServer[] = []

  before(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-hooks-'))
    ;[receiver, one, two] = await Promise.all([startReceiver(), startServer(), startServer()])
    const data = { parameters: { n: 0 } }
    variantId = (await post(one, '/simple/workflows', { workflow: { slug: 'bot', data } })).workflow
      .variant_id
    const webhook = { url: receiver.url, events: ['revision.committed'] }
    webhookId = (await post(one, '/webhooks', { webhook })).webhook.id
    // This one is the first to be told, and the first server begins to tell when it makes the webhook.
    await commit(one)
    await receiver.waitFor(1)
  })
  after(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await receiver.stop()
    rmSync(storeDir, { recursive: true })
  })

  async function startServer(): Promise<ChildServer> {
    const env = { ...HOOK_ENV, WEBHOOK_RETRY_SECONDS: '0.2,0.2,0.2', LOG_LEVEL: 'info' }
    const server = await startBranchpoint(storeDir, env)
    servers.push(server)
    return server
  }

  async function post({ url }: ChildServer, path: string, body: object = {}): Promise<Found> {
    const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' }
    const reply = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return reply.status === 200 ? reply.json() : expect.fail(await reply.text())
  }

  /** Commits a revision and answers its version. */
  async function commit(at: ChildServer): Promise<number> {
    const fields = { workflow_variant_id: variantId, data: { parameters: { n: 1 } } }
    return (await post(at, '/workflows/revisions/commit', { workflow_revision: fields })).workflow_revision
      .version
  }

  const deliveries = async (at: ChildServer): Promise<Found[]> =>
    (await post(at, `/webhooks/${webhookId}/deliveries/query`)).deliveries
  const upTo = (version: number): number[] => Array.from({ length: version - 1 }, (_, index) => index + 2)
  const arrival = (version: number) => receiver.waitFor(1, (request) => versionOf(request) === version)

  it('what either of two servers writes is told once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => commit(index % 2 ? one : two)))
    await arrival(22)
    // What was sent and not noted yet when the next test kills it would be sent again.
    while ((await deliveries(two)).some(({ status }) => status === 'pending')) await pause(20)
    expect(receiver.received.map(versionOf)).to.deep.equal(upTo(22))
  })

  it('what a server answered right before it was killed is told by the other, without a reminder', async () => {
    const answered = await commit(one)
    await one.kill()
    await arrival(answered)
    const next = await commit(two)
    await arrival(next)
    expect((await deliveries(two)).map(({ event_id }) => event_id)).to.have.length(next - 1)
  })

  it('killed under load: every answered commit has one delivery, and arrives after the next start', async () => {
    const answered = new Set<number>()
    const commits = Array.from({ length: 60 }, () =>
      commit(two).then(
        (version) => void answered.add(version),
        () => undefined,
      ),
    )
    await Promise.race(commits)
    await two.kill()
    await Promise.all(commits)
    expect(answered.size).to.be.greaterThan(0)
    const three = await startServer()
    for (const version of answered) await arrival(version)
    const last = await commit(three)
    await arrival(last)
    const kept = (await deliveries(three)).map(
      ({ payload }) => payload.data.references.workflow_revision.version,
    )
    expect(kept).to.deep.equal(upTo(last))
  })
})

describe('webhooks: what is on the disk', () => {
  let client: WebhookClient
  beforeEach(async () => (client = await startWebhooks()))
  afterEach(() => client.stop())

  const told = () => join(client.service.storeDir, 'default/webhooks/told')

  it('an older note of what was told, or a torn one, gives the same events with the same ids: none twice', async () => {
    const { id } = await client.register()
    const older = readFileSync(told())
    const { variant_id } = await client.workflow('noted')
    await client.commit(variant_id)
    const before = await client.settled(id, 4)
    expect(before).to.have.length(4)
    await client.restart(() => writeFileSync(told(), older))
    await client.commit(variant_id)
    await client.receiver.waitFor(5)
    await client.restart(() => appendFileSync(told(), '{"path":"workflows/noted","id'))
    await client.commit(variant_id)
    await client.receiver.waitFor(6)
    const after = await client.settled(id, 6)
    expect(after.slice(0, 4)).to.deep.equal(before)
    expect(after).to.have.length(6)
    expect(new Set(after.map(({ event_id }) => event_id)).size).to.equal(6)
  })

  it('without a note of what was told, what happens from then on is told', async () => {
    const { id } = await client.register()
    const { variant_id } = await client.workflow('unnoted')
    await client.settled(id, 3)
    rmSync(told())
    await client.commit(variant_id)
    await client.receiver.waitFor(4)
    await client.restart(() => rmSync(told()))
    // Once it is there again, the server has begun to tell.
    while (!existsSync(told())) await pause(10)
    await client.commit(variant_id)
    await client.receiver.waitFor(5)
    expect((await client.settled(id, 5)).map(({ event_type }) => event_type)).to.deep.equal([
      'artifact.created',
      'variant.created',
      'revision.committed',
      'revision.committed',
      'revision.committed',
    ])
  })

  it('a repository brought from elsewhere is one event, not its history', async () => {
    const { variant_id } = await client.workflow('brought')
    await client.commit(variant_id)
    const away = mkdtempSync(join(tmpdir(), 'branchpoint-away-'))
    cpSync(client.service.repository('brought'), away, { recursive: true })
    rmSync(client.service.repository('brought'), { recursive: true })
    await client.restart()
    const { id } = await client.register()
    // As if it had been made long before what was told last.
    const later = readFileSync(told(), 'utf8').replaceAll(
      /"at":(\d+)/g,
      (_, at) => `"at":${Number(at) + 86_400_000}`,
    )
    await client.restart(() => {
      writeFileSync(told(), later)
      cpSync(away, client.service.repository('brought'), { recursive: true })
      rmSync(away, { recursive: true })
    })
    await client.receiver.waitFor(1)
    await client.commit(variant_id)
    await client.receiver.waitFor(2)
    const deliveries = await client.settled(id, 2)
    expect(deliveries.map(({ event_type }) => event_type)).to.deep.equal([
      'artifact.created',
      'revision.committed',
    ])
    expect(deliveries[1].payload.data.references.workflow_revision.version).to.equal(3)
  })

  it('rewritten history tells what is new of it', async () => {
    const { variant_id } = await client.workflow('rewritten')
    const second = await client.commit(variant_id, { message: 'second' })
    await client.register({ events: ['revision.committed'] })
    await client.restart(() => {
      // Somebody takes the last commit away; the one after it has its version.
      const repository = client.service.repository('rewritten')
      rmSync(join(repository, 'refs/heads/rewritten'), { force: true })
      const packed = readFileSync(join(repository, 'packed-refs'), 'utf8')
      expect(packed).to.contain('refs/heads/rewritten')
    })
    await client.commit(variant_id, { message: 'another second' })
    const [request] = await client.receiver.waitFor(1)
    expect(request?.body.data.message).to.equal('another second')
    expect(request?.body.data.references.workflow_revision.version).to.equal(second.version)
  })
})
