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

/** What a commit request says (interface 4.3, 4.20); `loc` is where it stands in the request. */
export interface CommitRequest {
  readonly message?: string | undefined
  readonly header: Header
  readonly slug?: string | undefined
  /** The whole payload, or undefined. */
  readonly data?: Json | undefined
  /** A payload that is ready to store, in place of `data`. */
  readonly payload?: Payload | undefined
  /** A change of the latest payload, or undefined. */
  readonly delta?: Json | undefined
  /** A delta that depends on the latest payload, in place of `delta`; where it is undefined, nothing is committed. */
  readonly change?: ((latest: Payload | undefined) => Promise<DeployedChange | undefined>) | undefined
  /** The revision that a delta was made for, if the request says (interface 8.13). */
  readonly deltaBaseId?: string | undefined
  /** Refuse unless this is the latest revision: with `revision_conflict` … */
  readonly baseRevisionId?: string | undefined
  /** … or, when it came as If-Match, with `precondition_failed`. */
  readonly ifMatch?: string | undefined
  /** Refuse with `revision_exists` unless the variant has no revision yet. */
  readonly mustBeFirst?: boolean
  /** Commit nothing where payload and header are those of the latest revision already, and a chosen slug is its own (interface 4.18). */
  readonly ifChanged?: boolean | undefined
  readonly trailers?: Trailers
  readonly loc: readonly (string | number)[]
}

/** A delta that deploys something, and what the commit says of it. */
export interface DeployedChange {
  readonly delta: Json
  /** Whether what is deployed is there; see Transaction.require. */
  readonly requires: () => boolean
  /** The repository of what is deployed. */
  readonly repository: string
  readonly trailers: Trailers
}

/** What a write came to: the new commit, or the latest one if there was nothing to commit. */
export interface WrittenRevision {
  readonly stored: StoredRevision
  /** Whether something was committed. */
  readonly changed: boolean
  /** What became of rows that were sent and are none of the revision's. */
  readonly met?: MetRows | undefined
  readonly warnings: readonly Warning[]
}

/**
 * Works a revision out in a transaction of its artifact's repository, on top of the refs as they are there: refuses what is
 * archived or guarded and a base that is not the latest, writes the objects, moves the branch, and makes the variant if it
 * is one that is to be. `accepted` is what became of `data`, if there is any.
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
  // A deployment has judged what it deploys, and leaves every other key as it is.
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

/** A revision that is to be committed. */
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
  /** What stands where there is no message, in place of what changed. */
  readonly subject?: string | undefined
  readonly header?: Header | undefined
  /** The payload, ready to store; undefined for a revision without one. */
  readonly payload: Payload | undefined
  /** A slug of its own; the caller has made sure that it is free. */
  readonly slug?: string | undefined
  /** What it has to say about deployments. */
  readonly trailers?: Trailers
  /** Who wrote it, if that is not who commits it. */
  readonly author?: Ident | undefined
}

/** A revision whose objects are written. */
export interface BuiltRevision {
  readonly revision: StoredRevision
  /** What became of rows that were sent and are none of its own. */
  readonly met: MetRows | undefined
}

/**
 * Writes the objects of a revision on its variant after its parent, and answers what reading it will. Files of the parent's tree that are
 * neither payload nor header (a README that was pushed) are carried over.
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
  const trailers = { ...revision.trailers, variant, ...(slug !== undefined && { slug }) }
  const said = { author, message: isSaid ? message : undefined, subject, trailers }
  const commit = writeCommit(
    registry,
    target,
    { tree: writeTree(target, entries), parents, ...said },
    context,
  )
  return { revision: { ...commit, header, payload, size, files }, met: written?.met }
}

/** Adds the header's file to the entries of a root, and answers its size. */
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

/** What a revision without a message says: what it changes of its parent. */
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

/** What git counts as blank says nothing. */
const SAYS_SOMETHING = /[^ \t\r\n]/

