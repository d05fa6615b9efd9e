import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects.ts'
import type { Transaction } from '../../git/transactions.ts'
import {
  type ArtifactState,
  type Header,
  META_REF,
  readArtifactState,
  type StateChange,
  type VariantRecord,
  writeArtifactState,
} from './artifact-record.ts'
import { spelledFolder } from './folders.ts'
import { type ArtifactView, findVariant, type VariantView } from './artifact-view.ts'
import { assertActive, assertUnguarded } from '../revisions/revision.ts'
import { findEarlierAttempt } from '../revisions/find-earlier-attempt.ts'
import { objectUuid } from '../store/ids.ts'
import type { Registry } from '../store/registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { assertHeaderLength, writeCommit } from '../revisions/stored-revision.ts'
import type { WriteContext } from '../store/write-context.ts'

/** A change to an artifact's state, and its line in the history. */
export interface MetaChange extends StateChange {
  /** The commit's subject on refs/meta/artifact, such as `Archive variant main`. */
  readonly subject: string
}

/** Computes a change from the stored state (or the state just before it in the same batch). */
export type PlanChange = (state: ArtifactState, transaction: Transaction) => Promise<MetaChange> | MetaChange

/**
 * Commits a change to an artifact's refs/meta/artifact by the actor, and returns the changed artifact. Every
 * edit, archive and new variant uses this.
 */
export async function changeArtifact(
  registry: Registry,
  artifact: ArtifactView,
  context: WriteContext,
  plan: PlanChange,
): Promise<ArtifactView> {
  const earlier = await findEarlierAttempt(registry, artifact, META_REF, context)
  if (earlier) return earlier.artifact
  await artifact.repository.transact(async (transaction) => {
    const head = transaction.ref(META_REF)
    if (head === undefined) {
      throw new Refusal(
        'artifact_not_found',
        `The ${artifact.family.name} "${artifact.slug}" is gone from the store.`,
      )
    }
    const state = await readArtifactState(transaction, head)
    assertUnguarded(artifact.family, state.artifact, context.actor)
    const change = await plan(state, transaction)
    // A user who sets a guard must be able to remove it.
    if (change.artifact) assertUnguarded(artifact.family, change.artifact, context.actor)
    const commit = await commitChange(registry, artifact, state, change, context, transaction)
    const { attempt } = context
    if (attempt) transaction.note(attempt.noteOf(artifact.digits, META_REF, commit))
  })
  return registry.index.written(artifact.family, artifact.slug)
}

/** Adds a commit with the change to refs/meta/artifact in the transaction, and returns it. */
export async function commitChange(
  registry: Registry,
  artifact: ArtifactView,
  state: ArtifactState,
  change: MetaChange,
  context: WriteContext,
  transaction: Transaction,
): Promise<Oid> {
  const head = transaction.ref(META_REF)
  if (head === undefined) throw new Error(`${artifact.slug} has a state, and no commit that holds it`)
  const whole = withClaims(artifact, state, change)
  const commit = {
    tree: await writeArtifactState(transaction, head, whole, registry.limits),
    parents: [head],
    message: change.subject,
  }
  const { oid } = writeCommit(registry, transaction, commit, context)
  transaction.move(META_REF, oid)
  return oid
}

/**
 * Adds to the change the dates of branches and tags without a record: of those that it changes, or of all if an earlier version recorded no
 * tags (decision 40).
 */
function withClaims(
  { variants, tagsSince }: ArtifactView,
  state: ArtifactState,
  change: MetaChange,
): StateChange {
  const isFirst = state.tags === undefined
  const claimed = new Map<string, VariantRecord>()
  for (const { slug, record, since } of variants) {
    const isChanged = change.variants !== undefined && Object.hasOwn(change.variants, slug)
    const changed = isChanged ? change.variants[slug] : isFirst ? record : undefined
    if (changed && !state.variants.has(slug) && changed.claimed_at === undefined)
      claimed.set(slug, since === record.created_at ? changed : { ...changed, claimed_at: since })
  }
  return {
    ...change,
    ...(claimed.size > 0 ? { variants: { ...change.variants, ...Object.fromEntries(claimed) } } : {}),
    ...(isFirst ? { tags: new Map([...tagsSince, ...(change.tags ?? [])]) } : {}),
  }
}

/** An edit of a header: a field left out keeps its value, null clears it (interface 4.23). */
export type HeaderEdit = { readonly [K in keyof Header]?: Header[K] | null }

/** The same for an artifact, whose flags may be computed from the current ones inside the transaction. */
export interface ArtifactEdit extends Omit<HeaderEdit, 'flags'> {
  readonly flags?: HeaderEdit['flags'] | FlagsEdit
  /** The folder; null or the empty text is the root. */
  readonly folder?: string | null | undefined
}

/** Computes the new flags of an artifact; null clears them. */
export type FlagsEdit = (before: Header['flags']) => Header['flags'] | null

/** Edits an artifact's name, description, flags, tags, meta or folder. Refuses an archived artifact. */
export async function editArtifact(
  registry: Registry,
  artifact: ArtifactView,
  { flags, folder, ...edit }: ArtifactEdit,
  context: WriteContext,
): Promise<ArtifactView> {
  const place = folder ? await spelledFolder(registry.whole, folder) : folder
  if (place !== undefined) registry.limit?.assertIncludes(place ?? '')
  return changeArtifact(registry, artifact, context, (state) => {
    assertActive('artifact', artifact.slug, state.artifact)
    const edited = typeof flags === 'function' ? flags(state.artifact.flags) : flags
    const whole = edited === undefined ? edit : { ...edit, flags: edited }
    const moved = place === undefined ? state.artifact : { ...state.artifact, folder: place || undefined }
    const record = { ...applyEdit(moved, whole), ...updated(registry, context) }
    return { subject: `Edit ${artifact.family.name} ${artifact.slug}`, artifact: record }
  })
}

