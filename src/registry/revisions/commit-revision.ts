import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects.ts'
import { transactAcross } from '../../git/store.ts'
import type { Json } from '../../base/json.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import type { DeployRequest, Pinned } from '../environments/deployment.ts'
import { deploymentOf } from '../environments/deployment.ts'
import { pinsAt } from '../environments/environments.ts'
import { defaultKey, referencesTo } from '../environments/pin.ts'
import type { AcceptedPayload, MetRows, Warning } from '../payload/family.ts'
import type { FinishedAttempt } from './find-earlier-attempt.ts'
import { findEarlierAttempt } from './find-earlier-attempt.ts'
import { objectUuid } from '../store/ids.ts'
import type { Registry } from '../store/registry.ts'
import { assertSlug } from '../slugs/slug.ts'
import type { WriteContext } from '../store/write-context.ts'
import type { VariantLocation } from './references.ts'
import { revisionById } from './references.ts'
import type { Revision, RevisionLocation } from './revision.ts'
import { locate, readListedRevision, readRevisionAt, revisionOf } from './revision.ts'
import type { CommitRequest, WrittenRevision } from './write-revision.ts'
import { branchOf, writeRevision } from './write-revision.ts'

export interface CommittedRevision {
  /** The new revision, or the latest one if nothing was committed. */
  readonly revision: Revision
  /** Whether something was committed. */
  readonly changed: boolean
  /** The counts of sent rows that are not in the revision; unknown for an earlier attempt. */
  readonly met?: MetRows | undefined
  readonly warnings: readonly Warning[]
  /** The slugs of the environments where the revision was not deployed before. */
  readonly deployedTo: readonly string[]
}

/** A key that is limited to folders sees only a part of an environment. A deployment is written to the whole environment. */
export function wholePlace(place: VariantLocation): VariantLocation {
  return place.artifact.whole ? { ...place, artifact: place.artifact.whole } : place
}

/** The environments to which a commit is deployed in the same write. */
export interface CommitDeployment extends Pick<DeployRequest, 'entity'> {
  /** Variants of environments, each once. */
  readonly to: readonly VariantLocation[]
}

/**
 * Commits a revision to a variant. Concurrent commits to one variant queue up, and all succeed with consecutive versions, unless they name a base
 * (interface 4.16). It resolves when the revision is on the disk. With `deployment` the revision is committed and deployed, or neither.
 */
export async function commitRevision(
  registry: Registry,
  place: VariantLocation,
  input: CommitRequest,
  context: WriteContext,
  deployment?: CommitDeployment,
): Promise<CommittedRevision> {
  const { data, payload, slug, loc } = input
  if (data !== undefined && input.delta !== undefined)
    throw new Refusal('contradictory_request', 'Send either data or delta, not both.')
  const { servicesBase, limits, isExisting } = registry
  const sent = { loc: [...loc, 'data'], servicesBase, limits, isExisting }
  const accepted =
    data === undefined ? payload && { payload, warnings: [] } : await place.artifact.family.accept(data, sent)
  if (context.attempt) {
    const earlier = await earlierCommit(registry, place, input, context, deployment)
    if (earlier) return earlier
  }
  if (slug !== undefined) assertSlug(slug, [...loc, 'slug'])
  const makesVariant = place.variant.isPending || deployment?.to.some(({ variant }) => variant.isPending)
  return slug === undefined && !makesVariant
    ? commitTo(registry, place, input, accepted, context, deployment)
    : registry.store.claimingSlugs(() => commitTo(registry, place, input, accepted, context, deployment))
}

/** The result of an earlier attempt at this commit, if there was one. */
async function earlierCommit(
  registry: Registry,
  place: VariantLocation,
  input: CommitRequest,
  context: WriteContext,
  deployment: CommitDeployment | undefined,
): Promise<CommittedRevision | undefined> {
  const earlier = await findEarlierAttempt(registry, place.artifact, branchOf(place), context)
  if (earlier) return committedEarlier(registry, place, earlier, input, deployment)
  return deployment && deployedEarlier(registry, place, input, context, deployment)
}

/** The commit of an earlier attempt. It was new, so nobody had deployed it before. */
async function committedEarlier(
  registry: Registry,
  { variant }: VariantLocation,
  { artifact, commit, met }: FinishedAttempt,
  { data }: CommitRequest,
  deployment: CommitDeployment | undefined,
): Promise<CommittedRevision> {
  if (deployment) await takeInDeployments(registry, deployment)
  const place = await locate(artifact, findVariant(artifact, variant.slug) ?? variant, commit)
  const revision = await readListedRevision(place)
  const deployedTo = deployment?.to.map((to) => to.artifact.slug) ?? []
  return { revision, changed: true, met, warnings: await warningsOf(registry, place, data), deployedTo }
}

