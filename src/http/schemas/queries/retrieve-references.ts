import { z } from 'zod'
import type { RetrieveReferences } from '../../../versioning/revisions/retrieve-revision.ts'
import { envelope } from '../envelope.ts'
import { deploymentKey, reference } from '../request-schemas.ts'
import type { SurfaceNames } from '../surface-names.ts'
import { spellings } from '../surface-names.ts'

/**
 * The references of one request (interface 5.3, 9.7): things of the surface, and an environment beside them
 * unless the surface is environments itself, where the same names mean its own.
 */
export function retrieveReferences(names: SurfaceNames): z.ZodType<RetrieveReferences> {
  const isOwn = names.singulars.includes('environment')
  const ofEnvironment = (name: string): string[] => (isOwn ? [] : [name])
  return envelope({
    artifact: { names: spellings(names, '_ref'), schema: reference },
    variant: { names: spellings(names, '_variant_ref'), schema: reference },
    revision: { names: spellings(names, '_revision_ref'), schema: reference },
    environment: { names: ofEnvironment('environment_ref'), schema: reference },
    environmentVariant: { names: ofEnvironment('environment_variant_ref'), schema: reference },
    environmentRevision: { names: ofEnvironment('environment_revision_ref'), schema: reference },
    key: { names: ofEnvironment('key'), schema: deploymentKey },
  }).transform(({ artifact, variant, revision, key, ...through }): RetrieveReferences => {
    const environment = {
      artifact: through.environment,
      variant: through.environmentVariant,
      revision: through.environmentRevision,
    }
    const isNamed = Object.values(environment).some((it) => it !== undefined)
    return { artifact, variant, revision, environment: isNamed ? environment : undefined, key }
  })
}
