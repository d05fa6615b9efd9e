import { z } from 'zod'
import type { ResultAddress } from '../../access/keys.ts'
import { type ArchiveAction, holdsText } from '../../registry/artifacts.ts'
import { cutWindow, type Registry } from '../../registry/registries.ts'
import {
  archiveWebhook,
  createWebhook,
  editWebhook,
  rotateSecret,
  type ProjectWebhooks,
  type Webhook,
} from '../../feeds/webhooks.ts'
import { presentWebhook } from '../revisions/webhook.ts'
import {
  type EndpointResponse,
  type Call,
  type Endpoint,
  assertSameId,
  endpoint,
} from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { apart, assertComesBack } from '../schemas/coming-back.ts'
import { envelope } from '../schemas/spellings.ts'
import { queryFilters } from '../schemas/queries/query-parameters.ts'
import { OF_WEBHOOKS } from '../schemas/unused-fields.ts'
import { list, single } from '../schemas/record-schemas.ts'
import { windowing } from '../schemas/request-schemas.ts'
import { newWebhook, webhookEdit, webhookFilter, webhookRecord } from '../schemas/webhook.ts'

/**
 * The webhooks of a project, which receive its events. Any key that may read sees them; an admin key changes
 * them.
 */
export function webhookEndpoints(webhooksOf: (registry: Registry) => ProjectWebhooks): Endpoint[] {
  const tag = 'webhooks'
  const output = single('webhook', webhookRecord)
  const answer = (webhook: Webhook, withSecret = false): EndpointResponse => ({
    body: { count: 1, webhook: presentWebhook(webhook, { withSecret }) },
    address: { id: webhook.id },
  })
  // Answers are rebuilt from ids, so only the first answer contains a secret.
  const recall = ({ registry }: Call<unknown>, { id }: ResultAddress): Promise<EndpointResponse> =>
    Promise.resolve(answer(webhooksOf(registry).shelf.get(id)))

  const archiving = (action: ArchiveAction): Endpoint =>
    endpoint({
      method: 'POST',
      path: `/webhooks/:id/${action}`,
      tag,
      summary:
        action === 'archive' ? 'Archive the webhook, which ends its deliveries' : 'Bring the webhook back',
      scope: 'admin',
      output,
      run: async ({ registry, params, context }) =>
        answer(await archiveWebhook(webhooksOf(registry), params['id'] ?? '', action, context)),
      recall,
    })

  return [
    endpoint({
      method: 'POST',
      path: '/webhooks',
      tag,
      summary: 'Have events sent to a URL; the answer shows the secret they are signed with, once',
      scope: 'admin',
      input: envelope({ webhook: { names: ['webhook'], schema: newWebhook, required: true } }),
      output,
      example: {
        webhook: {
          url: 'https://hooks.example.org/branchpoint',
          name: 'Deployments to production',
          events: ['environment.deployed', 'environment.undeployed'],
          filters: { environments: [{ slug: 'production' }] },
        },
      },
      run: async ({ registry, input, context }) =>
        answer(await createWebhook(webhooksOf(registry), input.webhook, context), true),
      recall,
    }),
    endpoint({
      method: 'POST',
      path: '/webhooks/query',
      tag,
      summary: 'List webhooks by filters',
      scope: 'read',
      optionalBody: true,
      input: envelope({
        filter: { names: ['webhook'], schema: webhookFilter },
        includeArchived: { names: ['include_archived'], schema: z.boolean() },
        windowing: { names: ['windowing'], schema: windowing },
      }),
      fromQuery: queryFilters(['webhook'], []),
      output: list('webhooks', webhookRecord),
      example: { webhook: { is_active: true }, windowing: { limit: 20 } },
      run: async ({ registry, input }) => {
        const { filter = {}, windowing: asked } = input
        const all = webhooksOf(registry).shelf.list()
        const rows = all.map((value) => ({ id: value.id, createdAt: value.created_at, value }))
        const window = await cutWindow(
          rows,
          asked,
          (webhook) =>
            (input.includeArchived || webhook.deleted_at === undefined) &&
            (filter.is_active === undefined || webhook.is_active === filter.is_active) &&
            holdsText(webhook.name, filter.name) &&
            holdsText(webhook.description, filter.description),
        )
        const records = window.rows.map((webhook) => presentWebhook(webhook, { withSecret: false }))
        return respondWithList('webhooks', window, asked, records)
      },
    }),
    endpoint({
      method: 'GET',
      path: '/webhooks/:id',
      tag,
      summary: 'The webhook of this id, archived or not',
      scope: 'read',
      output,
      run: ({ registry, params }) => answer(webhooksOf(registry).shelf.get(params['id'] ?? '')),
    }),
    endpoint({
      method: 'PUT',
      path: '/webhooks/:id',
      tag,
      summary: 'Edit a webhook; a field left out keeps its value, null clears it',
      scope: 'admin',
      keepNulls: true,
      input: envelope({ webhook: { names: ['webhook'], schema: webhookEdit, required: true } }),
      output,
      example: { webhook: { is_active: true, events: null } },
      run: async ({ registry, params, input, context }) => {
        const { id, ...sent } = input.webhook
        assertSameId(params['id'] ?? '', id)
        const { rest: edit, fixed } = apart(sent, OF_WEBHOOKS.fixed)
        const now = presentWebhook(webhooksOf(registry).shelf.get(params['id'] ?? ''), { withSecret: false })
        assertComesBack(fixed, { ...now }, { loc: ['body', 'webhook'], isExisting: false })
        return answer(await editWebhook(webhooksOf(registry), params['id'] ?? '', edit, context))
      },
    }),
    endpoint({
      method: 'POST',
      path: '/webhooks/:id/rotate',
      tag,
      summary: 'Give the webhook a new secret, shown once; the one before signs as well for 24 hours',
      scope: 'admin',
      output,
      run: async ({ registry, params, context }) =>
        answer(await rotateSecret(webhooksOf(registry), params['id'] ?? '', context), true),
      recall,
    }),
    archiving('archive'),
    archiving('unarchive'),
  ]
}