/** Edits a variant's header in the same way; flags belong to the artifact and have no effect here. */
export async function editVariant(
  registry: Registry,
  { artifact, variant }: VariantLocation,
  edit: HeaderEdit,
  context: WriteContext,
): Promise<VariantLocation> {
  const changed = await changeArtifact(registry, artifact, context, (state) => {
    assertActive('artifact', artifact.slug, state.artifact)
    const before = state.variants.get(variant.slug) ?? variant.record
    assertActive('variant', variant.slug, before)
    const record = { ...applyEdit(before, edit), ...updated(registry, context) }
    return { subject: `Edit variant ${variant.slug}`, variants: { [variant.slug]: record } }
  })
  return { artifact: changed, variant: variantInView(changed, variant) }
}

/** The same variant in a newer view of its artifact. */
export function variantInView(artifact: ArtifactView, variant: VariantView): VariantView {
  return findVariant(artifact, variant.slug) ?? variant
}

/** The time and author of a change, for its record. */
export function updated(
  registry: Registry,
  { actor }: WriteContext,
): { updated_at: string; updated_by_id: string } {
  return { updated_at: registry.now().toISOString(), updated_by_id: actor.id }
}

function applyEdit<T extends Header>(record: T, edit: HeaderEdit): T {
  assertHeaderLength(edit)
  const changed = { ...record, ...edit }
  // Null clears a field: the codec leaves out undefined.
  return Object.fromEntries(
    Object.entries(changed).filter(([, value]) => value !== null && value !== undefined),
  ) as T
}

/** Whether to archive or to unarchive. Repeating either changes nothing (interface 4.26). */
export type ArchiveAction = 'archive' | 'unarchive'

/** Archives or unarchives an artifact, which hides or shows its variants and revisions. */
export async function archiveArtifact(
  registry: Registry,
  artifact: ArtifactView,
  action: ArchiveAction,
  context: WriteContext,
): Promise<ArtifactView> {
  if (isDone(artifact.record, action)) return artifact
  return changeArtifact(registry, artifact, context, (state) => ({
    subject: `${verb(action)} ${artifact.family.name} ${artifact.slug}`,
    artifact: stamped(registry, state.artifact, action, context),
  }))
}

/** Archives or unarchives a variant, which hides or shows the revisions that no other live variant has. */
export async function archiveVariant(
  registry: Registry,
  { artifact, variant }: VariantLocation,
  action: ArchiveAction,
  context: WriteContext,
): Promise<VariantLocation> {
  if (isDone(variant.record, action)) return { artifact, variant }
  const changed = await changeArtifact(registry, artifact, context, (state) => {
    const record = stamped(registry, state.variants.get(variant.slug) ?? variant.record, action, context)
    return { subject: `${verb(action)} variant ${variant.slug}`, variants: { [variant.slug]: record } }
  })
  return { artifact: changed, variant: variantInView(changed, variant) }
}

/** The outermost archived level of an artifact, variant or revision; undefined if none is archived. */
export function archivedLevel(
  { record, archived }: ArtifactView,
  variant: VariantView | undefined,
  revisionId: string | undefined,
): 'artifact' | 'variant' | 'revision' | undefined {
  if (record.deleted_at !== undefined) return 'artifact'
  if (variant?.record.deleted_at !== undefined) return 'variant'
  return revisionId !== undefined && archived.has(revisionId) ? 'revision' : undefined
}

/** Archives or unarchives a revision; it stays resolvable by id and version for ever. */
export async function archiveRevision(
  registry: Registry,
  place: RevisionLocation,
  action: ArchiveAction,
  context: WriteContext,
): Promise<RevisionLocation> {
  const { artifact, variant, oid, version } = place
  const id = objectUuid(oid, artifact.digits)
  if (artifact.archived.has(id) === (action === 'archive')) return place
  const record =
    action === 'archive'
      ? { deleted_at: registry.now().toISOString(), deleted_by_id: context.actor.id }
      : undefined
  const changed = await changeArtifact(registry, artifact, context, () => ({
    subject: `${verb(action)} revision ${oid.slice(0, 12)} (${variant.slug} version ${version})`,
    archived: { [id]: record },
  }))
  return { artifact: changed, variant: variantInView(changed, variant), oid, version }
}

function isDone(record: { readonly deleted_at?: string | undefined }, action: ArchiveAction): boolean {
  return (record.deleted_at !== undefined) === (action === 'archive')
}

function stamped<T extends object>(
  registry: Registry,
  record: T,
  action: ArchiveAction,
  context: WriteContext,
): T {
  const stamp = updated(registry, context)
  if (action === 'archive') {
    return { ...record, ...stamp, deleted_at: stamp.updated_at, deleted_by_id: stamp.updated_by_id }
  }
  return { ...record, ...stamp, deleted_at: undefined, deleted_by_id: undefined }
}

function verb(action: ArchiveAction): string {
  return action === 'archive' ? 'Archive' : 'Unarchive'
}
