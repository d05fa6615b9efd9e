import { Refusal } from '../errors.ts'
import { parseCommit } from '../git/commit.ts'
import type { Oid } from '../git/object.ts'
import type { Transaction } from '../git/transaction.ts'
import type { Json } from '../json/json.ts'
import type { ArtifactState } from './artifact-state.ts'
import { META_REF, readArtifactState } from './artifact-state.ts'
import type { ArtifactView } from './artifact-view.ts'
import { findVariant } from './artifact-view.ts'
import { assertActive } from './assert-active.ts'
import { buildRevision } from './build-revision.ts'
import type { WriteContext } from './change-artifact.ts'
import { assertRevisionSlugFree } from './claim-slugs.ts'
import type { AcceptedPayload, Family, Payload, PayloadContext, PayloadTarget, Warning } from './family.ts'
import { payloadTarget } from './payload-target.ts'
import { objectUuid } from './ids.ts'
import type { Header } from './records.ts'
import type { VariantPlace } from './references.ts'
import type { Registry } from './registry.ts'
import type { FinishedAttempt } from './resume-attempt.ts'
import { resumeAttempt } from './resume-attempt.ts'
import type { RevisionPlace } from './revision.ts'
import { placeOf } from './revision.ts'
import { readBytes } from './tree-files.ts'
import { warningsOf } from './warnings-of.ts'

/** What a commit request says (interface 4.1, 4.5; contract/workflows 11); `loc` is where it stands in the request. */
export interface NewRevision {
  readonly message?: string | undefined
  readonly header: Header
  readonly slug?: string | undefined
  /** The whole payload, or undefined. */
  readonly data?: Json | undefined
  /** A payload that is ready to store, in place of `data`. */
  readonly payload?: Payload | undefined
  /** A change of the latest payload, or undefined. */
  readonly delta?: Json | undefined
  /** The revision that a delta was made for, if the request says (ruling 5.4). */
  readonly deltaBaseId?: string | undefined
  /** Refuse unless this is the latest revision: with `revision_conflict` … */
  readonly baseRevisionId?: string | undefined
  /** … or, when it came as If-Match, with `precondition_failed`. */
  readonly ifMatch?: string | undefined
  /** Refuse with `revision_exists` unless the variant has no revision yet. */
  readonly mustBeFirst?: boolean
  readonly loc: readonly (string | number)[]
}

export interface CommittedRevision {
  readonly place: RevisionPlace
  readonly warnings: readonly Warning[]
}

/**
 * Commits a revision on a variant. Concurrent commits to one variant queue up and all succeed with consecutive versions,
 * unless they name a base (ruling 1.10). The answer comes when the revision is on the disk.
 */
export async function commitRevision(
  registry: Registry,
  place: VariantPlace,
  input: NewRevision,
  context: WriteContext,
): Promise<CommittedRevision> {
  const { family } = place.artifact
  const payloadContext = { loc: input.loc, servicesBase: registry.servicesBase }
  if (input.data !== undefined && input.delta !== undefined) {
    throw new Refusal('contradictory_request', 'Send either data or delta, not both.')
  }
  const accepted =
    input.data === undefined
      ? input.payload && { payload: input.payload, warnings: [] }
      : family.accept(input.data, { ...payloadContext, loc: [...input.loc, 'data'] })
  const earlier = await resumeAttempt(registry, place.artifact, branchOf(place), context)
  if (earlier) return committedEarlier(registry, place, earlier, input)
  const { slug } = input
  if (slug === undefined) return commitTo(registry, place, input, context, accepted, payloadContext)
  return registry.store.claimingSlugs(async () => {
    await assertRevisionSlugFree(registry, family, slug, [...input.loc, 'slug'])
    return commitTo(registry, place, input, context, accepted, payloadContext)
  })
}

async function committedEarlier(
  registry: Registry,
  { variant }: VariantPlace,
  { artifact, commit }: FinishedAttempt,
  { data }: NewRevision,
): Promise<CommittedRevision> {
  const place = await placeOf(artifact, findVariant(artifact, variant.slug) ?? variant, commit)
  return { place, warnings: await warningsOf(registry, place, data) }
}

async function commitTo(
  registry: Registry,
  { artifact, variant }: VariantPlace,
  input: NewRevision,
  context: WriteContext,
  accepted: AcceptedPayload | undefined,
  payloadContext: PayloadContext,
): Promise<CommittedRevision> {
  const { family, repository } = artifact
  const branch = branchOf({ artifact, variant })
  const { oid, warnings } = await repository.transact(async (transaction) => {
    const state = await stateNow(artifact, transaction)
    const target = payloadTarget(artifact, transaction)
    assertActive('artifact', artifact.slug, state.artifact)
    assertActive('variant', variant.slug, state.variants.get(variant.slug))
    const head = transaction.ref(branch)
    const latest = await latestCommit(transaction, state, artifact.digits, head)
    assertBase(input, latest && objectUuid(latest, artifact.digits), variant.slug, head !== undefined)
    assertDeltaBase(family, input, latest && objectUuid(latest, artifact.digits), variant.slug)
    const payload =
      accepted ?? (await payloadFromDelta(registry, family, target, latest, input, payloadContext))
    const draft = {
      message: input.message,
      header: input.header,
      slug: input.slug,
      payload: payload?.payload,
    }
    const plan = { variant: variant.slug, parent: head, draft, context }
    const commit = await buildRevision(registry, family, target, plan)
    transaction.move(branch, commit)
    if (input.slug !== undefined) transaction.follow(`refs/tags/${input.slug}`, commit)
    return { oid: commit, warnings: payload?.warnings ?? [] }
  })
  const written = await registry.index.written(family, artifact.slug)
  return { place: await placeOf(written, findVariant(written, variant.slug) ?? variant, oid), warnings }
}

function branchOf({ variant }: VariantPlace): string {
  return `refs/heads/${variant.slug}`
}

/** What is archived now; read again only if the meta ref moved since the view was made. */
async function stateNow(artifact: ArtifactView, transaction: Transaction): Promise<ArtifactState> {
  const head = transaction.ref(META_REF)
  if (head === artifact.metaCommit) return artifact.source.state
  if (head === undefined)
    throw new Refusal('artifact_not_found', `"${artifact.slug}" is gone from the store.`)
  return readArtifactState(transaction, head)
}

/** The newest commit not archived by itself. Walks the commits, not the history: the head may not be on the disk yet. */
async function latestCommit(
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
  input: NewRevision,
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
  { delta, deltaBaseId, loc }: NewRevision,
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
  latest: Oid | undefined,
  input: NewRevision,
  payloadContext: PayloadContext,
): Promise<AcceptedPayload | undefined> {
  const base =
    latest === undefined ? undefined : (await registry.revisions(family).read(target, latest)).payload
  if (input.delta !== undefined) {
    const loc = [...payloadContext.loc, 'delta']
    return family.applyDelta(base, input.delta, { ...payloadContext, loc, target })
  }
  if (base === undefined) return undefined
  throw new Refusal(
    'missing_payload',
    'The commit brings neither data nor delta, and the variant has data. Send one.',
  )
}
