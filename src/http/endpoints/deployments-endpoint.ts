import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { type CurrentDeployment, queryDeployments } from '../../registry/environments.ts'
import { archivedLevel } from '../../registry/artifacts.ts'
import { isoSeconds } from '../../registry/revisions.ts'
import type { PresentOptions } from '../revisions/record.ts'
import { presentAuthor, presentShort } from '../revisions/record.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { archivedLevels, list, shortRevision, timestamp } from '../schemas/record-schemas.ts'
import { pageWindowing, reference, slug } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/**
 * `POST /deployments/query`: what runs where, since when and by whom, and how many revisions it is behind.
 */
export function deploymentsEndpoint({ surface, present }: SurfaceContext): Endpoint {
  return endpoint({
    method: 'POST',
    path: '/deployments/query',
    tag: surface.plural,
    summary: 'What every environment runs: since when, by whom, and how far it is behind its variant',
    scope: 'read',
    input: z.object({
      deployment: z
        .object({
          environment_ref: reference.omit({ version: true }).optional(),
          artifact_slug: slug.optional(),
          contains: z
            .string()
            .max(200, 'must have at most 200 characters')
            .meta({ description: 'Part of the slug or the key, whatever the case.' })
            .optional(),
        })
        .optional(),
      include_archived: z
        .boolean()
        .optional()
        .meta({ description: 'Also what archived environments run; one that is named is answered anyway.' }),
      windowing: pageWindowing.optional(),
    }),
    output: list('deployments', deploymentRecord),
    example: { deployment: { environment_ref: { slug: 'production' } } },
    run: async ({
      registry,
      input: { deployment, include_archived: includeArchived, windowing },
      untilGone,
    }) => {
      const filter = {
        environment: deployment?.environment_ref,
        artifact: deployment?.artifact_slug,
        contains: deployment?.contains,
        includeArchived,
      }
      const slice = new TimeSlice(untilGone())
      const window = await queryDeployments(registry, filter, windowing, slice)
      const records = window.rows.map((it) => presentDeployment(it, present))
      return respondWithList('deployments', window, windowing, records)
    },
  })
}

const named = z.strictObject({ id: z.string(), slug: z.string() })

const deploymentRecord = z.strictObject({
  environment: named,
  key: z.string(),
  // Absent if the key's target does not exist.
  artifact: z
    .strictObject({ id: z.string(), slug: z.string(), name: z.string().optional(), kind: z.string() })
    .optional(),
  variant: named.optional(),
  revision: shortRevision.extend({ subject: z.string() }).optional(),
  // Which level is archived; a deployment keeps running.
  archived: archivedLevels.optional(),
  // Why the target does not exist.
  problem: z.string().optional(),
  since: z.strictObject({
    environment_revision: shortRevision,
    author: z.string(),
    date: timestamp,
    message: z.string().optional(),
  }),
  // Absent if the variant's history no longer contains the revision.
  latest: shortRevision.optional(),
  behind: z.int().min(0).optional(),
})

function presentDeployment(
  { environment, key, revision, since, latest }: CurrentDeployment,
  options: PresentOptions,
): object {
  const { author, committer } = since.stored.commit
  return {
    environment: { id: environment.id, slug: environment.slug },
    key,
    ...(revision instanceof Refusal ? { problem: revision.message } : presentRunning(revision, options)),
    since: {
      environment_revision: presentShort(since, options),
      author: presentAuthor(`${author.name} <${author.email}>`, options),
      date: isoSeconds(committer.seconds),
      message: since.stored.message,
    },
    latest: latest && presentShort(latest.revision, options),
    behind: latest?.ahead,
  }
}

function presentRunning(
  revision: Exclude<CurrentDeployment['revision'], Refusal>,
  options: PresentOptions,
): object {
  const { artifact, variant, stored } = revision
  return {
    artifact: {
      id: artifact.id,
      slug: artifact.slug,
      name: artifact.record.name,
      kind: artifact.family.name,
    },
    variant: { id: variant.id, slug: variant.slug },
    revision: { ...presentShort(revision, options), subject: stored.subject },
    archived: archivedLevel(artifact, variant, revision.id),
  }
}
