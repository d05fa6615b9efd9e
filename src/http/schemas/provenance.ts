import { z } from 'zod'
import {
  arrival,
  commitSignature,
  gitId,
  referenced,
  revisionReferencesSchema,
  timestamp,
} from './record-schemas.ts'

const commitOfRevision = {
  commit: gitId,
  author: z.string(),
  committer: z.string(),
  date: timestamp,
  signature: commitSignature,
}

/** Where a revision comes from: its commit, the signature, and what runs it now. */
export const provenance = z.strictObject({
  ...commitOfRevision,
  tree: gitId,
  parents: z.array(gitId),
  // Who pushed the commit; that it was made over REST, where its signature proves it; null where nothing says.
  arrival: z.union([arrival, z.strictObject({ door: z.literal('rest') })]).nullable(),
  trailers: z.strictObject({
    variant: z.string().optional(),
    slug: z.string().optional(),
    deploy: z.string().optional(),
    deploy_key: z.string().optional(),
    deploy_from: z.string().optional(),
    deploy_to: z.string().optional(),
    idempotency_key: z.string().optional(),
  }),
  environments: z.array(
    z.strictObject({
      ...revisionReferencesSchema('environment'),
      key: z.string(),
      // The deployment: the environment's revision since which the key has held it.
      since: referenced.extend(commitOfRevision),
    }),
  ),
})
