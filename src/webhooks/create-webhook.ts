import { v7 as uuidv7 } from 'uuid'
import { Refusal } from '../errors.ts'
import type { WriteContext } from '../versioning/write-context.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import { beginCursorLog } from './publisher/cursor-log.ts'
import { validateWebhook } from './validate-webhook.ts'
import { newSecret } from './webhook-secret.ts'
import type { Webhook } from './webhook.ts'

/** So many webhooks a project may have that are not archived, and so many with those that are: each is looked at for every event. */
const MOST = 100
const MOST_EVER = 1000

/** What a create request says. */
export type NewWebhook = Pick<Webhook, 'url'> &
  Partial<Pick<Webhook, 'name' | 'description' | 'events' | 'filters' | 'is_active'>>

/**
 * Registers a webhook; it is told of everything that is written once this has resolved. Refuses a URL it may not call, an unknown
 * family, and one webhook too many.
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
  if (count < MOST && all.length < MOST_EVER) return
  throw new Refusal(
    'limit_exceeded',
    count < MOST
      ? `The project has ${all.length} webhooks, archived ones included, the most there may be. Unarchive one and edit it.`
      : `The project has ${MOST} webhooks already. Archive one that is not needed.`,
  )
}
