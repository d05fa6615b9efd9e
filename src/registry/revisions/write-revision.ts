import { Refusal } from '../../errors.ts'
import { type Ident, type Oid, parseCommit, type TreeEntry } from '../../git/objects.ts'
import type { Transaction } from '../../git/transactions.ts'
import type { Json } from '../../base/json.ts'
import type { ArtifactState, Header } from '../artifacts/artifact-record.ts'
import { type ArtifactView, payloadTarget, stateNow } from '../artifacts/artifact-view.ts'
import { commitChange } from '../artifacts/change-artifact.ts'
import { assertPinsDeployable } from '../environments/assert-pins-deployable.ts'
import type { DocumentLimits } from '../payload/document-limits.ts'
import type {
  AcceptedPayload,
  MetRows,
  NamedAfter,
  Payload,
  PayloadTarget,
  Warning,
  WrittenPayload,
} from '../payload/family.ts'
import {
  jsonFileBytes,
  type ObjectReader,
  type ObjectSink,
  readBytes,
  readTree,
  writeFile,
  writeTree,
} from '../payload/tree-files.ts'
import { objectUuid } from '../store/ids.ts'
import { claimTag } from '../index/slug-table.ts'
import type { Registry } from '../store/registry.ts'
import { assertTagFree, NamesInUse } from '../slugs/claim-slugs.ts'
import { makeDefaultVariant } from '../variants/default-variant.ts'
import type { WriteContext } from '../store/write-context.ts'
import type { VariantLocation } from './references.ts'
import { assertActive, assertUnguarded } from './revision.ts'
import { revisionSubject } from './revision-subject.ts'
import { hasSlug, saySame } from './same-revision.ts'
import {
  boundedHeader,
  REVISION_FILE,
  type RevisionCache,
  type StoredRevision,
  type Trailers,
  writeCommit,
} from './stored-revision.ts'

/** The content of a commit request (interface 4.3, 4.20); `loc` is its place in the request. */
export interface CommitRequest {
  readonly message?: string | undefined
  readonly header: Header
  readonly slug?: string | undefined
  /** The whole payload, or undefined. */
  readonly data?: Json | undefined
  /** A validated payload, in place of `data`. */
  readonly payload?: Payload | undefined
  /** A change of the latest payload, if the request has one. */
  readonly delta?: Json | undefined
  /** A delta that is computed from the latest payload, in place of `delta`. If it is undefined, nothing is committed. */
  readonly change?: ((latest: Payload | undefined) => Promise<DeployedChange | undefined>) | undefined
  /** The revision for which a delta was made, if the request names one (interface 8.13). */
  readonly deltaBaseId?: string | undefined
  /** Refuses if this is not the latest revision: with `revision_conflict` … */
  readonly baseRevisionId?: string | undefined
  /** … or, if it came as If-Match, with `precondition_failed`. */
  readonly ifMatch?: string | undefined
  /** Refuses with `revision_exists` if the variant has a revision already. */
  readonly mustBeFirst?: boolean
  /** Commits nothing if payload and header equal the latest revision's, and a chosen slug is its slug already (interface 4.18). */
  readonly ifChanged?: boolean | undefined
  readonly trailers?: Trailers
  readonly loc: readonly (string | number)[]
}

/** A delta that deploys something, and the deployment for the commit's trailer. */
export interface DeployedChange {
  readonly delta: Json
  /** Checks that the deployed revision exists; see Transaction.require. */
  readonly requires: () => boolean
  /** The repository of the deployed revision. */
  readonly repository: string
  readonly trailers: Trailers
}

/** The result of a write: the new commit, or the latest one if there was nothing to commit. */
export interface WrittenRevision {
  readonly stored: StoredRevision
  /** Whether something was committed. */
  readonly changed: boolean
  /** The counts of sent rows that are not in the revision. */
  readonly met?: MetRows | undefined
  readonly warnings: readonly Warning[]
}

/**
 * Prepares a revision in a transaction of its artifact's repository, on top of the current refs. Refuses an archived or guarded target and a base
 * that is not the latest, writes the objects, moves the branch, and makes the variant if it is new. `accepted` is the validated `data`, if there
 * is any.
 */
