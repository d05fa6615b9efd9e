import { z } from 'zod'
import { SCOPES } from '../../access/keys.ts'
import { time } from './request-schemas.ts'

/** The schemas of requests and answers about API keys, sessions and secrets (interface 14.1). */

const timestamp = z.string().meta({ format: 'date-time' })
const scopes = z.array(z.enum(SCOPES, `must be some of ${SCOPES.join(', ')}`))

/** A key to create. Its name and email become the git author of its commits. */
export const newKey = z.object({
  name: z.string(),
  email: z.string().optional(),
  scopes,
  expires_at: time.optional().meta({
    description: 'When the key stops working. A date alone is its first moment in UTC. Never, unless given.',
  }),
  folders: z.array(z.string()).optional().meta({
    description:
      'Limits the key to what lies in these folders: `support` is what lies directly in it, `support/**` also all below it.',
  }),
})

export const keyFilter = z.object({
  name: z.string().optional().meta({ description: 'Part of the name, in any case.' }),
  scopes: scopes.optional().meta({ description: 'Keys that have all of these.' }),
})

export const keyRecord = z.strictObject({
  id: z.string().meta({ format: 'uuid' }),
  name: z.string(),
  email: z.string(),
  scopes,
  folders: z.array(z.string()).optional().meta({ description: 'Absent if the key is not limited.' }),
  created_at: timestamp,
  last_used_at: timestamp
    .nullable()
    .meta({ description: 'Of this minute or an earlier one; null if it never was.' }),
  expires_at: timestamp.optional().meta({ description: 'Of a key that stops working by itself.' }),
  revoked_at: timestamp.nullable(),
  secret: z
    .string()
    .optional()
    .meta({ description: 'The key itself, in the answer that makes it and never again.' }),
})

/** The API key that made a change (interface 14.2). */
export const principal = z.strictObject({ id: z.string(), kind: z.literal('key'), name: z.string() })

/** What a user signs in with. */
export const newSession = z
  .object({
    key: z.string().optional().meta({ description: 'An API key.' }),
    token: z.string().optional().meta({
      description:
        'What stands behind #token= in the link that a start of the server, or branchpoint open, prints: good once.',
    }),
  })
  .check(({ value, issues }) => {
    if ((value.key === undefined) !== (value.token === undefined)) return
    issues.push({ code: 'custom', input: value, message: 'needs either "key" or "token"' })
  })

/** The key that a sign-in link stands for. */
export const newLink = z.object({
  key: z.uuid().optional().meta({
    description:
      "The id of another key of the project, which needs the scope admin. The caller's own unless given.",
  }),
})

export const linkRecord = z.strictObject({
  url: z.string().meta({ format: 'uri' }),
  until: timestamp,
})

export const sessionRecord = z.strictObject({
  principal,
  scopes,
  project: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
})

/** The value of a secret, and its use. */
export const secretValue = z.object({
  value: z.string(),
  provider: z
    .string()
    .optional()
    .meta({ description: 'Makes the secret a connection that prompts can name: openai, anthropic …' }),
  base_url: z
    .string()
    .optional()
    .meta({ format: 'uri', description: "Where the provider's interface is, if not at its usual place." }),
})

/** Whether a provider takes a key. */
export const keyTest = z.strictObject({
  ok: z.boolean(),
  detail: z.string().meta({ description: 'A sentence that says why; it never contains the key.' }),
})

export const secretRecord = z.strictObject({
  name: z.string(),
  provider: z.string().optional(),
  base_url: z.string().optional(),
  created_at: timestamp,
  updated_at: timestamp,
})
