import { z } from 'zod'
import type { Revision } from '../../registry/revisions.ts'
import { type PresentOptions, presentVersion } from '../revisions/record.ts'

/** Where a write deployed a revision: in which environments, and whether that was new (interface 9.6). */
export const deployments = z.array(
  z.strictObject({
    environment: z.string().meta({ description: 'The slug of the environment.' }),
    revision_id: z.string().meta({ format: 'uuid', description: 'Of the revision that is deployed.' }),
    version: z.union([z.int(), z.string()]),
    changed: z.boolean().meta({ description: 'False where it was deployed there already.' }),
  }),
)

/** The deployments of one revision to the environments with these slugs; those in `changed` are new. */
export function presentDeployments(
  { id, version }: Pick<Revision, 'id' | 'version'>,
  environments: readonly string[],
  changed: readonly string[],
  present: PresentOptions,
): object[] {
  return environments.map((environment) => ({
    environment,
    revision_id: id,
    version: presentVersion(version, present),
    changed: changed.includes(environment),
  }))
}
