import type { WriteContext } from '../versioning/write-context.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import { validateWebhook } from './validate-webhook.ts'
import type { Webhook } from './webhook.ts'

type Editable = Pick<Webhook, 'name' | 'description' | 'url' | 'events' | 'filters' | 'is_active'>

/** What a PUT says: a field left out keeps its value, null clears it (interface 4.23). */
export type WebhookEdit = { readonly [K in keyof Editable]?: Editable[K] | null | undefined }

/** Edits a webhook. Switching it on again forgets why the service switched it off; what waits for it goes on. */
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