export async function writeRevision(
  registry: Registry,
  place: VariantLocation,
  input: CommitRequest,
  accepted: AcceptedPayload | undefined,
  context: WriteContext,
  transaction: Transaction,
): Promise<WrittenRevision> {
  const { artifact, variant } = place
  const { family, digits, revisions } = artifact
  const state = await stateNow(artifact, transaction)
  assertUnguarded(family, state.artifact, context.actor)
  assertActive('artifact', artifact.slug, state.artifact)
  assertActive('variant', variant.slug, state.variants.get(variant.slug))
  if (variant.isPending) await makeDefaultVariant(registry, place, state, context, transaction)
  const branch = branchOf(place)
  const head = transaction.ref(branch)
  const latest = state.archived.size > 0 ? await latestCommit(transaction, state, digits, head) : head
  if (namesBase(input)) assertBase(place, input, head, latest)
  const target = payloadTarget(artifact, transaction)
  const planned = accepted ?? (await planChange(registry, artifact, input, latest, target))
  if ('stored' in planned) return planned
  const { payload, warnings = [], change }: PlannedPayload = planned
  if (change) transaction.require(change.requires, change.repository)
  // A deployment was checked for the key that it changes; all other keys stay as they are.
  if (family.pins && !change) await assertPins(registry, artifact, target, latest, payload)
  const trailers = { ...input.trailers, ...change?.trailers }
  const built = { ...input, artifact: artifact.slug, variant: variant.slug, parent: head, payload, trailers }
  const { revision: stored, met } = await buildRevision(registry, revisions, target, built, context)
  if (input.ifChanged && latest !== undefined) {
    const same = await sameAsLatest(registry, place, latest, { built, stored, context, transaction, target })
    if (same) return { stored: same, changed: false, met, warnings }
  }
  transaction.move(branch, stored.oid)
  if (context.attempt) transaction.note(context.attempt.noteOf(digits, branch, stored.oid, met))
  if (input.slug !== undefined)
    await nameRevision(registry, artifact, state, input.slug, stored.oid, context, transaction)
  // It is asked for soon.
  revisions.keep(stored)
  return { stored, changed: true, met, warnings }
}

/** A revision to be committed. */
export interface NewRevision {
  /** The slug of the artifact. */
  readonly artifact: string
  /** The slug of the variant. */
  readonly variant: string
  /** Undefined for the variant's first. */
  readonly parent: Oid | undefined
  /** What came from other revisions. */
  readonly taken?: TakenIn | undefined
  readonly message?: string | undefined
  /** Replaces the generated subject if there is no message. */
  readonly subject?: string | undefined
  readonly header?: Header | undefined
  /** The validated payload; undefined for a revision without one. */
  readonly payload: Payload | undefined
  /** Its own slug; the caller has checked that it is free. */
  readonly slug?: string | undefined
  /** The deployment for the commit's trailer. */
  readonly trailers?: Trailers
  /** The author, if that is not the committer. */
  readonly author?: Ident | undefined
}

/** A revision whose objects are written. */
export interface BuiltRevision {
  readonly revision: StoredRevision
  /** The counts of sent rows that are not in it. */
  readonly met: MetRows | undefined
}

/**
 * Writes the objects of a revision of a variant, after its parent. Answers the same as reading the revision would. Files of the parent's tree that
 * are neither payload nor header (such as a pushed README) are carried over.
 */
export async function buildRevision(
  registry: Registry,
  revisions: RevisionCache,
  target: PayloadTarget,
  revision: NewRevision,
  context: WriteContext,
): Promise<BuiltRevision> {
  const { variant, parent, taken, message, author, slug } = revision
  const { limits } = registry
  const { family } = revisions
  const known = taken || parent === undefined ? undefined : revisions.known(parent)
  const before = taken?.before ?? (parent === undefined ? [] : await rootOf(target, parent, known))
  const from = { parent: taken?.onto ?? (known && { ...known, entries: before }), other: taken?.other }
  const written = revision.payload && (await family.write(target, revision.payload, before, limits, from))
  const entries = [...(written?.entries ?? [])]
  for (const entry of before)
    if (entry.name !== REVISION_FILE && !family.ownsFile(entry.name)) entries.push(entry)
  const header = boundedHeader(revision.header ?? {})
  const { payload, files, size: payloadSize = 0 } = written?.stored ?? {}
  let size = payloadSize
  if (Object.keys(header).length > 0) size += writeHeader(target, header, limits, entries)
  const isSaid = message !== undefined && SAYS_SOMETHING.test(message)
  const made = { registry, revisions, target, revision, header, written }
  const subject = isSaid ? undefined : (revision.subject ?? (await subjectOf(made)))
  const parents = parent === undefined ? [] : [parent, ...(taken?.parents ?? [])]
  const by = family.pins && { deployBy: context.actor.id }
  const trailers = { ...revision.trailers, ...by, variant, ...(slug !== undefined && { slug }) }
  const said = { author, message: isSaid ? message : undefined, subject, trailers }
  const commit = writeCommit(
    registry,
    target,
    { tree: writeTree(target, entries), parents, ...said },
    context,
  )
  return { revision: { ...commit, header, payload, size, files }, met: written?.met }
}

