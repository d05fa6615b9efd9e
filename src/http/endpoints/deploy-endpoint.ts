import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import type { Surface, Warning } from '../../registry/families.ts'
import { deployRevision, environmentVariant } from '../../registry/environments.ts'
import type { Registry } from '../../registry/registries.ts'
import {
  revisionById,
  resolveReference,
  disagreementsWith,
  type RetrieveReferences,
  type RevisionLocation,
  readRevisionAt,
} from '../../registry/revisions.ts'
import { toldDisagreements } from '../revisions/told-disagreements.ts'
import type { RevisionResponses } from '../revisions/revision-responses.ts'
import { type Endpoint, type EndpointResponse, endpoint } from '../routing/endpoint.ts'
import { deployments, presentDeployments } from '../schemas/deployments.ts'
import { retrieveReferences } from '../schemas/spellings.ts'
import { single, warning } from '../schemas/record-schemas.ts'
import { message, slug } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** Maximum environments that a commit may be deployed to. */
const MAX_DEPLOYS = 20

/** The environments that a commit is deployed to in the same write; none for surfaces without deployments. */
export function deploySlugs({ isDeployable, plural }: Surface): z.ZodType<readonly string[]> {
  return isDeployable
    ? z.array(slug).max(MAX_DEPLOYS, `must be at most ${MAX_DEPLOYS} environments`)
    : z.array(slug).max(0, `must be empty: ${plural} are not deployed to environments`)
}

/**
 * `POST …/revisions/deploy` of a surface (interface 9.3): deploys a revision to an environment and answers that revision. A key with only
 * the scope deploy is enough.
 */
export function deployEndpoint(
  { surface, names, records, present }: SurfaceContext,
  answers: RevisionResponses,
): Endpoint {
  const { family, path, singular, plural } = surface

  /** `made` is the environment's revision with the deployment, if it was new. */
  const answer = async (
    place: RevisionLocation,
    environment: string,
    made: string | undefined,
    warnings: readonly Warning[],
  ): Promise<EndpointResponse> => {
    const revision = await readRevisionAt(place)
    const changed = made === undefined ? [] : [environment]
    const more = {
      deployments: presentDeployments(revision, [environment], changed, present),
      ...(warnings.length > 0 ? { warnings } : {}),
    }
    const whole = await answers.fresh(place, undefined, more)
    return { ...whole, address: { id: revision.id, ...(made === undefined ? {} : { revision: made }) } }
  }

  const disagreeing = async (
    registry: Registry,
    { artifact, variant, revision }: RetrieveReferences,
    place: RevisionLocation,
  ): Promise<readonly Warning[]> => {
    const found = await disagreementsWith(registry, { artifact, variant, revision }, place)
    return toldDisagreements(found, singular, present)
  }

  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/deploy`,
    tag: plural,
    summary: 'Deploy a revision to an environment; deploying the one that is there already changes nothing',
    scope: 'write',
    orScope: 'deploy',
    input: z.intersection(retrieveReferences(names), z.object({ message: message.optional() })),
    output: single(`${singular}_revision`, records.revision, {
      deployments,
      warnings: z.array(warning).optional(),
    }),
    example: {
      [`${singular}_revision_ref`]: { slug: 'support-bot', version: 3 },
      environment_ref: { slug: 'production' },
      message: 'Calmer answers',
    },
    run: async ({ registry, input, context }) => {
      const { environment, key, message: text } = input
      if (!environment) {
        throw new Refusal(
          'incomplete_reference',
          'Nothing says where to deploy to. Send environment_ref with an id or a slug.',
        )
      }
      const place = await resolveReference(registry, family, input)
      const warnings = await disagreeing(registry, input, place)
      const to = await environmentVariant(registry, environment, context)
      const request = { entity: singular, key, message: text, loc: ['body'] }
      const revision = await readRevisionAt(place)
      const {
        revision: deployed,
        by,
        changed,
      } = await deployRevision(registry, revision, to, request, context)
      const made = changed ? (await readRevisionAt(by)).id : undefined
      return answer(deployed, to.artifact.slug, made, warnings)
    },
    recall: async ({ registry, input, context }, { id, revision }) => {
      const to = await environmentVariant(registry, input.environment ?? {}, context)
      const place = await revisionById(registry, family, id)
      return answer(place, to.artifact.slug, revision, await disagreeing(registry, input, place))
    },
  })
}
