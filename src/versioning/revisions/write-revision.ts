import { Refusal } from '../../errors.ts'
import { parseCommit } from '../../git/objects/object.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Transaction } from '../../git/transactions/transaction.ts'
import { equalInSlices } from '../../json/diff/equal-json.ts'
import type { Json } from '../../json/json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { type ArtifactState, type Header, META_REF, readArtifactState } from '../artifacts/artifact-record.ts'
import { type ArtifactView, isPending } from '../artifacts/artifact-view.ts'
import { commitChange } from '../artifacts/change-artifact.ts'
import { assertActive, assertUnguarded } from '../artifacts/write-guards.ts'
import { assertPinsDeployable } from '../environments/assert-pins-deployable.ts'
import { documentOf } from '../family/document-family.ts'
import { asLarge } from '../family/large-document.ts'
import type { AcceptedPayload, Family, MetRows, Payload, PayloadTarget, Warning } from '../family/family.ts'
import { payloadTarget } from '../family/payload-target.ts'
import type { ObjectReader } from '../family/tree-files.ts'
import { readBytes, readTree } from '../family/tree-files.ts'
import { noteDecided } from '../idempotency/find-earlier-attempt.ts'
import { objectUuid } from '../ids.ts'
import type { Registry } from '../registry.ts'
import { assertTagFree, NamesInUse } from '../slugs/claim-slugs.ts'
import { claimTag } from '../index/slug-table.ts'
import { numberedBase } from '../slugs/slug.ts'
import { makeDefaultVariant } from '../variants/default-variant.ts'
import type { WriteContext } from '../write-context.ts'
import { buildRevision, type NewRevision, rootOf } from './build-revision.ts'
import type { Trailers } from './write-commit.ts'
import { REVISION_FILE } from './decoded-revision.ts'
import type { StoredRevision } from './decoded-revision.ts'
import type { VariantLocation } from './references.ts'

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
  { artifact, variant }: VariantLocation,
  input: CommitRequest,
  accepted: AcceptedPayload | undefined,
  context: WriteContext,
  transaction: Transaction,
): Promise<WrittenRevision> {
  const { family } = artifact
  const branch = branchOf({ artifact, variant })
  const state = await stateNow(artifact, transaction)
  const target = payloadTarget(artifact, transaction)
  assertUnguarded(family, state.artifact, context.actor)
  assertActive('artifact', artifact.slug, state.artifact)
  assertActive('variant', variant.slug, state.variants.get(variant.slug))
  if (isPending({ artifact, variant })) {
    await makeDefaultVariant(registry, { artifact, variant }, state, context, transaction)
  }
  const head = transaction.ref(branch)
  const latest = await latestCommit(transaction, state, artifact.digits, head)
  const latestId = latest && objectUuid(latest, artifact.digits)
  assertBase(input, latestId, variant.slug, head !== undefined)
  assertDeltaBase(family, input, latestId, variant.slug)
  const revisions = registry.revisions(family)
  const payloadOf = async (oid: Oid | undefined) =>
    oid === undefined ? undefined : (await revisions.read(target, oid)).payload
  const change = await input.change?.(await payloadOf(latest))
  if (input.change && !change && latest !== undefined)
    return { stored: await revisions.readForList(target, latest), changed: false, warnings: [] }
  if (change) transaction.require(change.requires, change.repository)
  const { loc } = input
  const delta = change?.delta ?? input.delta
  const payload =
    accepted ?? (await payloadFromDelta(registry, family, target, await payloadOf(latest), delta, loc))
  // A deployment has judged what it deploys, and leaves every other key as it is.
  if (family.pins && !change) {
    // One that does not decode holds no pins, and data mends it.
    const before = latest === undefined ? undefined : await revisions.readForList(target, latest)
    await assertPinsDeployable(registry, family, payload?.payload, before?.payload)
  }
  const built: NewRevision = {
    artifact: artifact.slug,
    variant: variant.slug,
    parent: head,
    message: input.message,
    header: input.header,
    slug: input.slug,
    payload: payload?.payload,
    trailers: { ...input.trailers, ...change?.trailers },
  }
  const { revision: stored, met } = await buildRevision(registry, family, target, built, context)
  const warnings = payload?.warnings ?? []
  // Without a commit of its own a chosen slug would be dropped.
  const mayBeSame = input.ifChanged && (await hasSlug({ artifact, variant }, latest, input.slug, transaction))
  if (mayBeSame && latest !== undefined) {
    // Where rows lie depends on the revision that they are written onto: below archived ones that is another one than the parent.
    const onLatest = { ...built, taken: { parents: [], before: await rootOf(target, latest), other: [] } }
    const again =
      latest === head ? stored : (await buildRevision(registry, family, target, onLatest, context)).revision
    const before = await revisions.readForList(target, latest)
    if (await saySame(family, target, again, before)) return { stored: before, changed: false, met, warnings }
  }
  transaction.move(branch, stored.oid)
  noteDecided(transaction, artifact, branch, stored.oid, context, met)
  if (input.slug !== undefined) {
    const named = { slug: input.slug, commit: stored.oid }
    await nameRevision(registry, artifact, state, named, context, transaction)
  }
  // It is asked for soon.
  revisions.keep(stored)
  return { stored, changed: true, met, warnings }
}

