import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { RunningService, ServiceOptions } from '../servers/service.ts'
import { startService } from '../servers/service.ts'
import type { Received, Receiver } from '../servers/receiver.ts'
import { startReceiver } from '../servers/receiver.ts'

// Tests look into records freely; the harness has held each against its schema.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Found = any

/** A service whose webhooks may call this machine, with short pauses between attempts. */
export const HOOK_ENV = {
  WEBHOOK_ALLOW_PRIVATE: 'true',
  // So long that no busy machine makes an answer late.
  WEBHOOK_TIMEOUT_MS: '20000',
  WEBHOOK_RETRY_SECONDS: '0.05,0.1,0.1',
}

/** A service, a receiver, and what tests of webhooks do all the time; every method expects a 200. */
export interface WebhookClient {
  readonly service: RunningService
  readonly receiver: Receiver
  /** Registers the receiver; answers the record with its secret. */
  register(fields?: object): Promise<Found>
  post(path: string, body?: object): Promise<Found>
  /** A workflow with one revision, as a flat record. */
  workflow(slug: string): Promise<Found>
  commit(variantId: string, fields?: object): Promise<Found>
  deploy(slug: string, version: number, environment?: string): Promise<Found>
  /** The deliveries of a webhook, oldest first, once there are so many and all of them are over. */
  settled(webhookId: string, count: number): Promise<Found[]>
  /** Waits until one of them that is not over has been tried. */
  attempted(webhookId: string): Promise<void>
  /** Waits for an event about this artifact that was written last, so that what came before has come, too. */
  types(until: (request: Received) => boolean): Promise<string[]>
  restart(meanwhile?: () => Promise<void> | void): Promise<void>
  stop(): Promise<void>
}

/** Starts both for a `describe`. */
export async function startWebhooks(options: ServiceOptions = {}): Promise<WebhookClient> {
  const whole = { ...options, env: { ...HOOK_ENV, ...options.env } }
  let service = await startService(whole)
  const receiver = await startReceiver()
  const post: WebhookClient['post'] = async (path, body) => {
    const reply = await service.post(path, body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const deliveriesOf = async (webhookId: string): Promise<Found[]> =>
    (await post(`/webhooks/${webhookId}/deliveries/query`)).deliveries
  const workflow: WebhookClient['workflow'] = async (slug) =>
    (await post('/simple/workflows', { workflow: { slug, data: { parameters: { n: 1 } } } })).workflow
  return {
    get service() {
      return service
    },
    receiver,
    register: async (fields = {}) =>
      (await post('/webhooks', { webhook: { url: receiver.url, ...fields } })).webhook,
    post,
    workflow,
    commit: async (variantId, fields = {}) => {
      const sent = { workflow_variant_id: variantId, data: { parameters: { n: 2 } }, ...fields }
      return (await post('/workflows/revisions/commit', { workflow_revision: sent })).workflow_revision
    },
    deploy: async (slug, version, environment = 'staging') =>
      post('/workflows/revisions/deploy', {
        workflow_revision_ref: { slug, version },
        environment_ref: { slug: environment },
      }),
    settled: async (webhookId, count) => {
      for (;;) {
        const deliveries = await deliveriesOf(webhookId)
        if (deliveries.length >= count && deliveries.every(({ status }) => status !== 'pending'))
          return deliveries
        await pause(20)
      }
    },
    attempted: async (webhookId) => {
      const isTried = ({ status, attempts }: Found) => status === 'pending' && attempts.length > 0
      while (!(await deliveriesOf(webhookId)).some(isTried)) await pause(20)
    },
    types: async (until) => {
      await receiver.waitFor(1, until)
      return receiver.received.map(({ body }) => body.type)
    },
    restart: async (meanwhile = () => undefined) => {
      await service.stop({ keepStore: true })
      await meanwhile()
      service = await startService({ ...whole, storeDir: service.storeDir })
    },
    stop: async () => {
      await service.stop()
      await receiver.stop()
    },
  }
}
