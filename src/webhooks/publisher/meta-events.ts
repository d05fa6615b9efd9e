import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../../errors.ts'
import type { Commit } from '../../git/objects/commit.ts'
import { parseCommit } from '../../git/objects/commit.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Json } from '../../json/json.ts'
import type { ArtifactState } from '../../versioning/artifacts/artifact-record.ts'
import { readArtifactState } from '../../versioning/artifacts/artifact-record.ts'
import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import type { VariantRecord } from '../../versioning/artifacts/records.ts'
import { decodeMessage } from '../../versioning/revisions/commit-message.ts'
import { variantUuid } from '../../versioning/ids.ts'
import type { Registry } from '../../versioning/registry.ts'
import { findRevisionById, readListedRevision } from '../../versioning/revisions/revision.ts'
import { readBytes } from '../../versioning/family/tree-files.ts'
import type { EventType } from '../event-types.ts'
import type { Happening } from '../registry-event.ts'
import { artifactReference } from '../registry-event.ts'
import { revisionReferences } from './revision-references.ts'
import type { PublishCursor } from './publish-cursor.ts'

/** What of an artifact a change is about. */
type Change = Pick<Happening, 'type' | 'subject' | 'references'> & { readonly start?: Oid | undefined }

/** What the commits on refs/meta/artifact changed since it was told, oldest first; undefined for a new artifact. */
export async function metaEvents(
  registry: Registry,
  view: ArtifactView,
  before: PublishCursor | undefined,
): Promise<readonly Happening[]> {
  const { objects } = view.repository
  const commits = await commitsSince(view, before?.meta)
  const happenings: Happening[] = []
  const [oldest] = commits
  let state = oldest && (await stateBefore(view, oldest.commit, before))
  for (const { oid, commit } of commits) {
    const after = oid === view.metaCommit ? view.source.state : await readArtifactState(objects, oid)
    const changes = [
      ...artifactChanges(view, state, after),
      ...variantChanges(view, state, after, before),
      ...(await revisionChanges(registry, view, state, after)),
    ]
    const { committer, author, message } = commit
    for (const { start, ...change } of changes) {
      happenings.push({
        ...change,
        rank: await rankOf(view, change.type, start),
        cause: oid,
        seconds: committer.seconds,
        actor: author,
        said: decodeMessage(message),
      })
    }
    state = after
  }
  return happenings
}

/** What is made comes first, a fork right after the revision it began at, everything else last. */
async function rankOf(
  { repository }: ArtifactView,
  type: EventType,
  start: Oid | undefined,
): Promise<number> {
  if (type === 'variant.forked' && start !== undefined)
    return (await repository.history.node(start)).depth + 0.5
  return type === 'artifact.created' || type === 'variant.created' ? 0 : Number.POSITIVE_INFINITY
}

/** The commits after `told`, oldest first; the newest alone if the history that was told has been replaced. */
async function commitsSince(
  { repository, metaCommit }: ArtifactView,
  told: Oid | undefined,
): Promise<{ readonly oid: Oid; readonly commit: Commit }[]> {
  const commits = []
  let oid: Oid | undefined = metaCommit
  while (oid !== undefined && oid !== told) {
    const commit = parseCommit(await readBytes(repository.objects, oid, 'commit'))
    commits.push({ oid, commit })
    oid = commit.parents[0]
  }
  const isReplaced = told !== undefined && oid === undefined
  return isReplaced ? commits.slice(0, 1) : commits.reverse()
}

/** What the oldest of the commits changed; nothing if that is not known any more, and then its own state counts as old. */
async function stateBefore(
  { repository, source, metaCommit }: ArtifactView,
  { parents }: Commit,
  before: PublishCursor | undefined,
): Promise<ArtifactState | undefined> {
  const oid = before?.meta ?? parents[0]
  if (oid === undefined) return undefined
  try {
    return await readArtifactState(repository.objects, oid)
  } catch (error) {
    if (!(error instanceof Refusal) || oid === metaCommit) throw error
    return source.state
  }
}

function artifactChanges(
  view: ArtifactView,
  before: ArtifactState | undefined,
  { artifact }: ArtifactState,
): Change[] {
  const type = before
    ? changeOf('artifact', before.artifact, artifact)
    : ('artifact.created' satisfies EventType)
  return type ? [{ type, subject: '', references: [artifactReference(view)] }] : []
}

function variantChanges(
  view: ArtifactView,
  before: ArtifactState | undefined,
  { variants }: ArtifactState,
  told: PublishCursor | undefined,
): Change[] {
  return [...variants].flatMap(([slug, record]): Change[] => {
    const old = before?.variants.get(slug)
    // A branch that git brought was told of before it had a record.
    const isKnown = old !== undefined || (told !== undefined && told.heads.get(slug) !== undefined)
    const made = record.start === undefined ? 'variant.created' : 'variant.forked'
    const type = isKnown ? changeOfKnown(old, record) : made
    const reference: [string, Json] = [
      `${view.family.name}_variant`,
      { id: variantUuid(slug, view.digits), slug },
    ]
    if (!type) return []
    return [{ type, subject: slug, references: [artifactReference(view), reference], start: record.start }]
  })
}

async function revisionChanges(
  registry: Registry,
  view: ArtifactView,
  before: ArtifactState | undefined,
  { archived }: ArtifactState,
): Promise<Change[]> {
  const old = before?.archived ?? new Map<string, unknown>()
  const changed: [EventType, string][] = []
  for (const id of archived.keys()) if (!old.has(id)) changed.push(['revision.archived', id])
  for (const id of old.keys()) if (!archived.has(id)) changed.push(['revision.unarchived', id])
  return Promise.all(
    changed.map(async ([type, id]) => {
      const place = await findRevisionById(registry, view, id)
      const references = place && revisionReferences(await readListedRevision(registry, place))
      return { type, subject: id, references: references ?? [artifactReference(view)] }
    }),
  )
}

/** The first record of a branch that git brought says nothing new, unless somebody changed it. */
function changeOfKnown(old: VariantRecord | undefined, record: VariantRecord): EventType | undefined {
  return old === undefined && record.updated_at === undefined
    ? undefined
    : changeOf('variant', old ?? {}, record)
}

/** What became of a record; undefined if nothing did. */
function changeOf(
  level: 'artifact' | 'variant',
  before: { readonly deleted_at?: string | undefined },
  after: { readonly deleted_at?: string | undefined },
): EventType | undefined {
  const [was, is] = [before.deleted_at !== undefined, after.deleted_at !== undefined]
  if (was !== is) return is ? `${level}.archived` : `${level}.unarchived`
  return isDeepStrictEqual(before, after) ? undefined : `${level}.edited`
}