/** Whether a revision has the slug that is asked for, as its tag or as its version on the variant; any has none. */
async function hasSlug(
  { artifact, variant }: VariantLocation,
  oid: Oid | undefined,
  slug: string | undefined,
  transaction: Transaction,
): Promise<boolean> {
  if (slug === undefined) return true
  if (oid === undefined) return false
  if (transaction.ref(`refs/tags/${slug}`) === oid) return true
  if (numberedBase(slug) !== variant.slug) return false
  const { objects, history } = artifact.repository
  let stored: Oid | undefined = oid
  let version = 0
  // The newest may not be on the disk yet.
  for (; stored !== undefined && !(await objects.has(stored)); version++) {
    stored = parseCommit(await readBytes(transaction, stored, 'commit')).parents[0]
  }
  if (stored !== undefined) version += (await history.node(stored)).depth
  return slug === `${variant.slug}-${version}`
}

/** Whether two revisions say the same, their messages aside: of documents and headers as JSON, so that the order of keys does not count. */
async function saySame(
  family: Family,
  source: ObjectReader,
  one: StoredRevision,
  other: StoredRevision,
): Promise<boolean> {
  if (one.commit.tree === other.commit.tree) return true
  // Of what does not decode, or is larger than a commit can be, no commit says the same.
  if (other.damage || asLarge(other.payload)) return false
  const slice = new TimeSlice()
  if (family.rowsFolder !== undefined) {
    const filesOf = async ({ commit }: StoredRevision): Promise<readonly string[]> =>
      (await readTree(source, commit.tree)).flatMap(({ name, oid }) =>
        name === REVISION_FILE ? [] : `${oid} ${name}`,
      )
    if ((await filesOf(one)).join('\n') !== (await filesOf(other)).join('\n')) return false
    return equalInSlices(one.header as Json, other.header as Json, slice)
  }
  const contentOf = ({ header, payload }: StoredRevision): Json => [
    header as Json,
    payload === undefined ? null : documentOf(payload),
  ]
  return equalInSlices(contentOf(one), contentOf(other), slice)
}

/** Gives a revision the slug that was chosen for it, and records since when. Refuses one that the artifact cannot have. */
async function nameRevision(
  registry: Registry,
  artifact: ArtifactView,
  state: ArtifactState,
  { slug, commit }: { readonly slug: string; readonly commit: Oid },
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

/** The branch that a variant is. */
export function branchOf({ variant }: VariantLocation): string {
  return `refs/heads/${variant.slug}`
}

/** What is archived now, in a transaction; read again only if the meta ref moved since the view was made. */
export async function stateNow(artifact: ArtifactView, transaction: Transaction): Promise<ArtifactState> {
  const head = transaction.ref(META_REF)
  if (head === artifact.metaCommit) return artifact.source.state
  if (head === undefined)
    throw new Refusal('artifact_not_found', `"${artifact.slug}" is gone from the store.`)
  return readArtifactState(transaction, head)
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

function assertBase(
  input: CommitRequest,
  current: string | undefined,
  variant: string,
  hasHead: boolean,
): void {
  if (input.mustBeFirst && hasHead) {
    throw new Refusal(
      'revision_exists',
      `The variant "${variant}" has revisions already. Add to them with revisions/commit.`,
    )
  }
  const details = { current_revision_id: current ?? null }
  const now = current === undefined ? 'it has no revision' : `its latest revision is ${current}`
  if (input.baseRevisionId !== undefined && input.baseRevisionId !== current) {
    throw new Refusal(
      'revision_conflict',
      `The variant "${variant}" moved on: ${now}, not base_revision_id ${input.baseRevisionId}. ` +
        `Retrieve it, work your change into it, and commit on top.`,
      { details: { base_revision_id: input.baseRevisionId, ...details } },
    )
  }
  // `*` is met by any revision, and only by one (RFC 9110, 13.1.1).
  const isMatched = input.ifMatch === '*' ? current !== undefined : input.ifMatch === current
  if (input.ifMatch !== undefined && !isMatched) {
    throw new Refusal(
      'precondition_failed',
      `If-Match asks for ${input.ifMatch === '*' ? 'a revision' : input.ifMatch} on the variant "${variant}", but ${now}.`,
      { details },
    )
  }
}

/** A delta that does more than add belongs to the revision it was made for. */
function assertDeltaBase(
  family: Family,
  { delta, deltaBaseId, loc }: CommitRequest,
  current: string | undefined,
  variant: string,
): void {
  if (delta === undefined || deltaBaseId === undefined || deltaBaseId === current) return
  if (family.mayRebase(delta)) return
  throw new Refusal(
    'revision_conflict',
    `The variant "${variant}" moved on: its latest revision is ${current ?? 'none'}, not ${deltaBaseId}, for which ` +
      `${loc.join('.')}.delta was made. Retrieve it, work your change into it, and commit on top.`,
    { details: { base_revision_id: deltaBaseId, current_revision_id: current ?? null } },
  )
}

/**
 * A delta starts from the latest payload. With neither data nor delta the revision is one without a payload, which only
 * a variant whose latest has none takes, so that nobody empties a prompt by mistake.
 */
async function payloadFromDelta(
  registry: Registry,
  family: Family,
  target: PayloadTarget,
  base: Payload | undefined,
  delta: Json | undefined,
  loc: readonly (string | number)[],
): Promise<AcceptedPayload | undefined> {
  if (delta !== undefined) {
    const { servicesBase, isExisting } = registry
    return family.applyDelta(base, delta, { loc: [...loc, 'delta'], servicesBase, isExisting, target })
  }
  if (base === undefined) return undefined
  throw new Refusal(
    'missing_payload',
    'The commit brings neither data nor delta, and the variant has data. Send one.',
  )
}
