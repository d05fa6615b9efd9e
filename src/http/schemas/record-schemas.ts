import { z } from 'zod'
import { LIST_ORDERS } from '../../registry/registries.ts'
import type { SurfaceNames } from './spellings.ts'

/** The schemas of answers: the source of /openapi.json, and the reference for the tests. */

const id = z.string().meta({ format: 'uuid' })
export const timestamp = z.string().meta({ format: 'date-time' })
/** An address for `git clone`; the key selects the project. */
const gitUrl = z.string().meta({ format: 'uri' })
export const recordObject = z.unknown().meta({ type: 'object' })

const header = {
  name: z.string().optional(),
  description: z.string().optional(),
  tags: recordObject.optional(),
  meta: recordObject.optional(),
}

const lifecycle = {
  created_at: timestamp,
  created_by_id: z.string(),
  updated_at: timestamp.optional(),
  updated_by_id: z.string().optional(),
  deleted_at: timestamp.optional(),
  deleted_by_id: z.string().optional(),
}

/** Absent at the root, and for environments. */
const folder = z.string().optional()

/** An artifact record with the family's role flags. */
export function artifactRecordSchema(roles: readonly string[]): z.ZodType {
  return z.strictObject({
    id,
    slug: z.string(),
    ...header,
    folder,
    flags: flags(roles).optional(),
    ...lifecycle,
    git_url: gitUrl,
  })
}

export function variantRecordSchema(names: SurfaceNames, roles: readonly string[]): z.ZodType {
  return z.strictObject({
    id,
    slug: z.string(),
    ...parents(names, ''),
    ...header,
    flags: flags(roles).optional(),
    ...lifecycle,
  })
}

/** How a commit was pushed. */
export const arrival = z.strictObject({
  door: z.literal('git'),
  principal: z.strictObject({ id: z.string(), kind: z.string(), name: z.string() }),
  time: timestamp,
})

/** A revision record; `data` is absent if the answer leaves payloads out. */
export function revisionRecord(names: SurfaceNames, flagNames: readonly string[]): z.ZodType {
  return z.strictObject({
    id,
    slug: z.string(),
    version: z.union([z.int().min(1), z.string().regex(/^[1-9][0-9]*$/)]),
    ...parents(names, ''),
    ...parents(names, '_variant'),
    author: z.string(),
    date: timestamp,
    message: z.string().optional(),
    // What git log --format=%s shows; generated if no message was sent.
    subject: z.string(),
    // Only in a log, for a pushed commit.
    arrival: arrival.optional(),
    created_at: timestamp,
    deleted_at: timestamp.optional(),
    deleted_by_id: z.string().optional(),
    ...header,
    flags: flags(flagNames),
    data: recordObject.optional(),
  })
}

/** A flat record of the simple endpoints. */
export function flatRecord(
  flagNames: readonly string[],
  more: Readonly<Record<string, z.ZodType>> = {},
): z.ZodType {
  return z.strictObject({
    id,
    slug: z.string(),
    ...header,
    folder,
    flags: flags(flagNames),
    ...lifecycle,
    git_url: gitUrl,
    variant_id: id.optional(),
    revision_id: id.optional(),
    data: recordObject,
    ...more,
  })
}

/** An artifact in the trash. */
export const trashedRecord = z.strictObject({
  kind: z.string(),
  id,
  slug: z.string(),
  name: z.string().optional(),
  trashed_at: z.string(),
  until: z.string(),
})

/** `{count: 1, <key>: record}` and further members of the answer (interface 2.2). */
export function single(
  key: string,
  record: z.ZodType,
  more: Readonly<Record<string, z.ZodType>> = {},
): z.ZodType {
  return z.strictObject({ count: z.literal(1), [key]: record, ...more })
}

/** The window of a list's next page. */
export const listWindow = z.strictObject({
  next: id,
  limit: z.int().optional(),
  order: z.enum(['ascending', 'descending']).optional(),
  newest: timestamp.optional(),
  oldest: timestamp.optional(),
})

/**
 * `{count: n, <key>: [record], windowing?}`; windowing is present exactly when more rows remain (interface
 * 2.18).
 */
export function list(key: string, record: z.ZodType): z.ZodType {
  return z.strictObject({ count: z.int().min(0), [key]: z.array(record), windowing: listWindow.optional() })
}

/** The same for a list of named items. */
export const orderedWindow = listWindow.extend({
  order: z.enum(LIST_ORDERS).optional(),
  count_total: z.boolean().optional(),
})

/** The same for a list of named items, which has more orders and may give the total over all pages. */
export function orderedList(key: string, record: z.ZodType): z.ZodType {
  return z.strictObject({
    count: z.int().min(0),
    total: z.int().min(0).optional(),
    [key]: z.array(record),
    windowing: orderedWindow.optional(),
  })
}

/** The same for a list whose cursors are not ids. */
export function pagedList(key: string, record: z.ZodType): z.ZodType {
  return z.strictObject({ count: z.int().min(0), [key]: z.array(record), windowing: pageInfo.optional() })
}

/** The window of a payload's next part; present exactly when more remains (interface 2.18, 8.15). */
export const pageInfo = z.strictObject({
  next: z.string(),
  limit: z.int().optional(),
  order: z.enum(['ascending', 'descending']).optional(),
})