/** The result of an earlier attempt that had nothing to commit and only deployed the latest revision; undefined if there was none. */
async function deployedEarlier(
  registry: Registry,
  { artifact: { family, slug }, variant }: VariantLocation,
  { data }: CommitRequest,
  context: WriteContext,
  { to }: CommitDeployment,
): Promise<CommittedRevision | undefined> {
  const deployedTo: string[] = []
  let id: string | undefined
  for (const place of to) {
    const earlier = await findEarlierAttempt(registry, place.artifact, branchOf(place), context)
    if (!earlier) continue
    deployedTo.push(place.artifact.slug)
    const pins = await pinsAt(await locate(earlier.artifact, place.variant, earlier.commit))
    const pin = pins.find(({ key }) => key === defaultKey(slug))
    id ??= pin && referencesTo(family, pin)?.revision?.id
  }
  if (id === undefined) return undefined
  const { artifact, oid } = await revisionById(registry, family, id)
  const place = await locate(artifact, findVariant(artifact, variant.slug) ?? variant, oid)
  const revision = await readListedRevision(place)
  return { revision, changed: false, warnings: await warningsOf(registry, place, data), deployedTo }
}

async function commitTo(
  registry: Registry,
  place: VariantLocation,
  input: CommitRequest,
  accepted: AcceptedPayload | undefined,
  context: WriteContext,
  deployment: CommitDeployment | undefined,
): Promise<CommittedRevision> {
  const { artifact, variant } = place
  const writing: Promise<Written> = deployment
    ? commitAndDeploy(registry, place, input, accepted, context, deployment)
    : artifact.repository.transact(async (transaction) => {
        const written = await writeRevision(registry, place, input, accepted, context, transaction)
        // The transaction fails, so that none of its objects is stored with other writes.
        if (!written.changed) throw new NothingToCommit(written)
        return written
      })
  const { stored, deployedTo = [], ...rest } = await writing.catch(writtenBefore)
  const now = await registry.index.written(artifact.family, artifact.slug)
  if (deployment) await takeInDeployments(registry, deployment)
  const at = await locate(now, findVariant(now, variant.slug) ?? variant, stored.oid)
  return { revision: revisionOf(at, stored), deployedTo, ...rest }
}

interface Written extends WrittenRevision, Partial<Pick<CommittedRevision, 'deployedTo'>> {}

class NothingToCommit extends Error {
  readonly written: WrittenRevision

  constructor(written: WrittenRevision) {
    super('there is nothing to commit')
    this.written = written
  }
}

/** The latest revision, if there was nothing to commit. */
function writtenBefore(error: unknown): Written {
  if (error instanceof NothingToCommit) return error.written
  throw error
}

/** Commits the revision and the environments' revisions that deploy it, in one write. */
async function commitAndDeploy(
  registry: Registry,
  place: VariantLocation,
  input: CommitRequest,
  accepted: AcceptedPayload | undefined,
  context: WriteContext,
  { to, entity }: CommitDeployment,
): Promise<WrittenRevision & Pick<CommittedRevision, 'deployedTo'>> {
  const { artifact, variant } = place
  const { slug, message, loc } = input
  const { actor, attempt } = context
  const environments = registry.limit ? to.map(wholePlace) : to
  const repositories = [place, ...environments].map((it) => it.artifact.repository)
  const trailers = { deploy: to.map((it) => it.artifact.slug).join(', ') }
  return transactAcross(repositories, async ([own, ...others]) => {
    if (!own) throw new Error('a joint write has a transaction for each repository')
    const head = own.ref(branchOf(place))
    const written = await writeRevision(registry, place, { ...input, trailers }, accepted, context, own)
    const revision = written.changed
      ? await revisionToBe(head, written.stored.oid)
      : await readRevisionAt(await locate(artifact, variant, written.stored.oid))
    // If the request is repeated, this finds the commit or, if there was none, the deployments.
    const ofDeployment = written.changed ? { actor } : { actor, attempt }
    const deployedTo: string[] = []
    for (const [index, environment] of environments.entries()) {
      const transaction = others[index]
      const change = deploymentOf(registry, revision, { entity, message, loc })
      if (!transaction) continue
      const { changed } = await writeRevision(
        registry,
        environment,
        change,
        undefined,
        ofDeployment,
        transaction,
      )
      if (changed) deployedTo.push(environment.artifact.slug)
    }
    return { ...written, deployedTo }
  })

  async function revisionToBe(head: Oid | undefined, oid: Oid): Promise<Pinned> {
    const version = head === undefined ? 1 : (await artifact.repository.history.node(head)).depth + 1
    const id = objectUuid(oid, artifact.digits)
    return { artifact, variant, id, slug: slug ?? `${variant.slug}-${version}`, version }
  }
}

async function takeInDeployments(registry: Registry, { to }: CommitDeployment): Promise<void> {
  for (const { artifact } of to) await registry.index.written(artifact.family, artifact.slug)
}

/**
 * The warnings for the sender of a committed payload, computed again. `sent` is the payload as it was sent. Without it (a delta) the stored
 * payload is used, which does not contain ignored parts any more.
 */
export async function warningsOf(
  registry: Registry,
  { artifact, oid }: RevisionLocation,
  sent: Json | undefined,
): Promise<readonly Warning[]> {
  const { family, repository, revisions } = artifact
  const { servicesBase, isExisting } = registry
  const context = { loc: [], servicesBase, isExisting }
  if (sent !== undefined) return (await family.accept(sent, context)).warnings
  const { payload } = await revisions.read(repository.objects, oid)
  return payload ? family.warnings(payload, context) : []
}
