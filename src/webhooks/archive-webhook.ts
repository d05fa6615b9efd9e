import type { ArchiveAction } from '../versioning/artifacts/archive.ts'
import type { WriteContext } from '../versioning/write-context.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import type { Webhook } from './webhook.ts'

/** Archives a webhook, which ends its deliveries, or brings it back; doing what is done already changes nothing. */
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
