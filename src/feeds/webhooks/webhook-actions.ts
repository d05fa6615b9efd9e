import { v4 as uuidv4, v7 as uuidv7 } from 'uuid'
import { invalid, Refusal } from '../../errors.ts'
import { outgoingUrlProblem } from '../outgoing/outgoing-url-problem.ts'
import type { ArchiveAction } from '../../registry/artifacts.ts'
import type { WriteContext } from '../../registry/registries.ts'
import { afterAttempt, attemptDelivery, newSecret } from './deliveries/attempt-delivery.ts'
import type { Delivery } from './deliveries/delivery-store.ts'
import { isSending, TEST_EVENT, type Webhook } from './webhook.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import { beginCursorLog } from './cursor-log.ts'

/** Maximum webhooks: each is checked for every event. */
const MAX_WEBHOOKS = 100
/** The same with archived ones. */
const MAX_WEBHOOKS_EVER = 1000

/** The content of a create request. */
export type NewWebhook = Pick<Webhook, 'url'> &
  Partial<Pick<Webhook, 'name' | 'description' | 'events' | 'filters' | 'is_active'>>

/**
 * Creates a webhook, which gets all events after this resolves. Refuses a URL that may not be called, an unknown family, and too many
 * webhooks.
 */
export async function createWebhook(
  project: ProjectWebhooks,
  { url, name, description, events = [], filters = {}, is_active: isActive = true }: NewWebhook,
  { actor, artifactId, attemptedAt }: WriteContext,
): Promise<Webhook> {
  const { documents, folder, shelf, settings } = project
  const earlier = artifactId !== undefined && attemptedAt ? shelf.find(artifactId) : undefined
  if (earlier) return earlier
  validateWebhook(project, { url, filters })
  const created = await documents.lease(`${folder}/webhooks`, async (lease) => {
    assertRoom(project)
    await beginCursorLog(project, lease)
    return shelf.add({
      id: artifactId ?? uuidv7(),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      url,
      events,
      filters,
      is_active: isActive,
      secret: newSecret(),
      created_at: settings.now().toISOString(),
      created_by_id: actor.id,
    })
  })
  project.begin()
  return created
}

function assertRoom({ shelf }: ProjectWebhooks): void {
  const all = shelf.list()
  const count = all.filter(({ deleted_at: deletedAt }) => deletedAt === undefined).length
  if (count < MAX_WEBHOOKS && all.length < MAX_WEBHOOKS_EVER) return
  throw new Refusal(
    'limit_exceeded',
    count < MAX_WEBHOOKS
      ? `The project has ${all.length} webhooks, archived ones included, the most there may be. Unarchive one and edit it.`
      : `The project has ${MAX_WEBHOOKS} webhooks already. Archive one that is not needed.`,
  )
}

type Editable = Pick<Webhook, 'name' | 'description' | 'url' | 'events' | 'filters' | 'is_active'>

/** The content of a PUT: an absent field keeps its value, null clears it (interface 4.23). */
export type WebhookEdit = { readonly [K in keyof Editable]?: Editable[K] | null | undefined }

/** Edits a webhook. Enabling it clears the reason why the service disabled it; waiting deliveries continue. */
export function editWebhook(
  project: ProjectWebhooks,
  id: string,
  { name, description, url, events, filters, is_active: isActive }: WebhookEdit,
  { actor }: WriteContext,
): Promise<Webhook> {
  return project.shelf.change(id, (before) => {
    const after = {
      ...before,
      name: edited(before.name, name),
      description: edited(before.description, description),
      url: url ?? before.url,
      events: edited(before.events, events) ?? [],
      filters: edited(before.filters, filters) ?? {},
      is_active: isActive ?? before.is_active,
      inactive_reason: isActive ? undefined : before.inactive_reason,
      updated_at: project.settings.now().toISOString(),
      updated_by_id: actor.id,
    }
    validateWebhook(project, after)
    return after
  })
}

function edited<T>(before: T | undefined, edit: T | null | undefined): T | undefined {
  return edit === undefined ? before : (edit ?? undefined)
}

