import { z } from 'zod'
import { SCOPES } from '../../access/scope.ts'

/** What requests about sessions hold, and what is answered (wire.md 2). */

const timestamp = z.string().meta({ format: 'date-time' })

/** Whoever acts (wire.md 1). */
export const principal = z.strictObject({ id: z.string(), kind: z.literal('key'), name: z.string() })

/** What somebody signs in with. */
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

export const sessionRecord = z.strictObject({
  principal,
  scopes: z.array(z.enum(SCOPES)),
  project: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
})
