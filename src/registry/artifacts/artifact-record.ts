import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { type Oid, parseCommit, type TreeEntry } from '../../git/objects.ts'
import {
  boundedText,
  fromEntries,
  isJsonObject,
  type Json,
  type JsonObject,
  membersOf,
  MOST_LEVELS,
  parseJson,
} from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { DocumentLimits } from '../payload/document-limits.ts'
import {
  type ObjectReader,
  type ObjectSink,
  readBytes,
  readTree,
  replaceEntries,
  writeJsonFile,
  writeTree,
} from '../payload/tree-files.ts'
import { slugProblem } from '../slugs/slug.ts'

/** An exact JSON object: the order of keys, big numbers and unusual keys stay as they were sent. */
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

/** `artifact.json` on refs/meta/artifact: the parts of an artifact that may change (interface 1.8, 1.17). */
export const artifactRecord = z.object({
  id: z.string(),
  kind: z.string(),
  slug: z.string(),
  /** Where it lies among others; absent at the root (interface 18.1). */
  folder: z.string().optional(),
  ...header,
  ...lifecycle,
})
export type ArtifactRecord = Readonly<z.infer<typeof artifactRecord>>

/**
 * `variants/<slug>.json`: a variant's header and lifecycle. `start` is the commit at which a fork began. `claimed_at` is when the variant
 * got its slug, if that is not its creation: plain git made the branch, and a server saw it then.
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

/** `revision.json` in a commit's tree: what a commit has beside its payload and message. */
export const revisionHeader = z.object(header)
export type RevisionHeader = Readonly<z.infer<typeof revisionHeader>>

/** The fields beside the payload in a create, commit or edit. */
export type Header = RevisionHeader

/** The ref with the parts of an artifact that may change (interface 15.5). */
export const META_REF = 'refs/meta/artifact'

/** Everything on refs/meta/artifact, decoded. */
export interface ArtifactState {
  readonly artifact: ArtifactRecord
  /** By variant slug. */
  readonly variants: ReadonlyMap<string, VariantRecord>
  /** By revision id. */
  readonly archived: ReadonlyMap<string, ArchivedRecord>
  /**
   * `tags.json`: when each chosen revision slug was taken. Undefined if an earlier version wrote the state, which recorded none. The first
   * write with dates gives one to every existing branch and tag, so one without a date came later by plain git.
   */
  readonly tags: ReadonlyMap<string, string> | undefined
}

/** A change of one file of the state; undefined removes it. */
export interface StateChange {
  readonly artifact?: ArtifactRecord
  readonly variants?: Readonly<Record<string, VariantRecord>>
  readonly archived?: Readonly<Record<string, ArchivedRecord | undefined>>
  /** The dates of all tags. */
  readonly tags?: ReadonlyMap<string, string>
}

/** Reads the state in a commit of refs/meta/artifact. Refuses damaged files by name. */
export async function readArtifactState(source: ObjectReader, commit: Oid): Promise<ArtifactState> {
  const tree = await readTree(source, parseCommit(await readBytes(source, commit, 'commit')).tree)
  const file = tree.find((entry) => entry.name === 'artifact.json')
  if (!file)
    throw new Refusal('damaged_repository', `${META_REF} holds no artifact.json. Restore it from a clone.`)
  return {
    artifact: await readRecord(source, file, artifactRecord),
    variants: await readFolder(source, tree, 'variants', variantRecord, isSlug),
    archived: await readFolder(source, tree, 'archived', archivedRecord, isRevisionId),
    tags: await readTags(source, tree),
  }
}

/** Writes the tree that results from applying `change` to `base` (undefined: to nothing); answers its id. */
export async function writeArtifactState(
  target: ObjectReader & ObjectSink,
  base: Oid | undefined,
  change: StateChange,
  limits: DocumentLimits,
): Promise<Oid> {
  const before =
    base === undefined
      ? []
      : await readTree(target, parseCommit(await readBytes(target, base, 'commit')).tree)
  let entries = before
  if (change.artifact) {
    entries = replaceEntries(entries, [await writeJsonFile(target, 'artifact.json', change.artifact, limits)])
  }
  if (change.tags) {
    const sorted = [...change.tags].sort(([a], [b]) => (a < b ? -1 : 1))
    entries = replaceEntries(entries, [await writeJsonFile(target, TAGS_FILE, fromEntries(sorted), limits)])
  }
  for (const folder of ['variants', 'archived'] as const) {
    const records = change[folder]
    if (records) entries = await changeFolder(target, entries, folder, records, limits)
  }
  return writeTree(target, entries)
}

async function readFolder<T>(
  source: ObjectReader,
  tree: readonly TreeEntry[],
  folder: string,
  schema: z.ZodType<T>,
  isName: (name: string) => boolean,
): Promise<ReadonlyMap<string, T>> {
  const entry = tree.find((candidate) => candidate.name === folder)
  if (!entry) return NO_RECORDS
  const records = new Map<string, T>()
  await new TimeSlice().each(await readTree(source, entry.oid), async (file) => {
    const name = file.name.endsWith('.json') ? file.name.slice(0, -'.json'.length) : ''
    if (isName(name)) records.set(name, await readRecord(source, file, schema))
  })
  return records
}

/** A restored repository may have files of any name; names that no record can have are ignored. */
const isSlug = (name: string): boolean => slugProblem(name) === undefined
const isRevisionId = (name: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)

/** One map for all artifacts, because most have nothing archived. */
const NO_RECORDS = new Map<string, never>()

/** The file on refs/meta/artifact with the dates of chosen revision slugs. */
const TAGS_FILE = 'tags.json'

async function readTags(
  source: ObjectReader,
  tree: readonly TreeEntry[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const file = tree.find(({ name }) => name === TAGS_FILE)
  if (!file) return undefined
  const tags = await readRecord(source, file, tagsRecord)
  return tags.size > 0 ? tags : NO_RECORDS
}

/** A message about a record may quote all of it. */
const LONGEST_WHY = 4000

async function readRecord<T>(source: ObjectReader, file: TreeEntry, schema: z.ZodType<T>): Promise<T> {
  const text = (await readBytes(source, file.oid, 'blob')).toString('utf8')
  try {
    const value = parseJson(text, { maxDepth: MOST_LEVELS })
    return schema.parse(value)
  } catch (error) {
    const why = boundedText(error instanceof Error ? error.message : String(error), LONGEST_WHY)
    throw new Refusal('damaged_repository', `${META_REF}:${file.name} cannot be read: ${why}`)
  }
}

async function changeFolder(
  target: ObjectReader & ObjectSink,
  entries: readonly TreeEntry[],
  folder: string,
  records: Readonly<Record<string, object | undefined>>,
  limits: DocumentLimits,
): Promise<readonly TreeEntry[]> {
  const existing = entries.find((entry) => entry.name === folder)
  const before = existing ? await readTree(target, existing.oid) : []
  const removed = new Set(Object.keys(records).map((name) => `${name}.json`))
  const written: TreeEntry[] = []
  await new TimeSlice().each(Object.entries(records), async ([name, record]) => {
    if (record) written.push(await writeJsonFile(target, `${name}.json`, record, limits))
  })
  const after = [...before.filter((entry) => !removed.has(entry.name)), ...written]
  const others = entries.filter((entry) => entry.name !== folder)
  return after.length === 0
    ? others
    : [...others, { mode: '40000', name: folder, oid: writeTree(target, after) }]
}
