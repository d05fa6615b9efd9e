import { z } from 'zod'
import type { DependencyTarget, Dependent } from '../../embeds/dependents.ts'
import { queryDependents } from '../../embeds/dependents.ts'
import type { Surface } from '../../resources/surface.ts'
import type { Registry } from '../../versioning/registry.ts'
import { resolveArtifact, resolveVariant } from '../../versioning/revisions/references.ts'
import type { RetrieveReferences } from '../../versioning/revisions/retrieve-revision.ts'
import { retrieveRevision } from '../../versioning/revisions/retrieve-revision.ts'
import { presentReferences } from '../presenters/record.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { retrieveReferences } from '../schemas/queries/retrieve-references.ts'
import { list, revisionReferencesSchema } from '../schemas/record-schemas.ts'
import { windowing } from '../schemas/request-schemas.ts'
import { withArticle } from '../schemas/surface-names.ts'
import type { SurfaceContext } from '../surface-context.ts'

/**
 * `POST …/revisions/dependents` of a surface: what embeds or deploys a revision, a variant or an artifact, to be looked at before
 * it is changed or archived.
 */
export function dependentsEndpoint({ surface, names, present }: SurfaceContext): Endpoint {
  const { path, singular, plural } = surface
  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/dependents`,
    tag: plural,
    summary: `What embeds or deploys a revision, a variant or ${withArticle(singular)} now`,
    scope: 'read',
    input: z.intersection(
      retrieveReferences(names),
      z.object({ include_archived: z.boolean().optional(), windowing: windowing.optional() }),
    ),
    output: list('dependents', dependentRecord),
    example: { [`${singular}_ref`]: { slug: 'tone' } },
    run: async ({ registry, input, untilGone }) => {
      const target = await targetOf(registry, surface, input)
      const { include_archived: includeArchived, windowing: asked } = input
      const query = { includeArchived, windowing: asked, signal: untilGone() }
      const window = await queryDependents(registry, target, query)
      return respondWithList(
        'dependents',
        window,
        input.windowing,
        window.rows.map((dependent) => presentDependent(dependent, present)),
      )
    },
  })
}

/** A revision that depends on what was asked about. */
const dependentRecord = z.strictObject({
  kind: z.enum(['embed', 'deployment']),
  ...revisionReferencesSchema('workflow'),
  ...revisionReferencesSchema('environment'),
  // Paths in its data.
  locations: z.array(z.array(z.union([z.string(), z.int()]))).optional(),
  keys: z.array(z.string()).optional(),
})

/** All of an artifact, all of a variant, or one revision, whichever the references name most specifically. */
async function targetOf(
  registry: Registry,
  surface: Surface,
  references: RetrieveReferences,
): Promise<DependencyTarget> {
  const { family } = surface
  const { artifact, variant, revision, environment, key } = references
  // A key without an environment is refused with whatever else names one revision.
  const mayBeWhole = !revision && (environment !== undefined || key === undefined)
  if (mayBeWhole && variant && variant.version === undefined) {
    return resolveVariant(registry, family, variant, artifact)
  }
  if (mayBeWhole && !variant && !environment && artifact && artifact.version === undefined) {
    return { artifact: await resolveArtifact(registry, family, artifact) }
  }
  const place = await retrieveRevision(registry, family, references, surface)
  return { artifact: place.artifact, oid: place.oid }
}

function presentDependent(
  { revision, locations, keys }: Dependent,
  options: Parameters<typeof presentReferences>[2],
): object {
  return {
    kind: keys ? 'deployment' : 'embed',
    ...presentReferences(revision.artifact.family.name, revision, options),
    locations,
    keys,
  }
}
