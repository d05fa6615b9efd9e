import { z } from 'zod'
import { anyOf } from './any-of.ts'
import type { Population, SoakArtifact } from './population.ts'
import type { SoakClient, SoakRequest } from './soak-client.ts'
import type { SteadyTask } from './steady-load.ts'

/** Clients that retrieve, and clients that poll; each has one request under way at most. */
const READERS = 4

/** Everything that only reads. */
export function readingLoad(client: SoakClient, { bots, testsets }: Population): SteadyTask[] {
  const task = (name: string, perSecond: number, request: () => SoakRequest): SteadyTask => ({
    name,
    perSecond,
    work: async () => void (await client.send(request())),
  })
  const readers = Array.from({ length: READERS }, () => [
    task('retrieve', 16, () => ({
      path: '/applications/revisions/retrieve',
      body: { application_variant_ref: { slug: anyOf(bots).slug } },
    })),
    poll(client, bots),
  ])
  return [
    ...readers.flat(),
    task('retrieve a version', 8, () => ({
      path: '/applications/revisions/retrieve',
      body: { application_revision_ref: { slug: anyOf(bots).slug, version: 1 } },
    })),
    task('query', 4, () => ({
      path: '/applications/query',
      body: { application: { tags: { team: 'support' } }, windowing: { limit: 10 } },
    })),
    task('log', 2, () => ({
      path: '/applications/revisions/log',
      body: { application: { application_variant_id: anyOf(bots).variantId }, depth: 20 },
    })),
    task('query of revisions', 1, () => ({
      path: '/applications/revisions/query',
      body: { application_refs: [{ id: anyOf(bots).id }], windowing: { limit: 10 } },
    })),
    task('diff', 2, () => {
      const { slug } = anyOf(bots)
      return {
        path: '/applications/revisions/diff',
        body: { base: { slug, version: 1 }, head: { slug, version: 2 } },
      }
    }),
    task('resolve', 4, () => ({
      path: '/applications/revisions/resolve',
      body: { application_ref: { slug: 'greeter' } },
    })),
    task('page of rows', 4, () => ({
      path: '/testsets/revisions/retrieve',
      body: { testset_ref: { slug: anyOf(testsets).slug }, windowing: { limit: 100 } },
    })),
    task('download', 1, () => ({ path: `/simple/testsets/${anyOf(testsets).id}/download?file_type=csv` })),
    task('traces', 1, () => ({
      path: '/traces/query',
      body: {
        filtering: { conditions: [{ field: 'references', operator: 'has', value: { slug: 'exact' } }] },
        windowing: { limit: 10 },
      },
    })),
    task('saved query', 0.5, () => ({
      path: '/queries/revisions/retrieve',
      body: { query_ref: { slug: 'failures' }, include_traces: true },
    })),
  ]
}

/** Somebody who asks again and again what production runs, and remembers the last answer's tag. */
function poll(client: SoakClient, bots: readonly SoakArtifact[]): SteadyTask {
  const tags = new Map<string, string>()
  return {
    name: 'poll',
    perSecond: 16,
    work: async () => {
      const { slug } = anyOf(bots)
      const tag = tags.get(slug)
      const { etag } = await client.send({
        path: '/applications/revisions/retrieve',
        body: { environment_ref: { slug: 'production' }, application_ref: { slug } },
        headers: tag === undefined ? {} : { 'if-none-match': tag },
        expected: [200, 304],
      })
      tags.set(slug, tagged.parse(etag))
    },
  }
}

const tagged = z.string()
