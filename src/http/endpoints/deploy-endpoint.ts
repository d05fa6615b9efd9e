import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import type { Surface } from '../../resources/surface.ts'
import type { WriteContext } from '../../versioning/change-artifact.ts'
import { deployRevision } from '../../versioning/deploy-revision.ts'
import { environmentVariant } from '../../versioning/environments.ts'
import type { VariantPlace } from '../../versioning/references.ts'
import { revisionById } from '../../versioning/references.ts'
import type { Registry } from '../../versioning/registry.ts'
import { resolveRevision } from '../../versioning/resolve-revision.ts'
import { readRevisionAt } from '../../versioning/revision.ts'
import type { Endpoint } from '../endpoint.ts'
import { endpoint } from '../endpoint.ts'
import { single } from '../record-schemas.ts'
import { message, slug } from '../request-schemas.ts'
import { retrieveReferences } from '../retrieve-references.ts'
import type { RevisionAnswers } from '../revision-answers.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** So many environments a commit may be deployed to. */
const MAX_DEPLOYS = 20

/** The environments that a commit is deployed to in the same write; none where revisions are not deployed. */
export function deploySlugs({ isDeployable, plural }: Surface): z.ZodType<readonly string[]> {
  return isDeployable
    ? z.array(slug).max(MAX_DEPLOYS, `must be at most ${MAX_DEPLOYS} environments`)
    : z.array(slug).max(0, `must be empty: ${plural} are not deployed to environments`)
}

/**
 * `POST …/revisions/deploy` of a surface (contract/environments 8.1): points an environment at a revision and answers that.
 * A key that may only deploy is enough.
 */
export function deployEndpoint(
  { surface, names, records }: SurfaceContext,
  answers: RevisionAnswers,
): Endpoint {
  const { family, path, singular, plural } = surface
  return endpoint({
    method: 'POST',
    path: `/${path}/revisions/deploy`,
    tag: plural,
    summary: 'Deploy a revision to an environment; deploying the one that is there already changes nothing',
    scope: 'write',
    orScope: 'deploy',
    input: z.intersection(retrieveReferences(names), z.object({ message: message.optional() })),
    output: single(`${singular}_revision`, records.revision),
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
      const place = await resolveRevision(registry, family, input)
      const to = await environmentVariant(registry, environment, context)
      const request = { entity: singular, key, message: text, loc: ['body'] }
      const revision = await readRevisionAt(registry, place)
      return answers.fresh(registry, await deployRevision(registry, revision, to, request, context))
    },
    recall: async ({ registry }, { id }) => answers.fresh(registry, await revisionById(registry, family, id)),
  })
}

/** The variants that a commit's `deploy: [environment slug]` means, each once. */
export async function deployTargets(
  registry: Registry,
  slugs: readonly string[],
  context: WriteContext,
): Promise<readonly VariantPlace[]> {
  const targets: VariantPlace[] = []
  for (const slug of new Set(slugs)) {
    targets.push(await environmentVariant(registry, { artifact: { slug } }, context))
  }
  return targets
}
