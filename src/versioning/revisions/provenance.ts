import type { Commit } from '../../git/objects/commit.ts'
import type { CommitSignature } from '../../git/signing/commit-signature.ts'
import { verifyCommit } from '../../git/signing/commit-signature.ts'
import type { DeployedIn } from '../environments/deployed-in.ts'
import { deployedIn } from '../environments/deployed-in.ts'
import type { Arrival } from '../push/push-notes.ts'
import { arrivalsOf } from '../push/push-notes.ts'
import type { Registry } from '../registry.ts'
import type { Revision, RevisionLocation } from './revision.ts'
import { readListedRevision } from './revision.ts'
import { readBytes } from '../family/tree-files.ts'

/** Where a revision comes from, and where it went: its commit, whose signature that has, and what runs it now. */
export interface Provenance extends SignedRevision {
  /** How the commit came, as a record of ours proves it. */
  readonly arrival: Arrival | { readonly door: 'rest' } | undefined
  readonly environments: readonly Running[]
}

/** A revision and what its commit's signature is worth. */
export interface SignedRevision {
  readonly revision: Revision
  readonly commit: Commit
  readonly signature: CommitSignature
}

/** An environment that runs the revision now. */
export interface Running {
  readonly environment: Revision
  readonly key: string
  /** The deployment: the environment's revision since which the key has held what it holds. */
  readonly since: SignedRevision
}

/** The provenance of a revision. One whose payload does not decode has one all the same. */
export async function provenanceOf(registry: Registry, place: RevisionLocation): Promise<Provenance> {
  const environments: Running[] = []
  for (const holding of await deployedIn(registry, place)) environments.push(await running(registry, holding))
  const own = await signedRevision(registry, place)
  const { artifact, oid } = place
  const pushed = (await arrivalsOf(artifact.repository, [oid])).get(oid)
  return { ...own, arrival: pushed ?? (isOurs(registry, own) ? { door: 'rest' } : undefined), environments }
}

/** The service signs what is committed over REST, and nothing else that is a revision. */
function isOurs({ signing: { key } }: Registry, { signature }: SignedRevision): boolean {
  return key !== undefined && signature.status === 'good' && signature.key === key.publicKey.fingerprint
}

async function running(registry: Registry, { environment, key, since }: DeployedIn): Promise<Running> {
  return {
    environment: await readListedRevision(registry, environment),
    key,
    since: await signedRevision(registry, since),
  }
}

async function signedRevision(registry: Registry, place: RevisionLocation): Promise<SignedRevision> {
  const revision = await readListedRevision(registry, place)
  const bytes = await readBytes(place.artifact.repository.objects, place.oid, 'commit')
  const signature = verifyCommit(bytes, registry.signing.allowed)
  return { revision, commit: revision.stored.commit, signature }
}
