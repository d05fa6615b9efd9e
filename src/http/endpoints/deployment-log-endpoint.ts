import { z } from 'zod'
import { TimeSlice } from '../../base/scheduling.ts'
import { type LoggedDeployment, logDeployments, referencesTo } from '../../registry/environments.ts'
import type { Pin, Registry } from '../../registry/registries.ts'
import { dateOf } from '../../registry/revisions.ts'
import type { PresentOptions } from '../revisions/record.ts'
import { presentAuthor, presentShort } from '../revisions/record.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { list, shortRevision, timestamp } from '../schemas/record-schemas.ts'
import { newestFirstWindowing, reference } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** `POST /deployments/log`: what was deployed to an environment and when, without the rest of its content. */
export function deploymentLogEndpoint({ surface, present }: SurfaceContext): Endpoint {
  return endpoint({
    method: 'POST',
    path: '/deployments/log',
    tag: surface.plural,
    summary:
      'What was deployed to an environment, newest first: which keys moved from which revision to which',
    scope: 'read',
    input: z.object({
      environment_ref: reference.omit({ version: true }),
      windowing: newestFirstWindowing.optional(),
    }),
    output: list('entries', entry),
    example: { environment_ref: { slug: 'production' } },
    run: async ({ registry, input: { environment_ref: environment, windowing }, untilGone }) => {
      const window = await logDeployments(registry, environment, windowing, new TimeSlice(untilGone()))
      const entries = window.rows.map((it) => presentEntry(registry, it, present))
      return respondWithList('entries', window, windowing, entries)
    },
  })
}

/** The target of a key, as the environment names it. */
const target = z.strictObject({
  // Its family; absent if the target is unknown.
  kind: z.string().optional(),
  artifact: z.string().optional(),
  variant: z.string().optional(),
  revision: z.string().optional(),
  version: z.union([z.int(), z.string()]).optional(),
})

const entry = z.strictObject({
  environment_revision: shortRevision,
  author: z.string(),
  date: timestamp,
  message: z.string().optional(),
  subject: z.string(),
  // `from` is absent for a new key, `to` for a removed one.
  moved: z.array(z.strictObject({ key: z.string(), from: target.optional(), to: target.optional() })),
})

function presentEntry(
  registry: Registry,
  { revision, moved }: LoggedDeployment,
  options: PresentOptions,
): object {
  const { commit, message, subject } = revision.stored
  return {
    environment_revision: presentShort(revision, options),
    author: presentAuthor(`${commit.author.name} <${commit.author.email}>`, options),
    date: dateOf(revision),
    message,
    subject,
    moved: moved.map(({ key, from, to }) => ({
      key,
      ...(from ? { from: presentTarget(registry, from) } : {}),
      ...(to ? { to: presentTarget(registry, to) } : {}),
    })),
  }
}

function presentTarget({ families }: Registry, pin: Pin): object {
  for (const family of families) {
    const { artifact, variant, revision } = referencesTo(family, pin) ?? {}
    if (!artifact && !variant && !revision) continue
    return {
      kind: family.name,
      artifact: artifact?.slug,
      variant: variant?.slug,
      revision: revision?.slug,
      version: revision?.version,
    }
  }
  return {}
}
