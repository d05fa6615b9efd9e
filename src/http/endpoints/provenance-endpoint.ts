import { z } from 'zod'
import {
  type CommitMessage,
  isoSeconds,
  type Provenance,
  type Running,
  type SignedRevision,
  provenanceOf,
} from '../../registry/revisions.ts'
import {
  type PresentOptions,
  presentArrival,
  presentAuthor,
  presentReferences,
  presentVersion,
} from '../revisions/record.ts'
import { type Endpoint, endpoint, named, revisionIn } from '../routing/endpoint.ts'
import {
  single,
  arrival,
  commitSignature,
  gitId,
  referenced,
  revisionReferencesSchema,
  timestamp,
} from '../schemas/record-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/**
 * `GET …/revisions/{id}/provenance` of a surface: the revision's commit and signature, and the environments
 * that run it now, each with its deployment and that one's signature.
 */
export function provenanceEndpoint({ surface, present, namesOf }: SurfaceContext): Endpoint {
  const { family, path, plural } = surface
  return endpoint({
    method: 'GET',
    path: `/${path}/revisions/:id/provenance`,
    ...named,
    tag: plural,
    summary:
      'Where the revision comes from: its commit, the signature, who pushed it, and the environments that run it now',
    scope: 'read',
    input: z.object({}),
    output: single('provenance', provenance),
    run: async ({ registry, params }) => {
      const place = await revisionIn(registry, family, params)
      const found = await provenanceOf(registry, place)
      return { body: { count: 1, provenance: presentProvenance(found, present, namesOf(registry)) } }
    },
  })
}

export function presentProvenance(
  { environments, arrival, ...own }: Provenance,
  options: PresentOptions,
  names: ReadonlyMap<string, string>,
): object {
  const { revision, commit } = own
  return {
    ...presentCommit(own, options),
    tree: commit.tree,
    parents: commit.parents,
    arrival: arrival && 'time' in arrival ? presentArrival(arrival, names) : (arrival ?? null),
    trailers: presentTrailers(revision.stored.trailers),
    environments: environments.map((it) => presentRunning(it, options)),
  }
}

function presentRunning({ environment, key, since }: Running, options: PresentOptions): object {
  const { id, slug, version } = since.revision
  return {
    ...presentReferences('environment', environment, options),
    key,
    since: { id, slug, version: presentVersion(version, options), ...presentCommit(since, options) },
  }
}

/** Author and date as everywhere (interface 4.19), and the committer. */
function presentCommit({ revision, commit, signature }: SignedRevision, options: PresentOptions): object {
  const { author, committer } = commit
  return {
    commit: revision.oid,
    author: presentAuthor(`${author.name} <${author.email}>`, options),
    committer: presentAuthor(`${committer.name} <${committer.email}>`, options),
    date: isoSeconds(committer.seconds),
    signature,
  }
}

function presentTrailers(trailers: CommitMessage['trailers']): object {
  return {
    variant: trailers.variant,
    slug: trailers.slug,
    deploy: trailers.deploy,
    deploy_key: trailers.deployKey,
    deploy_from: trailers.deployFrom,
    deploy_to: trailers.deployTo,
    idempotency_key: trailers.idempotencyKey,
  }
}

const commitOfRevision = {
  commit: gitId,
  author: z.string(),
  committer: z.string(),
  date: timestamp,
  signature: commitSignature,
}

/** A revision's commit, its signature, and what runs it now. */
export const provenance = z.strictObject({
  ...commitOfRevision,
  tree: gitId,
  parents: z.array(gitId),
  // Who pushed the commit, or `rest` if its signature proves that; null if unknown.
  arrival: z.union([arrival, z.strictObject({ door: z.literal('rest') })]).nullable(),
  trailers: z.strictObject({
    variant: z.string().optional(),
    slug: z.string().optional(),
    deploy: z.string().optional(),
    deploy_key: z.string().optional(),
    deploy_from: z.string().optional(),
    deploy_to: z.string().optional(),
    idempotency_key: z.string().optional(),
  }),
  environments: z.array(
    z.strictObject({
      ...revisionReferencesSchema('environment'),
      key: z.string(),
      // The deployment: the revision of the environment that gave the key its current value.
      since: referenced.extend(commitOfRevision),
    }),
  ),
})
