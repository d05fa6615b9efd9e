import { z } from 'zod'
import { JsonRecordFile } from '../storage/json-record-file.ts'

/** Where the result of a write is: ids, from which the answer is made anew. */
export type ResultAddress = Readonly<z.infer<typeof resultAddress>>

const resultAddress = z.strictObject({
  /** Of the artifact, variant or revision that the answer is about. */
  id: z.string(),
  /** Of the revision that a flat record shows beside its artifact. */
  revision: z.string().optional(),
  /** What became of rows that were sent, in a file or as JSON. */
  file: z
    .strictObject({
      collapsed: z.int(),
      replaced: z.int(),
      renamed: z.array(z.strictObject({ from: z.string(), to: z.string() })).optional(),
    })
    .optional(),
  /** Of the variant that the answer names, where the revision may be that of others, too. */
  variant: z.string().optional(),
  /** Of a commit that had nothing to commit: the slugs of the environments in which it deployed. */
  unchanged: z.strictObject({ deployed_to: z.array(z.string()) }).optional(),
  /** What a merge came to. */
  merge: z.strictObject({ kind: z.string(), base: z.string().optional(), resolved: z.int() }).optional(),
})

/** What is kept of a request that carries an `Idempotency-Key` (interface 2.25): enough to know it again, never its body. */
export type Intent = Readonly<z.infer<typeof intent>>

const intent = z.strictObject({
  /** Hex SHA-256 of what was asked for. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.iso.datetime(),
  /** The id of the artifact that the request creates, if it creates one. */
  artifact_id: z.uuid(),
  /** Absent until the work is done. */
  result: resultAddress.optional(),
})

/** Replaced under the lock of the key. */
export const intentFile = new JsonRecordFile<Intent>({
  schema: intent,
  damage: (path) =>
    `${path} does not hold an intent. Restore it from a backup; or, once you know what its request did, remove it.`,
})
