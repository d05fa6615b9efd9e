import { z } from 'zod'
import { JsonRecordFile } from '../../storage/files.ts'

/** The ids from which the result of a write is answered again. */
export type ResultAddress = Readonly<z.infer<typeof resultAddress>>

const resultAddress = z.strictObject({
  /** The artifact, variant or revision of the answer. */
  id: z.string(),
  /** The revision that a flat record shows with its artifact. */
  revision: z.string().optional(),
  /** What happened to the rows that were sent, in a file or as JSON. */
  file: z
    .strictObject({
      collapsed: z.int(),
      replaced: z.int(),
      renamed: z.array(z.strictObject({ from: z.string(), to: z.string() })).optional(),
    })
    .optional(),
  /** The variant that the answer names, if several could have the revision. */
  variant: z.string().optional(),
  /** For a commit without changes: the slugs of the environments to which it deployed. */
  unchanged: z.strictObject({ deployed_to: z.array(z.string()) }).optional(),
  /** The artifacts of a folder that was moved, by id. */
  folder: z
    .strictObject({
      moved: z.array(z.string()),
      failed: z.array(z.strictObject({ id: z.string(), code: z.string() })),
    })
    .optional(),
  /** The result of a merge. */
  merge: z.strictObject({ kind: z.string(), base: z.string().optional(), resolved: z.int() }).optional(),
})

/** The record of a request with an `Idempotency-Key` (interface 2.25): enough to recognise the request, never its body. */
export type Intent = Readonly<z.infer<typeof intent>>

const intent = z.strictObject({
  /** Hex SHA-256 of the request. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.iso.datetime(),
  /** The id of an artifact that the request creates. */
  artifact_id: z.uuid(),
  /** Absent until the request is done. */
  result: resultAddress.optional(),
})

/** Replaced under the lock of the key. */
export const intentFile = new JsonRecordFile<Intent>({
  schema: intent,
  damage: (path) =>
    `${path} does not hold an intent. Restore it from a backup; or, once you know what its request did, remove it.`,
})
