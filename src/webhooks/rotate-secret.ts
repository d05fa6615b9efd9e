import type { WriteContext } from '../versioning/write-context.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import { newSecret } from './webhook-secret.ts'
import type { Webhook } from './webhook.ts'

/** The former secret signs as well for a day, so that the receiver can take the new one. */
const OVERLAP_MS = 24 * 60 * 60 * 1000

/** Gives a webhook a new secret. */
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