/** Adds the header's file to the entries of a root tree, and answers its size. */
function writeHeader(sink: ObjectSink, header: Header, limits: DocumentLimits, entries: TreeEntry[]): number {
  const bytes = jsonFileBytes(header, limits)
  entries.push(writeFile(sink, REVISION_FILE, bytes))
  return bytes.length
}

/** A revision whose payload is written. */
interface Unsaid {
  readonly registry: Registry
  readonly revisions: RevisionCache
  readonly target: PayloadTarget
  readonly revision: NewRevision
  readonly header: Header
  readonly written: WrittenPayload | undefined
}

/** The generated subject of a revision without a message: what changed since its parent. */
async function subjectOf({
  registry,
  revisions,
  target,
  revision,
  header,
  written,
}: Unsaid): Promise<string> {
  const { artifact, parent } = revision
  const before = parent === undefined ? undefined : await revisions.readForList(target, parent)
  const { payload, files } = written?.stored ?? {}
  const after = { header, payload, files }
  const { families } = registry
  return revisionSubject({ ...written, families, family: revisions.family, artifact, before, after })
}

/** A message of characters that git treats as blank is empty. */
const SAYS_SOMETHING = /[^ \t\r\n]/

/** The other parts of a merge, beside its payload. */
export interface TakenIn {
  /** Parents behind the first. */
  readonly parents: readonly Oid[]
  /** The root tree onto which the payload is written, in place of the parent's. */
  readonly before: readonly TreeEntry[]
  /** The revision whose payload is `before`. */
  readonly onto?: NamedAfter | undefined
  /** The revision whose changes are merged. */
  readonly other?: NamedAfter | undefined
}

/** The entries of a commit's root tree; `known` is the commit if it is decoded already. */
export async function rootOf(
  source: ObjectReader,
  oid: Oid,
  known?: StoredRevision,
): Promise<readonly TreeEntry[]> {
  const commit = known?.commit ?? parseCommit(await readBytes(source, oid, 'commit'))
  return readTree(source, commit.tree)
}

/** The branch that a variant is. */
export function branchOf({ variant }: VariantLocation): string {
  return `refs/heads/${variant.slug}`
}

/**
 * The newest commit that is not archived individually. Walks the commits instead of the cached history, because the head may not be on the disk
 * yet.
 */
export async function latestCommit(
  transaction: Transaction,
  state: ArtifactState,
  digits: string,
  head: Oid | undefined,
): Promise<Oid | undefined> {
  let oid = head
  while (oid !== undefined && state.archived.has(objectUuid(oid, digits))) {
    oid = parseCommit(await readBytes(transaction, oid, 'commit')).parents[0]
  }
  return oid
}

/** Whether a commit names its base. */
function namesBase({ mustBeFirst, baseRevisionId, ifMatch, deltaBaseId }: CommitRequest): boolean {
  return mustBeFirst === true || (baseRevisionId ?? ifMatch ?? deltaBaseId) !== undefined
}

/** Refuses a commit whose named base is not `latest`, and one that needs a base and names none. */
function assertBase(
  { artifact, variant: { slug } }: VariantLocation,
  { mustBeFirst, baseRevisionId, ifMatch, delta, deltaBaseId, loc }: CommitRequest,
  head: Oid | undefined,
  latest: Oid | undefined,
): void {
  if (mustBeFirst && head !== undefined) throw notTheFirst(slug)
  const current = latest && objectUuid(latest, artifact.digits)
  if (baseRevisionId !== undefined && baseRevisionId !== current) throw movedOn(slug, baseRevisionId, current)
  // `*` matches any revision, and only an existing one (RFC 9110, 13.1.1).
  const isMatched = ifMatch === '*' ? current !== undefined : ifMatch === undefined || ifMatch === current
  if (!isMatched) throw notMatched(slug, ifMatch, current)
  // A delta that changes or removes rows is only valid for the revision for which it was made.
  if (delta === undefined || deltaBaseId === undefined || deltaBaseId === current) return
  if (!artifact.family.mayRebase(delta)) throw madeForAnother(slug, deltaBaseId, current, loc)
}

function notTheFirst(variant: string): Refusal {
  return new Refusal(
    'revision_exists',
    `The variant "${variant}" has revisions already. Add to them with revisions/commit.`,
  )
}

function latestIn(current: string | undefined): string {
  return current === undefined ? 'it has no revision' : `its latest revision is ${current}`
}

function movedOn(variant: string, base: string, current: string | undefined): Refusal {
  return new Refusal(
    'revision_conflict',
    `The variant "${variant}" moved on: ${latestIn(current)}, not base_revision_id ${base}. ` +
      `Retrieve it, work your change into it, and commit on top.`,
    { details: { base_revision_id: base, current_revision_id: current ?? null } },
  )
}

