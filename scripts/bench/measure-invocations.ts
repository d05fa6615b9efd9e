import { join } from 'node:path'
import { z } from 'zod'
import { alternate } from './alternate.ts'
import { post, postText } from './call.ts'
import { startBranchpoint, startFloor } from './child-server.ts'
import type { BenchSetting } from './figures.ts'
import { requestsPerSecond } from './load.ts'

/** Invocations of a stored evaluator, each leaving a trace, against the same bytes in and out of bare Koa. */
export async function measureInvocations({ folder, rounds, add }: BenchSetting): Promise<void> {
  const service = await startBranchpoint(join(folder, 'invoked'))
  const create = { evaluator: { slug: 'exact', data: { uri: 'svc:builtin:auto_exact_match:v0' } } }
  const { evaluator } = await post(service, '/simple/evaluators/', create, created)
  const path = `${new URL(evaluator.data.url).pathname}/invoke`
  const body = JSON.stringify({ data: { inputs: { correct_answer: 'Paris' }, outputs: 'Paris' } })
  const answer = await postText(service, path, body)
  const floor = await startFloor({ ANSWER: answer })
  const load = (url: string) => (seconds: number) =>
    requestsPerSecond({ url, method: 'POST', body, clients: 32, seconds })

  const { ours, floor: bare } = await alternate('invoke auto_exact_match, 32 clients', rounds, {
    floor: load(`${floor.url}/answer`),
    ours: load(service.url + path),
  })
  const share = ours / bare
  add(
    'invocations of auto_exact_match a second, one process, 32 clients, a trace each',
    ours.toFixed(0),
    '≥ 1,000',
    ours >= 1000,
  )
  add(
    'the same against the same bytes from bare Koa',
    `${(share * 100).toFixed(0)} % (${ours.toFixed(0)} against ${bare.toFixed(0)} a second)`,
    '≥ 40 %',
    share >= 0.4,
  )
  await Promise.all([service.stop(), floor.stop()])
}

const created = z.object({ evaluator: z.object({ data: z.object({ url: z.string() }) }) })
