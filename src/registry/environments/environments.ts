import { Refusal } from '../../errors.ts'
import { HelpfulRefusal } from '../../base/suggestions.ts'
import type { Pin, References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import {
  type VariantLocation,
  resolveArtifact,
  resolveVariant,
  resolveReference,
} from '../revisions/references.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { defaultVariantOrNew } from '../variants/default-variant.ts'
import type { WriteContext } from '../store/write-context.ts'

/**
 * The environment's revision that references name. If only the environment is named: the latest of its default variant, undefined if
 * nothing was ever deployed there.
 */
export async function environmentRevision(
  registry: Registry,
  references: References,
): Promise<RevisionLocation | undefined> {
  const { artifact, variant, revision } = references
  const isLatest = !revision && variant?.version === undefined && artifact?.version === undefined
  try {
    return await foundEnvironment(() => resolveReference(registry, registry.environments, references))
  } catch (error) {
    const isEmpty = error instanceof Refusal && EMPTY.includes(error.code)
    if (isLatest && !variant && isEmpty) return undefined
    throw error
  }
}

/** The refusals for an environment without a revision or a variant. */
const EMPTY: readonly string[] = ['revision_not_found', 'variant_not_found']

/**
 * The variant of an environment for a deployment with these references: that of a named revision, else the named one, else the default one,
 * which the deployment creates if there is none (interface 9.5).
 */
export async function environmentVariant(
  registry: Registry,
  references: References,
  context: WriteContext,
): Promise<VariantLocation> {
  const { artifact, variant, revision } = references
  const family = registry.environments
  return foundEnvironment(async () => {
    if (revision) return resolveReference(registry, family, references)
    if (variant) return resolveVariant(registry, family, variant, artifact)
    const environment = await resolveArtifact(registry, family, artifact ?? {})
    return defaultVariantOrNew(registry, environment, context)
  })
}

/** The pins of the environment's revision at this place. */
export async function pinsAt({ artifact, oid }: RevisionLocation): Promise<readonly Pin[]> {
  const { family, repository, revisions } = artifact
  const { payload } = await revisions.read(repository.objects, oid)
  return (payload && family.pins?.(payload)) ?? []
}

/** A missing environment has a separate code, so that a client may then ask another one for the prompt. */
async function foundEnvironment<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'artifact_not_found') throw error
    if (error instanceof HelpfulRefusal) throw error.again({ code: 'environment_not_found' })
    throw new Refusal('environment_not_found', error.message, error.data)
  }
}
