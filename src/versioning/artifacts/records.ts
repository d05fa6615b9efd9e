import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { isJsonObject, type Json, type JsonObject, membersOf } from '../../json/json.ts'

/** An exact JSON object (key order, big numbers and odd keys as they came). */
const exactObject = z.custom<JsonObject>((value) => isJsonObject(value as Json), 'must be an object')

const lifecycle = {
  created_at: z.string(),
  created_by_id: z.string(),
  updated_at: z.string().optional(),
  updated_by_id: z.string().optional(),
  deleted_at: z.string().optional(),
  deleted_by_id: z.string().optional(),
}

const header = {
  name: z.string().optional(),
  description: z.string().optional(),
  flags: z.record(z.string(), z.boolean()).optional(),
  tags: exactObject.optional(),
  meta: exactObject.optional(),
}

/** `artifact.json` on refs/meta/artifact: what may change about an artifact (interface 1.8, 1.17). */
export const artifactRecord = z.object({
  id: z.string(),
  kind: z.string(),
  slug: z.string(),
  ...header,
  ...lifecycle,
})
export type ArtifactRecord = Readonly<z.infer<typeof artifactRecord>>

/**
 * `variants/<slug>.json`: a variant's header and lifecycle; `start` is the commit a fork began at. `claimed_at` is since when the slug is the
 * variant's, where that is not its creation: plain git made the branch, and a server saw it then.
 */
export const variantRecord = z.object({
  ...header,
  ...lifecycle,
  start: z.string().optional(),
  claimed_at: z.string().optional(),
})
export type VariantRecord = Readonly<z.infer<typeof variantRecord>>

/** `archived/<revision id>.json`: present while a revision is archived by itself. */
export const archivedRecord = z.object({ deleted_at: z.string(), deleted_by_id: z.string() })
export type ArchivedRecord = Readonly<z.infer<typeof archivedRecord>>

/** `tags.json`: dates by slug. */
export const tagsRecord = exactObject.transform((dates, context) => {
  const tags = new Map<string, string>()
  for (const [slug, date] of membersOf(dates)) {
    if (typeof date === 'string') tags.set(slug, date)
    else context.addIssue({ code: 'custom', message: `${slug} must have a date` })
  }
  return tags
})

/** `revision.json` in a commit's tree: what a commit brought beside its payload and message. */
export const revisionHeader = z.object(header)
export type RevisionHeader = Readonly<z.infer<typeof revisionHeader>>

/** What a create, commit or edit may say about a thing beside its payload. */
export type Header = RevisionHeader

/** The parts of a header that are there, in the order they are stored and answered. */
export function compactHeader({ name, description, flags, tags, meta }: Header): Header {
  const members = Object.entries({ name, description, flags, tags, meta })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/**
 * As JSON. The index keeps the headers of all artifacts, and lists add them up: what is larger belongs into
 * the payload.
 */
const MAX_HEADER_LENGTH = 256 * 1024

/** The parts of a header that a write brings, in the order they are stored. Refuses a header that is too long with `limit_exceeded`. */
export function boundedHeader(header: Header): Header {
  const brought = compactHeader(header)
  assertHeaderLength(brought)
  return brought
}

/** Refuses a header, or an edit of one, that is too long with `limit_exceeded`. */
export function assertHeaderLength(header: object): void {
  if (stringifyJson(header).length <= MAX_HEADER_LENGTH) return
  throw new Refusal(
    'limit_exceeded',
    `Name, description, flags, tags and meta have more than ${MAX_HEADER_LENGTH} characters as JSON. Put what is large into data.`,
    { details: { limit: MAX_HEADER_LENGTH } },
  )
}
