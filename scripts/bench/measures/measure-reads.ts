import { join } from 'node:path'
import { z } from 'zod'
import { alternate } from '../figures/alternate.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post, postText } from '../call.ts'
import { type ChildServer, KEY, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { startFloor } from '../bench-servers.ts'
import { promptData } from '../fill-store.ts'
import { requestsPerSecond } from '../load.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'

/** Retrieves of 32 clients against the same bytes from bare Koa, and those that find nothing new against a bare 304. */
export async function measureReads({ folder, rounds, seconds, add }: BenchSetting): Promise<void> {
  const service = await startBranchpoint(join(folder, 'reads'))
  const create = { application: { slug: 'bot', data: promptData(1) } }
  await post(service, '/simple/applications', create, z.unknown())
  const body = JSON.stringify({ application_variant_ref: { slug: 'bot' } })
  const floor = await startFloor({ ANSWER: await postText(service, RETRIEVE, body) })
  const load = (url: string) => (seconds: number) => requestsPerSecond({ url, body, clients: 32, seconds })
  const headers = { 'if-none-match': await entityTag(service, body) }
  const poll = (url: string) => (seconds: number) =>
    requestsPerSecond({ url, body, headers, clients: 32, seconds, status: 304 })

  const retrieves = await alternate(
    'retrieve the latest, 32 clients',
    { rounds, seconds },
    {
      floor: load(`${floor.url}/answer`),
      ours: load(service.url + RETRIEVE),
    },
  )
  add(
    ratioFigure({
      ...retrieves,
      work: 'retrieve the latest by variant slug, 32 clients, against the same bytes from bare Koa',
      as: '%',
      unit: 'a second',
      goal: { is: '≥', value: 60 },
    }),
  )

  const polls = await alternate(
    'retrieve with If-None-Match, 32 clients',
    { rounds, seconds },
    {
      floor: poll(`${floor.url}/not-modified`),
      ours: poll(service.url + RETRIEVE),
    },
  )
  add(
    ratioFigure({
      ...polls,
      work: 'retrieve with If-None-Match answered 304, 32 clients, against a bare 304 from Koa',
      as: '%',
      unit: 'a second',
      goal: { is: '≥', value: 60 },
    }),
  )
  await Promise.all([service.stop(), floor.stop()])
}

const RETRIEVE = '/applications/revisions/retrieve'

async function entityTag({ url }: ChildServer, body: string): Promise<string> {
  const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' }
  const response = await fetch(url + RETRIEVE, { method: 'POST', headers, body })
  const tag = response.headers.get('etag')
  if (tag === null) throw new Error(`${RETRIEVE} was answered ${response.status} without an entity tag`)
  return tag
}
