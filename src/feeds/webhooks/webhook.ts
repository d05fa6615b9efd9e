import { z } from 'zod'
import { JsonRecordFile } from '../../storage/files.ts'

/** What webhooks tell of, by the level it happens at. */
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

/** What a delivery that somebody asked for, to see whether it arrives, says it is. */
export const TEST_EVENT = 'webhook.test'

/** An artifact, or an environment, by its id or its slug. */
const named = z.strictObject({ id: z.string().optional(), slug: z.string().optional() })

/** Which events a webhook wants: of each list that is there, one must fit. */
export const webhookFilters = z.strictObject({
  /** Folders of families: `workflows`. */
  families: z.array(z.string()).optional(),
  /** The artifact itself, or one that was deployed or undeployed. */
  artifacts: z.array(named).optional(),
  /** Events of these environments, and no others. */
  environments: z.array(named).optional(),
})
export type WebhookFilters = Readonly<z.infer<typeof webhookFilters>>

/** `webhook.json`: where a project's events are sent, which, and signed with what. */
export const webhook = z.strictObject({
  id: z.uuid(),
  name: z.string().optional(),
  description: z.string().optional(),
  url: z.string(),
  /** Empty means all. */
  events: z.array(z.enum(EVENT_TYPES)),
  filters: webhookFilters,
  is_active: z.boolean(),
  /** Why the service itself switched it off. */
  inactive_reason: z.string().optional(),
  /** `whsec_` and the base64 of the key. */
  secret: z.string(),
  /** The secret before it, which signs as well until then. */
  previous_secret: z.strictObject({ secret: z.string(), until: z.iso.datetime() }).optional(),
  created_at: z.iso.datetime(),
  created_by_id: z.string(),
  updated_at: z.iso.datetime().optional(),
  updated_by_id: z.string().optional(),
  deleted_at: z.iso.datetime().optional(),
  deleted_by_id: z.string().optional(),
})
export type Webhook = Readonly<z.infer<typeof webhook>>

/** Whether events are to be sent there now. */
export function isSending({ is_active: isActive, deleted_at: deletedAt }: Webhook): boolean {
  return isActive && deletedAt === undefined
}

/**
 * Files of what webhooks keep, which only the server's own user may read: there are secrets in them, and what receivers answered. One
 * process at a time may write a file.
 */
export function webhookRecordFile<T>(schema: z.ZodType<T>): JsonRecordFile<T> {
  return new JsonRecordFile({
    schema,
    damage: (path) =>
      `${path} does not hold what webhooks keep there. Restore it from a backup, or remove its folder.`,
    mode: 0o600,
  })
}
