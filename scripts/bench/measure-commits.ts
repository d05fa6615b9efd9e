import { join } from 'node:path'
import { z } from 'zod'
import { alternate } from './alternate.ts'
import { post, postText } from './call.ts'
import { startBranchpoint, startFloor } from './child-server.ts'
import type { BenchSetting } from './figures.ts'
import { promptData } from './fill-store.ts'
import { requestsPerSecond } from './load.ts'

/** Durable commits of one client against append and sync; retrieves of 32 against the same bytes from bare Koa. */
export async function measureCommits({ folder, rounds, add }: BenchSetting): Promise<void> {
  const service = await startBranchpoint(join(folder, 'one'))
  const create = { application: { slug: 'bot', data: promptData(1) } }
  const { application } = await post(service, '/simple/applications', create, created)
  const commit = JSON.stringify({
    application_revision_commit: {
      application_variant_id: application.variant_id,
      message: 'Next',
      data: promptData(2),
    },
  })
  const retrieve = JSON.stringify({ application_variant_ref: { slug: 'bot' } })
  const answer = await postText(service, '/applications/revisions/retrieve', retrieve)
  const floor = await startFloor({ APPEND_TO: join(folder, 'append.log'), ANSWER: answer })
  const load = (url: string, body: string, clients: number) => (seconds: number) =>
    requestsPerSecond({ url, method: 'POST', body, clients, seconds })

  const commits = await alternate('durable commit, 1 client', rounds, {
    floor: load(`${floor.url}/append`, commit, 1),
    ours: load(`${service.url}/applications/revisions/commit`, commit, 1),
  })
  const ratio = commits.floor / commits.ours
  add(
    'durable commit, 1 client, against append and sync',
    `${ratio.toFixed(2)} × (${(1000 / commits.ours).toFixed(2)} ms against ${(1000 / commits.floor).toFixed(2)} ms)`,
    '≤ 4 ×',
    ratio <= 4,
  )

  const retrieves = await alternate('retrieve the latest, 32 clients', rounds, {
    floor: load(`${floor.url}/answer`, retrieve, 32),
    ours: load(`${service.url}/applications/revisions/retrieve`, retrieve, 32),
  })
  const share = retrieves.ours / retrieves.floor
  add(
    'retrieve the latest by variant slug, 32 clients, against the same bytes from bare Koa',
    `${(share * 100).toFixed(0)} % (${retrieves.ours.toFixed(0)} against ${retrieves.floor.toFixed(0)} a second)`,
    '≥ 60 %',
    share >= 0.6,
  )
  await Promise.all([service.stop(), floor.stop()])
}

const created = z.object({ application: z.object({ variant_id: z.string() }) })