/** The same for rows, which may be counted. */
export const rowsPageInfo = pageInfo.extend({ count_total: z.boolean().optional() })

/**
 * An immutable row of a testset (interface 8.1); its flags, tags and meta belong to the revision that shows
 * it.
 */
export const testcase = z.strictObject({
  id,
  testset_id: id,
  set_id: id.optional(),
  data: recordObject,
  flags: recordObject.optional(),
  tags: recordObject.optional(),
  meta: recordObject.optional(),
})

/** The diff of two JSON documents (interface 6.1). */
export const documentDiff = z.strictObject({
  patch: z.array(z.looseObject({ op: z.string(), path: z.string() })),
  files: z.array(z.strictObject({ path: z.string(), diff: z.string() })),
})

/** The diff of two lists of rows, joined on their dedup ids (interface 8.24). */
export const rowDiff = z.strictObject({
  rows: z.strictObject({
    added: z.array(testcase),
    removed: z.array(testcase),
    changed: z.array(z.strictObject({ dedup_id: z.string(), base: testcase, head: testcase })),
  }),
  columns: z.strictObject({ added: z.array(z.string()), removed: z.array(z.string()) }),
})

/** A warning about an accepted request. */
export const warning = z.strictObject({
  code: z.string(),
  message: z.string(),
  target: z.array(z.union([z.string(), z.int()])).optional(),
})

/** References to a revision and its parents under this singular; each may be absent. */
export function revisionReferencesSchema(singular: string): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(LEVELS.map((level) => [`${singular}${level}`, referenced.optional()]))
}

/** The records a retrieve went through (interface 5.15). */
export function retrievalInfo(names: SurfaceNames): z.ZodType {
  const [own = ''] = names.singulars
  return z.strictObject({
    references: z.strictObject({
      ...revisionReferencesSchema('environment'),
      ...Object.fromEntries(LEVELS.map((level) => [`${own}${level}`, referenced])),
    }),
    // The environment's key that led to it.
    selector: z.strictObject({ key: z.string() }).optional(),
    // Only with `include_head`.
    head: shortRevision.optional(),
    archived: archivedLevels.optional(),
  })
}

const LEVELS = ['', '_variant', '_revision']

/** The target of a reference. */
export const referenced = z.strictObject({
  id,
  slug: z.string(),
  version: z.union([z.int(), z.string()]).optional(),
})

/** A short revision (interface 6.2). */
export const shortRevision = referenced.required()

export const gitId = z.string().regex(/^[0-9a-f]{40}$/)

/** What a revision did to a row of a testset. */
export const historyOfRow = z.strictObject({
  revision: shortRevision,
  author: z.string(),
  date: timestamp,
  kind: z.enum(['added', 'changed', 'removed']),
  // Absent if the row was removed.
  data: recordObject.optional(),
})

/** A file of a revision's tree. */
export const revisionFile = z.strictObject({ path: z.string(), size: z.int().min(0), oid: gitId })

/** The verification of a commit's signature (docs/guide/provenance.md). */
export const commitSignature = z.strictObject({
  status: z.enum(['good', 'unknown_key', 'bad', 'none']),
  // As ssh-keygen -l prints it: SHA256:…
  key: z.string().optional(),
})

/** The outermost archived level; unarchiving that level makes the item visible. */
export const archivedLevels = z.enum(['artifact', 'variant', 'revision']).meta({
  description: 'What is archived: the revision itself, the variant that holds it, or its artifact.',
})

/** A commit in the graph of an artifact's history. */
export const graphNode = z.strictObject({
  id,
  commit: gitId,
  parents: z.array(gitId),
  // Absent for a commit that is on no variant's first-parent line.
  variant: referenced.omit({ version: true }).optional(),
  version: z.union([z.int(), z.string()]),
  subject: z.string(),
  author: z.string(),
  date: timestamp,
  refs: z.array(z.strictObject({ kind: z.enum(['variant', 'tag', 'environment']), name: z.string() })),
  // Only with `include_signatures`.
  signature: commitSignature.optional(),
  archived: archivedLevels.optional(),
})

/** A report on resolving embeds (interface 10.13). */
export const resolutionInfo = z.strictObject({
  references_used: z.array(recordObject),
  depth_reached: z.int().min(0),
  embeds_resolved: z.int().min(0),
  errors: z.array(z.string()),
})

function flags(names: readonly string[]): z.ZodType {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.boolean()])))
}

function parents({ answered }: SurfaceNames, level: '' | '_variant'): Record<string, z.ZodType> {
  const fields: Record<string, z.ZodType> = {}
  for (const name of [level === '' ? 'artifact' : 'variant', ...answered.map((it) => `${it}${level}`)]) {
    fields[`${name}_id`] = id
    fields[`${name}_slug`] = z.string()
  }
  return fields
}

/** Counts of sent rows that were not stored, in the answer to a write. */
export const rowCounts = {
  collapsed: z.int().optional().describe('Rows sent that equal another one, and are one with it'),
  replaced: z
    .int()
    .optional()
    .describe('Rows sent in whose place a later one of their dedup id, or of their testcase, is'),
}
