import { promptData } from '../../../bench/fill-store.ts'
import { anyOf } from './any-of.ts'
import type { Population, SoakArtifact } from './population.ts'
import { atlasData, commitTo, deploymentOf, someRows } from './population.ts'
import type { SoakClient, SoakRequest } from './soak-client.ts'
import type { SteadyTask } from './steady-load.ts'

/**
 * Everything that writes over REST. Revisions, rows and deployments come to what is there already; a fork every ten seconds and
 * an artifact every twenty are all that the index gets to know.
 */
export function writingLoad(
  client: SoakClient,
  { bots, testsets, hideable, atlas }: Population,
): SteadyTask[] {
  let number = 1000
  const task = (name: string, perSecond: number, request: (next: number) => SoakRequest): SteadyTask => ({
    name,
    perSecond,
    work: async () => void (await client.send(request(number++))),
  })
  return [
    task('commit', 6, (next) => commitTo(anyOf(bots), promptData(next))),
    task('deploy', 1, (next) => deploymentOf(anyOf(bots), 1 + (next % 2))),
    task('fork', 0.1, (next) => ({
      path: '/variants/fork',
      body: {
        application_variant: { slug: `fork-${next}` },
        application_variant_ref: { slug: anyOf(bots).slug },
        application_revision_ref: { version: 1 },
      },
    })),
    task('create', 0.05, (next) => ({
      path: '/simple/applications/',
      body: { application: { slug: `later-${next}`, data: promptData(next) } },
      headers: { 'idempotency-key': `later-${next}` },
    })),
    task('rename', 0.5, (next) => {
      const { id } = anyOf(bots)
      return {
        method: 'PUT',
        path: `/applications/${id}`,
        body: { application: { id, name: `Bot ${next}` } },
      }
    }),
    ...hideable.map((artifact) => hideAndShow(client, artifact)),
    task('rows', 1, () => ({
      path: '/testsets/revisions/commit?include_testcases=false&include_testcase_ids=false',
      body: {
        testset_revision_commit: {
          testset_id: anyOf(testsets).id,
          message: 'Soak',
          delta: { rows: { add: someRows(2) } },
        },
      },
    })),
    task('upload', 0.2, () => ({
      path: `/simple/testsets/${anyOf(testsets).id}/upload?include_testcases=false`,
      body: someRows(300)
        .map(({ data }) => JSON.stringify(data))
        .join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    })),
    // What is evaluated has to go on, too: results are kept on the revision that ran.
    task('commit what is evaluated', 0.05, (next) => commitTo(atlas, atlasData(next))),
  ]
}

function hideAndShow(client: SoakClient, { id }: SoakArtifact): SteadyTask {
  let isHidden = false
  return {
    name: 'archive',
    perSecond: 0.25,
    work: async () => {
      await client.send({ path: `/workflows/${id}/${isHidden ? 'unarchive' : 'archive'}`, body: {} })
      isHidden = !isHidden
    },
  }
}