function notMatched(variant: string, ifMatch: string | undefined, current: string | undefined): Refusal {
  return new Refusal(
    'precondition_failed',
    `If-Match asks for ${ifMatch === '*' ? 'a revision' : ifMatch} on the variant "${variant}", but ${latestIn(current)}.`,
    { details: { current_revision_id: current ?? null } },
  )
}

function madeForAnother(
  variant: string,
  base: string,
  current: string | undefined,
  loc: CommitRequest['loc'],
): Refusal {
  return new Refusal(
    'revision_conflict',
    `The variant "${variant}" moved on: its latest revision is ${current ?? 'none'}, not ${base}, for which ` +
      `${loc.join('.')}.delta was made. Retrieve it, work your change into it, and commit on top.`,
    { details: { base_revision_id: base, current_revision_id: current ?? null } },
  )
}

/** The validated payload of a commit, and its deployment, if it is one. */
interface PlannedPayload {
  readonly payload?: Payload | undefined
  readonly warnings?: readonly Warning[]
  readonly change?: DeployedChange | undefined
}

/**
 * The payload of a commit without `data`: the result of a delta or a deployment on the latest payload. With neither, the revision has no payload.
 * That is allowed only if the latest one has none, so that nobody empties a prompt by mistake. If the deployment's revision is deployed already,
 * nothing is committed.
 */
async function planChange(
  registry: Registry,
  { family, revisions }: ArtifactView,
  input: CommitRequest,
  latest: Oid | undefined,
  target: PayloadTarget,
): Promise<PlannedPayload | WrittenRevision> {
  const base = latest === undefined ? undefined : (await revisions.read(target, latest)).payload
  const change = await input.change?.(base)
  if (input.change && !change && latest !== undefined)
    return { stored: await revisions.readForList(target, latest), changed: false, warnings: [] }
  const delta = change?.delta ?? input.delta
  if (delta !== undefined) {
    const { servicesBase, isExisting } = registry
    const context = { loc: [...input.loc, 'delta'], servicesBase, isExisting, target }
    return { ...(await family.applyDelta(base, delta, context)), change }
  }
  if (base === undefined) return { change }
  throw new Refusal(
    'missing_payload',
    'The commit brings neither data nor delta, and the variant has data. Send one.',
  )
}

/** Refuses to deploy an archived revision, unless the latest revision deploys it already. */
async function assertPins(
  registry: Registry,
  { family, revisions }: ArtifactView,
  target: PayloadTarget,
  latest: Oid | undefined,
  payload: Payload | undefined,
): Promise<void> {
  // An undecodable revision has no pins, and `data` repairs it.
  const before = latest === undefined ? undefined : await revisions.readForList(target, latest)
  await assertPinsDeployable(registry, family, payload, before?.payload)
}

/** A commit that was built on a variant's latest revision. */
interface Rebuilt {
  readonly built: NewRevision
  readonly stored: StoredRevision
  readonly context: WriteContext
  readonly transaction: Transaction
  readonly target: PayloadTarget
}

/** The latest revision, if the new commit would be equal to it and has no new slug. */
async function sameAsLatest(
  registry: Registry,
  place: VariantLocation,
  latest: Oid,
  { built, stored, context, transaction, target }: Rebuilt,
): Promise<StoredRevision | undefined> {
  const { artifact } = place
  // A chosen slug needs a commit of its own.
  if (!(await hasSlug(place, latest, built.slug, transaction))) return undefined
  let again = stored
  if (latest !== built.parent) {
    // The files of rows depend on the revision below. If the latest ones are archived, that is not the parent.
    const taken = { parents: [], before: await rootOf(target, latest) }
    again = (await buildRevision(registry, artifact.revisions, target, { ...built, taken }, context)).revision
  }
  const before = await artifact.revisions.readForList(target, latest)
  return (await saySame(artifact.family, target, again, before)) ? before : undefined
}

/** Gives a revision its chosen slug, and records the date. Refuses a slug that the artifact cannot have. */
async function nameRevision(
  registry: Registry,
  artifact: ArtifactView,
  state: ArtifactState,
  slug: string,
  commit: Oid,
  context: WriteContext,
  transaction: Transaction,
): Promise<void> {
  assertTagFree(artifact, NamesInUse.of(state, transaction), slug)
  claimTag(transaction, artifact.family, slug)
  transaction.setDerivedRef(`refs/tags/${slug}`, commit)
  const tags = new Map(state.tags).set(slug, registry.now().toISOString())
  const change = { subject: `Name revision ${commit.slice(0, 12)} ${slug}`, tags }
  await commitChange(registry, artifact, state, change, { actor: context.actor }, transaction)
}
