import type { Registry } from '../store/registry.ts'
import { commitRevision } from '../revisions/commit-revision.ts'
import type { VariantLocation } from '../revisions/references.ts'
import { revisionById } from '../revisions/references.ts'
import type { Revision, RevisionLocation } from '../revisions/revision.ts'
import type { WriteContext } from '../store/write-context.ts'
import type { DeployRequest } from './deployment.ts'
import { deploymentOf } from './deployment.ts'
import { pinsAt } from './environments.ts'
import { defaultKey, referencesTo } from './pin.ts'

/** What became of a deployment. */
export interface Deployed {
  /** What is deployed: the revision that was asked for, or the one that an earlier attempt at this very write deployed. */
  readonly revision: RevisionLocation
  /** The revision of the environment that says so. */
  readonly by: RevisionLocation
  /** Whether this write made it so. */
  readonly changed: boolean
}

/**
 * Deploys a revision: a commit on the environment's variant under whose key is the revision (interface 9.5). Where it is already,
 * nothing is committed.
 * Refuses what is archived, on either side, and a guarded environment.
 */
export async function deployRevision(
  registry: Registry,
  revision: Revision,
  to: VariantLocation,
  request: DeployRequest,
  context: WriteContext,
): Promise<Deployed> {
  const deployment = deploymentOf(registry, revision, request)
  const { revision: by, changed } = await commitRevision(registry, to, deployment, context)
  const { family, slug } = revision.artifact
  const { key = defaultKey(slug) } = request
  const pin = (await pinsAt(by)).find((it) => it.key === key)
  const id = pin && referencesTo(family, pin)?.revision?.id
  const deployed =
    id === undefined || id === revision.id ? revision : await revisionById(registry, family, id)
  return { revision: deployed, by, changed }
}