/** What a merge brings beside a payload. */
export interface TakenIn {
  /** Parents behind the first. */
  readonly parents: readonly Oid[]
  /** The root that the payload is written onto, in place of the parent's. */
  readonly before: readonly TreeEntry[]
  /** The revision that `before` is of, but for files that are no payload. */
  readonly onto?: NamedAfter | undefined
  /** The revision whose changes are taken in. */
  readonly other?: NamedAfter | undefined
}

/** The entries of a commit's root; `known` is the commit, if it is decoded already. */
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

/** The newest commit not archived by itself. Walks the commits, not the history: the head may not be on the disk yet. */
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

/** Whether a commit says what it goes on from. */
function namesBase({ mustBeFirst, baseRevisionId, ifMatch, deltaBaseId }: CommitRequest): boolean {
  return mustBeFirst === true || (baseRevisionId ?? ifMatch ?? deltaBaseId) !== undefined
}

/** Refuses a commit that names another revision as its base than the latest, which is `latest`, or that goes on from none. */
function assertBase(
  { artifact, variant: { slug } }: VariantLocation,
  { mustBeFirst, baseRevisionId, ifMatch, delta, deltaBaseId, loc }: CommitRequest,
  head: Oid | undefined,
  latest: Oid | undefined,
): void {
  if (mustBeFirst && head !== undefined) throw notTheFirst(slug)
  const current = latest && objectUuid(latest, artifact.digits)
  if (baseRevisionId !== undefined && baseRevisionId !== current) throw movedOn(slug, baseRevisionId, current)
  // `*` is met by any revision, and only by one (RFC 9110, 13.1.1).
  const isMatched = ifMatch === '*' ? current !== undefined : ifMatch === undefined || ifMatch === current
  if (!isMatched) throw notMatched(slug, ifMatch, current)
  // A delta that does more than add belongs to the revision it was made for.
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

/** The payload of a commit, ready to store, and the deployment that it is, if it is one. */
interface PlannedPayload {
  readonly payload?: Payload | undefined
  readonly warnings?: readonly Warning[]
  readonly change?: DeployedChange | undefined
}

/**
 * The payload of a commit that brings no whole one: what a delta, or a deployment, makes of the latest. With neither it is a revision without
 * a payload, which only a variant whose latest has none takes, so that nobody empties a prompt by mistake. Where a deployment finds its
 * revision deployed already, the answer is that nothing was committed.
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

/** Refuses to pin what is archived, but for what the latest revision pins. */
async function assertPins(
  registry: Registry,
  { family, revisions }: ArtifactView,
  target: PayloadTarget,
  latest: Oid | undefined,
  payload: Payload | undefined,
): Promise<void> {
  // One that does not decode holds no pins, and data mends it.
  const before = latest === undefined ? undefined : await revisions.readForList(target, latest)
  await assertPinsDeployable(registry, family, payload, before?.payload)
}

/** What was built on a variant's latest revision. */
interface Rebuilt {
  readonly built: NewRevision
  readonly stored: StoredRevision
  readonly context: WriteContext
  readonly transaction: Transaction
  readonly target: PayloadTarget
}

/** The latest revision, if a commit that was built says the same and has no slug that the latest has not. */
async function sameAsLatest(
  registry: Registry,
  place: VariantLocation,
  latest: Oid,
  { built, stored, context, transaction, target }: Rebuilt,
): Promise<StoredRevision | undefined> {
  const { artifact } = place
  // Without a commit of its own a chosen slug would be dropped.
  if (!(await hasSlug(place, latest, built.slug, transaction))) return undefined
  let again = stored
  if (latest !== built.parent) {
    // Where rows lie depends on the revision that they are written onto: below archived ones that is another one than the parent.
    const taken = { parents: [], before: await rootOf(target, latest) }
    again = (await buildRevision(registry, artifact.revisions, target, { ...built, taken }, context)).revision
  }
  const before = await artifact.revisions.readForList(target, latest)
  return (await saySame(artifact.family, target, again, before)) ? before : undefined
}

/** Gives a revision the slug that was chosen for it, and records since when. Refuses one that the artifact cannot have. */
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
