import { basename } from 'node:path/posix'
import { z } from 'zod'
import { principalOf, SCOPES } from '../../access/keys.ts'
import { countArtifacts, queryArtifacts } from '../../registry/artifacts.ts'
import { newestRevisions } from '../../registry/revisions.ts'
import { presentVersion } from '../revisions/record.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { shortRevision, single } from '../schemas/record-schemas.ts'
import { principal } from '../schemas/key.ts'
import type { SurfaceContext } from '../surface-context.ts'

const NEWEST_REVISIONS_SHOWN = 10

/**
 * `GET /projects/current`: an overview of the key's project for a start page (interface 13.7), without
 * archived items.
 */
export function projectEndpoint(contexts: readonly SurfaceContext[]): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/projects/current',
    tag: 'projects',
    summary:
      'The project of the key: how much it holds, its environments, what is newest, what the key may do',
    scope: 'read',
    output: single('project', projectRecord(contexts)),
    run: async ({ registry, context: { actor }, caller }) => {
      const counts: Record<string, number> = {}
      for (const { surface } of contexts) {
        const query = { filter: {}, roles: surface.fixedFlags }
        counts[surface.plural] = await countArtifacts(registry, surface.family, query)
      }
      const environments = await queryArtifacts(registry, registry.environments, { filter: {}, roles: {} })
      const newest = await newestRevisions(registry, NEWEST_REVISIONS_SHOWN)
      const [present = { versionType: 'number' as const }] = contexts.map((it) => it.present)
      const project = {
        name: basename(registry.store.folder),
        counts,
        environments: environments.rows.map(({ slug }) => slug),
        newest: newest.map(({ id, slug, version }) => ({
          id,
          slug,
          version: presentVersion(version, present),
        })),
        scopes: caller.key.scopes,
        principal: principalOf(actor),
      }
      return { body: { count: 1, project } }
    },
  })
}

function projectRecord(contexts: readonly SurfaceContext[]): z.ZodType {
  const counts = contexts.map(({ surface }) => [surface.plural, z.int().min(0)] as const)
  return z.strictObject({
    name: z.string(),
    counts: z.strictObject(Object.fromEntries(counts)),
    environments: z.array(z.string()),
    newest: z.array(shortRevision),
    scopes: z.array(z.enum(SCOPES)),
    principal,
  })
}
