import { z } from 'zod'
import { archivedLevel, type ArtifactView } from '../../registry/artifacts.ts'
import { type GraphNode, graphOf, resolveArtifact, isoSeconds } from '../../registry/revisions.ts'
import { type PresentOptions, presentAuthor, presentVersion } from '../revisions/record.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { envelope, parentsBeside } from '../schemas/spellings.ts'
import { graphNode, list } from '../schemas/record-schemas.ts'
import { newestFirstWindowing } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** `POST …/graph` of a surface: the commits of all variants of an artifact, for drawing its history. */
export function graphEndpoint({ surface, names, present }: SurfaceContext): Endpoint {
  const { family, path, singular, plural } = surface
  return endpoint({
    method: 'POST',
    path: `/${path}/graph`,
    tag: plural,
    summary: 'The commits of all variants, newest first, with their parents and the refs that name them',
    scope: 'read',
    input: envelope({
      artifact: { ...parentsBeside(names).artifactRef, required: true },
      windowing: { names: ['windowing'], schema: newestFirstWindowing },
      includeSignatures: { names: ['include_signatures'], schema: z.boolean() },
    }),
    output: list('nodes', graphNode),
    example: { [`${singular}_ref`]: { slug: 'support-bot' }, windowing: { limit: 100 } },
    run: async ({ registry, input }) => {
      const artifact = await resolveArtifact(registry, family, input.artifact)
      const signers = input.includeSignatures ? registry.signing.allowed : undefined
      const window = await graphOf(artifact, input.windowing, signers)
      const nodes = window.rows.map((node) => presentNode(node, artifact, present))
      return respondWithList('nodes', window, input.windowing, nodes)
    },
  })
}

function presentNode(
  { variant, seconds, ...node }: GraphNode,
  artifact: ArtifactView,
  options: PresentOptions,
): object {
  return {
    id: node.id,
    commit: node.commit,
    parents: node.parents,
    variant: variant && { id: variant.id, slug: variant.slug },
    version: presentVersion(node.version, options),
    subject: node.subject,
    author: presentAuthor(node.author, options),
    date: isoSeconds(seconds),
    refs: node.refs,
    signature: node.signature,
    archived: archivedLevel(artifact, variant, node.id),
  }
}