/** Archives a webhook, which ends its deliveries, or restores it; repeating either changes nothing. */
export function archiveWebhook(
  { shelf, settings }: ProjectWebhooks,
  id: string,
  action: ArchiveAction,
  { actor }: WriteContext,
): Promise<Webhook> {
  return shelf.change(id, (before) => {
    if ((before.deleted_at !== undefined) === (action === 'archive')) return before
    const at = settings.now().toISOString()
    const { deleted_at: _at, deleted_by_id: _by, ...rest } = before
    const updated = { ...rest, updated_at: at, updated_by_id: actor.id }
    return action === 'archive' ? { ...updated, deleted_at: at, deleted_by_id: actor.id } : updated
  })
}

/** For a day, messages are also signed with the previous secret, so that the receiver can switch. */
const OVERLAP_MS = 24 * 60 * 60 * 1000

/** Replaces the secret of a webhook. */
export function rotateSecret(
  { shelf, settings }: ProjectWebhooks,
  id: string,
  { actor }: WriteContext,
): Promise<Webhook> {
  const now = settings.now()
  return shelf.change(id, (before) => ({
    ...before,
    secret: newSecret(),
    previous_secret: { secret: before.secret, until: new Date(now.getTime() + OVERLAP_MS).toISOString() },
    updated_at: now.toISOString(),
    updated_by_id: actor.id,
  }))
}

/** Refuses a URL that may not be called, and unknown families. */
export function validateWebhook(
  { registry, settings }: ProjectWebhooks,
  { url, filters }: Pick<Webhook, 'url' | 'filters'>,
): void {
  const problem = outgoingUrlProblem(url, settings.policy)
  if (problem !== undefined)
    throw invalid(['body', 'webhook', 'url'], `${JSON.stringify(url)} ${problem}.`, 'invalid_url')
  const known = registry.families.map(({ folder }) => folder)
  const unknown = filters.families?.find((it) => !known.includes(it))
  if (unknown === undefined) return
  const sentence = `${JSON.stringify(unknown)} is no family: use some of ${known.join(', ')}.`
  throw invalid(['body', 'webhook', 'filters', 'families'], sentence, 'invalid_family')
}

/** Sends a webhook one event of the type `webhook.test`, and answers the result. */
export async function testWebhook({ shelf, settings }: ProjectWebhooks, id: string): Promise<Delivery> {
  const webhook = shelf.get(id)
  const box = shelf.deliveries(id)
  box.assertRoom()
  const timestamp = settings.now().toISOString()
  const body = JSON.stringify({ type: TEST_EVENT, timestamp, data: { webhook_id: id } })
  const made = box.make({ event_id: uuidv4(), event_type: TEST_EVENT, body }, settings.now())
  const attempt = await attemptDelivery(webhook, made, settings)
  const tested = afterAttempt(made, attempt, { ...settings, retrySeconds: [] })
  await box.add(tested)
  return tested
}

/**
 * Delivers an event again: a new delivery of the same message with its own attempts, which the sending process starts within a second.
 * Refuses while the webhook is archived or disabled.
 */
export async function redeliver(
  project: ProjectWebhooks,
  id: string,
  { artifactId, attemptedAt }: WriteContext,
): Promise<Delivery> {
  const { shelf, settings } = project
  const { webhook_id: webhookId, event_id, event_type, body } = findDelivery(project, id)
  const box = shelf.deliveries(webhookId)
  const earlier = artifactId !== undefined && attemptedAt ? box.read(artifactId) : undefined
  if (earlier) return earlier
  if (!isSending(shelf.get(webhookId))) {
    throw new Refusal(
      'archived',
      `The webhook ${webhookId} is archived or switched off. Unarchive it, or PUT is_active: true, and try again.`,
    )
  }
  box.assertRoom()
  const again = box.make({ event_id, event_type, body, redelivery_of: id }, settings.now(), artifactId)
  await box.add(again)
  return again
}

/** The delivery with this id, of any webhook. */
export function findDelivery({ shelf }: ProjectWebhooks, id: string): Delivery {
  for (const webhook of shelf.list()) {
    const found = shelf.deliveries(webhook.id).read(id)
    if (found) return found
  }
  throw new Refusal(
    'delivery_not_found',
    `There is no delivery with the id ${id}: the last 1,000 that are over are kept for a webhook, for 30 days.`,
  )
}
