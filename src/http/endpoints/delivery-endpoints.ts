import type { ResultAddress } from '../../access/keys.ts'
import type { Registry } from '../../registry/registries.ts'
import {
  type Delivery,
  findDelivery,
  redeliver,
  testWebhook,
  type ProjectWebhooks,
} from '../../feeds/webhooks.ts'
import { presentDelivery } from '../revisions/webhook.ts'
import { type EndpointResponse, type Call, type Endpoint, endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { envelope } from '../schemas/spellings.ts'
import { queryFilters } from '../schemas/queries/query-parameters.ts'
import { list, single } from '../schemas/record-schemas.ts'
import { windowing } from '../schemas/request-schemas.ts'
import { deliveryFilter, deliveryRecord } from '../schemas/webhook.ts'

/** The deliveries of a webhook's events. */
export function deliveryEndpoints(webhooksOf: (registry: Registry) => ProjectWebhooks): Endpoint[] {
  const tag = 'webhooks'
  const output = single('delivery', deliveryRecord)
  const answer = (delivery: Delivery): EndpointResponse => ({
    body: { count: 1, delivery: presentDelivery(delivery) },
    address: { id: delivery.id },
  })
  const recall = ({ registry }: Call<unknown>, { id }: ResultAddress): Promise<EndpointResponse> =>
    Promise.resolve(answer(findDelivery(webhooksOf(registry), id)))

  return [
    endpoint({
      method: 'POST',
      path: '/webhooks/:id/deliveries/query',
      tag,
      summary: 'What the webhook was sent, with every attempt: what waits, arrived or failed',
      scope: 'read',
      optionalBody: true,
      input: envelope({
        filter: { names: ['delivery'], schema: deliveryFilter },
        windowing: { names: ['windowing'], schema: windowing },
      }),
      fromQuery: queryFilters(['delivery'], []),
      output: list('deliveries', deliveryRecord),
      example: { delivery: { status: 'failed' }, windowing: { limit: 20 } },
      run: async ({ registry, params, input }) => {
        const { shelf } = webhooksOf(registry)
        const { status, event_type: type, event_id: eventId } = input.filter ?? {}
        const window = await shelf
          .deliveries(shelf.get(params['id'] ?? '').id)
          .query(
            input.windowing,
            (delivery) =>
              (status === undefined || delivery.status === status) &&
              (type === undefined || delivery.event_type === type) &&
              (eventId === undefined || delivery.event_id === eventId),
          )
        return respondWithList('deliveries', window, input.windowing, window.rows.map(presentDelivery))
      },
    }),
    endpoint({
      method: 'GET',
      path: '/webhooks/deliveries/:id',
      tag,
      summary: 'The delivery of this id',
      scope: 'read',
      output,
      run: ({ registry, params }) => answer(findDelivery(webhooksOf(registry), params['id'] ?? '')),
    }),
    endpoint({
      method: 'POST',
      path: '/webhooks/deliveries/:id/redeliver',
      tag,
      summary: 'Have the same event delivered again',
      scope: 'admin',
      output,
      run: async ({ registry, params, context }) =>
        answer(await redeliver(webhooksOf(registry), params['id'] ?? '', context)),
      recall,
    }),
    endpoint({
      method: 'POST',
      path: '/webhooks/:id/test',
      tag,
      summary: 'Send the webhook an event of the type webhook.test, once, and see what it answers',
      scope: 'admin',
      output,
      run: async ({ registry, params }) =>
        answer(await testWebhook(webhooksOf(registry), params['id'] ?? '')),
      recall,
    }),
  ]
}
