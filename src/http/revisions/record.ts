import {
  type RecordedArtifact,
  type FlatArtifact,
  flatFlags,
  type ArtifactRecord,
  type Header,
  type VariantRecord,
} from '../../registry/artifacts.ts'
import {
  type PresentContext,
  type PresentedPayload,
  type Reading,
  PLAIN_READING,
} from '../../registry/families.ts'
import { parseUuid, authorUuid } from '../../registry/registries.ts'
import type { Arrival } from '../../registry/push.ts'
import { isoSeconds, type VariantLocation, type Revision, revisionFlags } from '../../registry/revisions.ts'

/** The settings on which the form of records depends. */
export interface PresentOptions {
  /** Singulars under which parent ids and slugs are answered (SurfaceNames.answered). */
  readonly answered: readonly string[]
  readonly servicesBase: string
  /** `<PUBLIC_URL>/git`, under which every repository is. */
  readonly gitBase: string
  readonly versionType: 'number' | 'string'
  /** Whether people are shown with names and addresses as in git, or as UUIDs. */
  readonly authorType: 'text' | 'uuid'
  /** Whether the answer has a warning if references contradict each other. */
  readonly contradictions: 'warned' | 'refused'
}

/** An artifact as a record (interface 1.8). Fields without a value are undefined, and so left out. */
export function presentArtifact(artifact: RecordedArtifact, options: PresentOptions): object {
  const { record, family } = artifact
  return {
    id: artifact.id,
    slug: artifact.slug,
    ...headerOf(record),
    folder: record.folder,
    flags: shownFlags(artifact),
    ...lifecycleOf(record, options),
    git_url: `${options.gitBase}/${family.folder}/${artifact.slug}.git`,
  }
}

/** A variant as a record (interface 1.9): its flags are always the artifact's roles. */
export function presentVariant(
  { artifact, variant }: Pick<VariantLocation, 'variant'> & { readonly artifact: RecordedArtifact },
  options: PresentOptions,
): object {
  return {
    id: variant.id,
    slug: variant.slug,
    ...parents(options, '', artifact),
    ...headerOf(variant.record),
    flags: shownFlags(artifact),
    ...lifecycleOf(variant.record, options),
  }
}

/** A revision as a record (interface 1.10), with the payload and the arrival that were presented, if any. */
export function presentRevision(
  revision: Revision,
  options: PresentOptions,
  presented?: PresentedPayload,
  arrival?: object,
): object {
  const { artifact, variant, stored, archived } = revision
  const { name: author, email } = stored.commit.author
  const { name, description, tags, meta } = stored.header
  const date = isoSeconds(stored.commit.committer.seconds)
  return {
    id: revision.id,
    slug: revision.slug,
    version: presentVersion(revision.version, options),
    ...parents(options, '', artifact),
    ...parents(options, '_variant', variant),
    author: presentAuthor(`${author} <${email}>`, options),
    date,
    message: stored.message,
    subject: stored.subject,
    arrival,
    created_at: date,
    deleted_at: archived?.deleted_at,
    deleted_by_id: archived && personId(archived.deleted_by_id, options),
    name,
    description,
    tags,
    meta,
    flags: revisionFlags(artifact, stored.payload),
    data: presented?.data,
  }
}

/** How a commit arrived. The pusher has the current name of the key, or the name at that time if the key is unknown (interface 6.2). */
export function presentArrival(
  { door, principal: { id, kind, name }, time }: Arrival,
  names: ReadonlyMap<string, string>,
): object {
  return { door, principal: { id, kind, name: names.get(id) ?? name }, time }
}

/** References to a revision and its parents, named by the singulars of the surface (interface 5.15). */
export function presentReferences(
  singular: string,
  revision: Revision,
  options: Pick<PresentOptions, 'versionType'>,
): object {
  const { artifact, variant } = revision
  return {
    [singular]: { id: artifact.id, slug: artifact.slug },
    [`${singular}_variant`]: { id: variant.id, slug: variant.slug },
    [`${singular}_revision`]: presentShort(revision, options),
  }
}

/** A short revision (interface 6.2). */
export function presentShort(
  { id, slug, version }: Revision,
  options: Pick<PresentOptions, 'versionType'>,
): object {
  return { id, slug, version: presentVersion(version, options) }
}

/** A flat record: artifact, default variant and latest revision merged (interface 1.11). */
export async function presentFlat(
  flat: FlatArtifact,
  options: PresentOptions & Pick<PresentContext, 'signal'>,
  asked?: Reading,
): Promise<object> {
  const { artifact, revision } = flat
  const presented = revision && (await presentPayload(revision, options, asked))
  return {
    ...presentArtifact(artifact, options),
    flags: flatFlags(flat),
    variant_id: artifact.defaultVariant?.id,
    revision_id: revision?.id,
    data: presented?.data ?? {},
  }
}

/** The payload of a revision as its reader asked for it; undefined if there is none. */
export async function presentPayload(
  { artifact, id, stored }: Revision,
  { servicesBase, versionType, signal }: PresentOptions & Pick<PresentContext, 'signal'>,
  asked: Reading = PLAIN_READING,
): Promise<PresentedPayload | undefined> {
  if (stored.payload === undefined) return undefined
  const of = { artifactId: artifact.id, revisionId: id, source: artifact.repository.objects }
  return artifact.family.present(stored.payload, { ...of, asked, servicesBase, versionType, signal })
}

/** A git author, `Name <email>`, in the form that clients of this service read (interface 2.30, 4.19). */
export function presentAuthor(author: string, { authorType }: Pick<PresentOptions, 'authorType'>): string {
  return authorType === 'uuid' ? authorUuid(author) : author
}

/** A version in the form that clients of this service read (interface 4.5). */
export function presentVersion(
  version: number,
  { versionType }: Pick<PresentOptions, 'versionType'>,
): number | string {
  return versionType === 'string' ? String(version) : version
}

/** A parent's id and slug under every name that clients know it by. */
function parents(
  { answered }: PresentOptions,
  level: '' | '_variant',
  parent: { readonly id: string; readonly slug: string },
): Record<string, string> {
  const [id, slug] = level === '' ? ['artifact_id', 'artifact_slug'] : ['variant_id', 'variant_slug']
  const fields: Record<string, string> = { [id]: parent.id, [slug]: parent.slug }
  for (const name of answered) {
    fields[`${name}${level}_id`] = parent.id
    fields[`${name}${level}_slug`] = parent.slug
  }
  return fields
}

function headerOf({ name, description, tags, meta }: Header): object {
  return { name, description, tags, meta }
}

function lifecycleOf(record: ArtifactRecord | VariantRecord, options: PresentOptions): object {
  const { created_at, updated_at, deleted_at } = record
  return {
    created_at,
    created_by_id: personId(record.created_by_id, options),
    updated_at,
    updated_by_id: personId(record.updated_by_id, options),
    deleted_at,
    deleted_by_id: personId(record.deleted_by_id, options),
  }
}

/** Most are ids of keys, which are UUIDs. A commit by plain git has the text of its author. */
function personId(id: string | undefined, { authorType }: PresentOptions): string | undefined {
  return id === undefined || authorType === 'text' || parseUuid(id) !== undefined ? id : authorUuid(id)
}

/** The roles of the family from the artifact's record. Git may have brought other roles, which are left out. */
function shownFlags({
  family,
  record: { flags },
}: RecordedArtifact): Readonly<Record<string, boolean>> | undefined {
  if (!flags) return undefined
  return Object.fromEntries(family.roles.map((role) => [role, flags[role] ?? false]))
}
