import { createHmac, timingSafeEqual } from 'node:crypto'
import { expect } from 'chai'
import type { Received } from '../../support/servers/receiver.ts'
import { startReceiver } from '../../support/servers/receiver.ts'
import type { WebhookClient } from '../../support/clients/webhook-client.ts'
import { startWebhooks } from '../../support/clients/webhook-client.ts'

/** No port of this number is given to anybody who asks for a free one. */
const NOBODY = 'http://127.0.0.1:1/hook'

/** Verifies as the specification says a receiver does, throwing what is wrong. */
function verify(secret: string, { headers, text }: Received): void {
  const id = String(headers['webhook-id'])
  const timestamp = String(headers['webhook-timestamp'])
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300)
    throw new Error('the timestamp is too old or too new')
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest()
  const isSigned = String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => signature.split(','))
    .some(([version, value = '']) => {
      const bytes = Buffer.from(value, 'base64')
      return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected)
    })
  if (!isSigned) throw new Error('no signature fits')
}

describe('webhooks: deliveries', () => {
  let client: WebhookClient
  beforeEach(async () => (client = await startWebhooks()))
  afterEach(() => client.stop())

  it('are signed as Standard Webhooks says, with the old secret as well for a while after it was rotated', async () => {
    const { id, secret } = await client.register()
    expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).to.have.length(32)
    await client.post(`/webhooks/${id}/test`)
    const [first] = client.receiver.received as [Received]
    verify(secret, first)
    expect(first.headers['content-type']).to.equal('application/json')
    expect(first.body).to.include({ type: 'webhook.test' })
    expect(() => verify(secret, { ...first, text: `${first.text} ` })).to.throw('no signature')
    const rotated = (await client.post(`/webhooks/${id}/rotate`)).webhook.secret
    expect(rotated).to.not.equal(secret)
    await client.post(`/webhooks/${id}/test`)
    const second = client.receiver.received[1] as Received
    verify(secret, second)
    verify(rotated, second)
    expect(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, second)).to.throw('no signature')
  })

  it('that fail are tried again later: 500, a redirect; every attempt is listed', async () => {
    const { id } = await client.register({ events: ['artifact.created'] })
    const elsewhere = await startReceiver()
    client.receiver.answerNext(
      (response) => response.writeHead(500).end('out of order '.repeat(1000)),
      (response) => response.writeHead(302, { location: elsewhere.url }).end(),
    )
    await client.workflow('retried')
    const [delivery] = await client.settled(id, 1)
    expect(delivery).to.include({ status: 'delivered', event_type: 'artifact.created', webhook_id: id })
    expect(delivery).to.not.have.property('next_attempt_at')
    const attempts = delivery.attempts as { status_code?: number; error?: string }[]
    expect(attempts.map(({ status_code }) => status_code)).to.deep.equal([500, 302, 204])
    expect(attempts[0]?.error).to.match(/^The receiver answered 500: out of order/)
    expect(attempts[0]?.error?.length).to.be.lessThan(600)
    expect(attempts[2]).to.not.have.property('error')
    const sent = client.receiver.received
    expect(new Set(sent.map(({ headers }) => headers['webhook-id']))).to.deep.equal(
      new Set([delivery.event_id]),
    )
    expect(new Set(sent.map(({ text }) => text)).size).to.equal(1)
    expect(sent[0]?.body).to.deep.equal(delivery.payload)
    expect(elsewhere.received).to.have.length(0)
    await elsewhere.stop()
  })

  it('without an answer in time have failed, and are tried again as well', async () => {
    const hasty = await startWebhooks({ env: { WEBHOOK_TIMEOUT_MS: '300' } })
    const { id } = await hasty.register({ events: ['artifact.created'] })
    hasty.receiver.answerAll('silence')
    await hasty.workflow('unanswered')
    const [delivery] = await hasty.settled(id, 1)
    expect(delivery).to.include({ status: 'failed' })
    const errors = delivery.attempts.map(({ error }: { error: string }) => error)
    expect(errors).to.deep.equal(Array(4).fill('There was no answer within 300 ms.'))
    await hasty.stop()
  })

  it('to nobody who listens fail in the end, stay listed, and can be asked for again', async () => {
    const { id } = await client.register({ url: NOBODY, events: ['artifact.created'] })
    await client.workflow('refused')
    const [failed] = await client.settled(id, 1)
    expect(failed).to.include({ status: 'failed' })
    expect(failed.attempts).to.have.length(4)
    expect(failed.attempts[0].error).to.contain('ECONNREFUSED')
    await client.service.put(`/webhooks/${id}`, { webhook: { url: client.receiver.url } })
    const { delivery } = await client.post(`/webhooks/deliveries/${failed.id}/redeliver`)
    expect(delivery).to.include({ status: 'pending', redelivery_of: failed.id, event_id: failed.event_id })
    const [request] = await client.receiver.waitFor(1)
    expect(request?.headers['webhook-id']).to.equal(failed.event_id)
    const [, again] = await client.settled(id, 2)
    expect([again.id, again.status]).to.deep.equal([delivery.id, 'delivered'])
    expect((await client.service.get(`/webhooks/deliveries/${failed.id}`)).body.delivery.status).to.equal(
      'failed',
    )
  })

  it('that one event fails holds up no other, and others keep their order', async () => {
    const { id } = await client.register({ events: ['revision.committed'] })
    const { variant_id } = await client.workflow('poisoned')
    const versionOf = ({ body }: Received) => body.data.references.workflow_revision.version
    client.receiver.answerAll((response, request) =>
      response.writeHead(versionOf(request) === 2 ? 500 : 200).end(),
    )
    for (let n = 0; n < 6; n++) await client.commit(variant_id)
    const deliveries = await client.settled(id, 7)
    expect(deliveries.map(({ status }) => status)).to.deep.equal(
      [1, 2, 3, 4, 5, 6, 7].map((version) => (version === 2 ? 'failed' : 'delivered')),
    )
    const others = client.receiver.received.map(versionOf).filter((version) => version !== 2)
    expect(others).to.deep.equal([1, 3, 4, 5, 6, 7])
  })

  it('a receiver that answers 410 is not asked again, and the record says why', async () => {
    const { id } = await client.register({ events: ['artifact.created'] })
    client.receiver.answerAll(410)
    await client.workflow('unwanted')
    const [failed] = await client.settled(id, 1)
    expect(failed.attempts).to.have.length(1)
    const { webhook } = (await client.service.get(`/webhooks/${id}`)).body
    expect(webhook.is_active).to.equal(false)
    expect(webhook.inactive_reason).to.contain('410')
    const refused = await client.service.post(`/webhooks/deliveries/${failed.id}/redeliver`)
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'archived'])
    const again = await client.service.put(`/webhooks/${id}`, { webhook: { is_active: true } })
    expect(again.body.webhook).to.include({ is_active: true }).and.not.have.property('inactive_reason')
  })

  it('wait for a server that is stopped, and what happened meanwhile is told by the next one', async () => {
    // The next attempt is far enough off for a stop to come before it.
    const patient = await startWebhooks({ env: { WEBHOOK_RETRY_SECONDS: '2,2,2' } })
    const { id } = await patient.register({ events: ['artifact.created', 'revision.committed'] })
    const { variant_id } = await patient.workflow('paused')
    await patient.settled(id, 2)
    patient.receiver.answerAll(500)
    await patient.commit(variant_id)
    // An attempt that the stop itself ends would not count.
    await patient.attempted(id)
    await patient.restart(() => patient.receiver.answerAll(204))
    const deliveries = await patient.settled(id, 3)
    expect(deliveries.map(({ status }) => status)).to.deep.equal(['delivered', 'delivered', 'delivered'])
    expect(deliveries[2].attempts.length).to.be.greaterThan(1)
    await patient.stop()
  })

  it('are paged and filtered', async () => {
    const { id } = await client.register({ events: ['artifact.created', 'variant.created'] })
    for (const slug of ['a', 'b', 'c']) await client.workflow(slug)
    const all = await client.settled(id, 6)
    const path = `/webhooks/${id}/deliveries/query`
    const first = await client.post(path, { windowing: { limit: 4, order: 'ascending' } })
    expect(first.deliveries).to.deep.equal(all.slice(0, 4))
    const rest = await client.post(path, { windowing: { order: 'ascending', next: first.windowing.next } })
    expect(rest.deliveries).to.deep.equal(all.slice(4))
    expect(rest).to.not.have.property('windowing')
    const newest = await client.post(path, { windowing: { limit: 1 } })
    expect(newest.deliveries[0]).to.deep.equal(all.at(-1))
    const created = await client.post(path, {
      delivery: { event_type: 'artifact.created', status: 'delivered' },
    })
    expect(created.count).to.equal(3)
    expect((await client.post(path, { delivery: { status: 'failed' } })).count).to.equal(0)
  })
})
