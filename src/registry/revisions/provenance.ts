import type { Commit } from '../../git/objects.ts'
import { type CommitSignature, verifyCommit } from '../../git/signing.ts'
import { type Arrival, arrivalsOf } from '../push/push-notes.ts'
import type { Registry } from '../store/registry.ts'
import { type Revision, type RevisionLocation, readListedRevision, latestOf } from './revision.ts'
import { readBytes } from '../payload/tree-files.ts'
import { yieldToEventLoop } from '../../base/scheduling.ts'
import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../../errors.ts'
import type { HistoryNode } from '../../git/history.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { unlessDamaged } from '../index/damaged-repositories.ts'
import type { Pin } from '../store/reference.ts'
import { pinnedRevision } from '../environments/pinned-revision.ts'

/**
 * The origin of a revision and its current use: its commit, the commit's signature, and the environments that
 * run it.
 */
export interface Provenance extends SignedRevision {
  /** How the commit arrived, as proved by a record of the service. */
  readonly arrival: Arrival | { readonly door: 'rest' } | undefined
  readonly environments: readonly Running[]
}

/** A revision and the verification of its commit's signature. */
export interface SignedRevision {
  readonly revision: Revision
  readonly commit: Commit
  readonly signature: CommitSignature
}

/** An environment that runs the revision now. */
export interface Running {
  readonly environment: Revision
  readonly key: string
  /** The deployment: the revision of the environment that gave the key its current value. */
  readonly since: SignedRevision
}

/** The provenance of a revision, even if its payload does not decode. */
export async function provenanceOf(registry: Registry, place: RevisionLocation): Promise<Provenance> {
  const environments: Running[] = []
  for (const holding of await deployedIn(registry, place)) environments.push(await running(registry, holding))
  const own = await signedRevision(registry, place)
  const { artifact, oid } = place
  const pushed = (await arrivalsOf(artifact.repository, [oid])).get(oid)
  return { ...own, arrival: pushed ?? (isOurs(registry, own) ? { door: 'rest' } : undefined), environments }
}

/** Whether the service made the commit: it signs only revisions committed over REST. */
function isOurs({ signing: { key } }: Registry, { signature }: SignedRevision): boolean {
  return key !== undefined && signature.status === 'good' && signature.key === key.publicKey.fingerprint
}

async function running(registry: Registry, { environment, key, since }: DeployedIn): Promise<Running> {
  return {
    environment: await readListedRevision(environment),
    key,
    since: await signedRevision(registry, since),
  }
}

async function signedRevision(registry: Registry, place: RevisionLocation): Promise<SignedRevision> {
  const revision = await readListedRevision(place)
  const bytes = await readBytes(place.artifact.repository.objects, place.oid, 'commit')
  const signature = verifyCommit(bytes, registry.signing.allowed)
  return { revision, commit: revision.stored.commit, signature }
}

/**
 * An environment's latest revision that holds a revision under a key, and the revision since which it does.
 */
interface DeployedIn {
  readonly environment: RevisionLocation
  readonly key: string
  readonly since: RevisionLocation
}

const REVISIONS_BETWEEN_YIELDS = 50

/**
 * Where the revision is deployed now: in the latest revision of every unarchived variant of every unarchived
 * environment. A revision that does not decode holds nothing. A pin counts by its current target, and since
 * its current value.
 */
async function deployedIn(
  registry: Registry,
  { artifact, oid }: RevisionLocation,
): Promise<readonly DeployedIn[]> {
  const holdings: DeployedIn[] = []
  for (const environment of await registry.index.list(registry.environments)) {
    if (environment.record.deleted_at !== undefined) continue
    for (const variant of environment.variants) {
      if (variant.record.deleted_at !== undefined) continue
      const latest = await unlessDamaged(registry, environment, () => latestOf(environment, variant))
      const pins =
        latest && (await unlessDamaged(registry, environment, () => pinsIn(environment, latest.oid)))
      for (const pin of pins ?? []) {
        const place = await pinnedRevision(registry, pin)
        if (!latest || !place || place instanceof Refusal) continue
        if (place.artifact.id !== artifact.id || place.oid !== oid) continue
        holdings.push({ environment: latest, key: pin.key, since: await heldSince(latest, pin) })
      }
    }
  }
  return holdings
}

/** The oldest revision, going back from the latest, in which the key has held this same pin. */
async function heldSince(latest: RevisionLocation, pin: Pin): Promise<RevisionLocation> {
  const { artifact, variant } = latest
  let since: HistoryNode = await artifact.repository.history.node(latest.oid)
  for (let node = since.parent, looked = 1; node; node = node.parent, looked++) {
    if (looked % REVISIONS_BETWEEN_YIELDS === 0) await yieldToEventLoop()
    const before = (await pinsIn(artifact, node.oid)).find(({ key }) => key === pin.key)
    if (!isDeepStrictEqual(before, pin)) break
    since = node
  }
  return { artifact, variant, oid: since.oid, version: since.depth }
}

async function pinsIn({ family, repository, revisions }: ArtifactView, oid: string): Promise<readonly Pin[]> {
  const { payload } = await revisions.readForList(repository.objects, oid)
  return (payload && family.pins?.(payload)) ?? []
}
