import { z } from 'zod'
import { JsonRecordFile } from '../../storage/files.ts'

/** The types of events for webhooks, by level. */
export const EVENT_TYPES = [
  'artifact.created',
  'artifact.edited',
  'artifact.archived',
  'artifact.unarchived',
  'variant.created',
  'variant.forked',
  'variant.edited',
  'variant.archived',
  'variant.unarchived',
  'revision.committed',
  'revision.archived',
  'revision.unarchived',
  'environment.deployed',
  'environment.undeployed',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** The type of a test delivery. */
export const TEST_EVENT = 'webhook.test'

/** An artifact, or an environment, by its id or its slug. */
const named = z.strictObject({ id: z.string().optional(), slug: z.string().optional() })

/** The filters of a webhook: an event must match one entry of each list. */
export const webhookFilters = z.strictObject({
  /** Folders of families: `workflows`. */
  families: z.array(z.string()).optional(),
  /** The artifact, or one that was deployed or undeployed. */
  artifacts: z.array(named).optional(),
  /** Only events of these environments. */
  environments: z.array(named).optional(),
})
export type WebhookFilters = Readonly<z.infer<typeof webhookFilters>>

/** `webhook.json`: the address for a project's events, their filters, and the signing secret. */
export const webhook = z.strictObject({
  id: z.uuid(),
  name: z.string().optional(),
  description: z.string().optional(),
  url: z.string(),
  /** Empty means all. */
  events: z.array(z.enum(EVENT_TYPES)),
  filters: webhookFilters,
  is_active: z.boolean(),
  /** Why the service disabled it. */
  inactive_reason: z.string().optional(),
  /** `whsec_` and the base64 of the key. */
  secret: z.string(),
  /** The previous secret, which also signs until then. */
  previous_secret: z.strictObject({ secret: z.string(), until: z.iso.datetime() }).optional(),
  created_at: z.iso.datetime(),
  created_by_id: z.string(),
  updated_at: z.iso.datetime().optional(),
  updated_by_id: z.string().optional(),
  deleted_at: z.iso.datetime().optional(),
  deleted_by_id: z.string().optional(),
})
export type Webhook = Readonly<z.infer<typeof webhook>>

/** Whether events are sent there now. */
export function isSending({ is_active: isActive, deleted_at: deletedAt }: Webhook): boolean {
  return isActive && deletedAt === undefined
}

/**
 * Files of webhooks. Only the server's own user may read them, because they have secrets and receivers' answers. One process at a time may
 * write a file.
 */
export function webhookRecordFile<T>(schema: z.ZodType<T>): JsonRecordFile<T> {
  return new JsonRecordFile({
    schema,
    damage: (path) =>
      `${path} does not hold what webhooks keep there. Restore it from a backup, or remove its folder.`,
    mode: 0o600,
  })
}
