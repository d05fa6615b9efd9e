import { z } from 'zod'
import { EVENT_TYPES } from '../../feeds/webhooks.ts'
import { declare } from '../routing/known-fields.ts'
import { comingBack } from './coming-back.ts'
import { slug, uuid } from './request-schemas.ts'
import { OF_WEBHOOKS } from './unused-fields.ts'

/** The schemas of requests and answers about webhooks. */

const MOST_EVENTS = 100

const eventTypes = z
  .array(z.enum(EVENT_TYPES, `must be some of ${EVENT_TYPES.join(', ')}`))
  .max(MOST_EVENTS, `must have at most ${MOST_EVENTS} items; there are ${EVENT_TYPES.length} kinds of events`)

const LONGEST_URL = 2000

const url = z
  .string()
  .max(LONGEST_URL, `must have at most ${LONGEST_URL} characters`)
  .meta({ format: 'uri', description: 'Where events are sent: http or https, a public host, no password.' })

const isActive = z.boolean('must be true or false')

/** An artifact by id or slug; one is required, since an empty name would match nothing. */
const named = z
  .object({ id: uuid.optional(), slug: slug.optional() })
  .refine(({ id, slug: name }) => id !== undefined || name !== undefined, 'must have an id or a slug')
  .meta({ description: '{id} or {slug}.' })

const MOST_FILTERS = 1000

const filters = z
  .object({
    families: z.array(z.string()).max(MOST_FILTERS).optional(),
    artifacts: z.array(named).max(MOST_FILTERS).optional(),
    environments: z.array(named).max(MOST_FILTERS).optional(),
  })
  .meta({
    description: 'Of each list that is there one must fit. `environments` leaves only what happens to these.',
  })

/** A webhook to create. */
export const newWebhook = z.object({
  url,
  name: z.string().optional(),
  description: z.string().optional(),
  events: eventTypes.optional(),
  filters: filters.optional(),
  is_active: isActive.optional(),
})

/** An edit of a webhook; null clears (interface 4.23). */
export const webhookEdit = declare(
  z.object({
    id: uuid.optional(),
    url: url.optional(),
    name: z.string().nullish(),
    description: z.string().nullish(),
    events: eventTypes.nullish(),
    filters: filters.nullish(),
    is_active: isActive.optional(),
    ...comingBack(OF_WEBHOOKS.fixed),
  }),
  { unused: OF_WEBHOOKS.unused },
)

/** The filter of a query of webhooks. */
export const webhookFilter = z.object({
  name: z.string().optional(),
  description: z.string().optional(),
  is_active: isActive.optional(),
})

/** The filter of a query of deliveries. */
export const deliveryFilter = z.object({
  status: z.enum(['pending', 'delivered', 'failed'], 'must be pending, delivered or failed').optional(),
  event_type: z.string().optional(),
  event_id: uuid.optional(),
})

const id = z.string().meta({ format: 'uuid' })
const timestamp = z.string().meta({ format: 'date-time' })
const answeredName = z.strictObject({ id: id.optional(), slug: z.string().optional() })

/** A webhook in an answer; `secret` is present only when it is new. */
export const webhookRecord = z.strictObject({
  id,
  name: z.string().optional(),
  description: z.string().optional(),
  url: z.string(),
  events: z.array(z.string()),
  filters: z.strictObject({
    families: z.array(z.string()).optional(),
    artifacts: z.array(answeredName).optional(),
    environments: z.array(answeredName).optional(),
  }),
  is_active: z.boolean(),
  inactive_reason: z.string().optional(),
  secret: z.string().optional(),
  created_at: timestamp,
  created_by_id: z.string(),
  updated_at: timestamp.optional(),
  updated_by_id: z.string().optional(),
  deleted_at: timestamp.optional(),
  deleted_by_id: z.string().optional(),
})

export const deliveryRecord = z.strictObject({
  id,
  webhook_id: id,
  event_id: id,
  event_type: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.array(
    z.strictObject({
      at: timestamp,
      duration_ms: z.number(),
      status_code: z.int().optional(),
      error: z.string().optional(),
    }),
  ),
  created_at: timestamp,
  next_attempt_at: timestamp.optional(),
  redelivery_of: id.optional(),
  payload: z.unknown().meta({ type: 'object', description: 'The body that is sent.' }),
})
