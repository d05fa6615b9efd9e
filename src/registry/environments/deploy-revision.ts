import type { Registry } from '../store/registry.ts'
import { commitRevision, wholePlace } from '../revisions/commit-revision.ts'
import type { VariantLocation } from '../revisions/references.ts'
import { revisionById } from '../revisions/references.ts'
import type { Revision, RevisionLocation } from '../revisions/revision.ts'
import type { WriteContext } from '../store/write-context.ts'
import type { DeployRequest } from './deployment.ts'
import { deploymentOf } from './deployment.ts'
import { pinsAt } from './environments.ts'
import { defaultKey, referencesTo } from './pin.ts'

/** The result of a deployment. */
export interface Deployed {
  /** The deployed revision: the requested one, or the one that an earlier attempt at this same write deployed. */
  readonly revision: RevisionLocation
  /** The environment's revision with this deployment. */
  readonly by: RevisionLocation
  /** Whether this write changed anything. */
  readonly changed: boolean
}

/**
 * Deploys a revision: commits to the environment's variant with the revision under its key (interface 9.5). If it is already there, nothing
 * is committed. Refuses an archived artifact or environment, and a guarded environment.
 */
export async function deployRevision(
  registry: Registry,
  revision: Revision,
  to: VariantLocation,
  request: DeployRequest,
  context: WriteContext,
): Promise<Deployed> {
  const deployment = deploymentOf(registry, revision, request)
  const { revision: by, changed } = await commitRevision(registry, wholePlace(to), deployment, context)
  const { family, slug } = revision.artifact
  const { key = defaultKey(slug) } = request
  const pin = (await pinsAt(by)).find((it) => it.key === key)
  const id = pin && referencesTo(family, pin)?.revision?.id
  const deployed =
    id === undefined || id === revision.id ? revision : await revisionById(registry, family, id)
  return { revision: deployed, by, changed }
}
