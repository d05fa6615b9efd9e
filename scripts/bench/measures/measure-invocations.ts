import { join } from 'node:path'
import { z } from 'zod'
import { alternate } from '../figures/alternate.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post, postForHead, postText } from '../call.ts'
import { startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { startFloor } from '../bench-servers.ts'
import { requestsPerSecond } from '../load.ts'
import { median } from '../figures/median.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'

/**
 * Invocations of a stored evaluator, each leaving a trace, against the same bytes in and out of bare Koa. What the eight headers that the
 * protocol adds to an answer cost there, and in the client beside it, is noted: a floor of the same bytes has none of them.
 */
export async function measureInvocations({ folder, rounds, seconds, add }: BenchSetting): Promise<void> {
  const service = await startBranchpoint(join(folder, 'invoked'))
  const create = { evaluator: { slug: 'exact', data: { uri: 'svc:builtin:auto_exact_match:v0' } } }
  const { evaluator } = await post(service, '/simple/evaluators/', create, created)
  const path = `${new URL(evaluator.data.url).pathname}/invoke`
  const body = JSON.stringify({ data: { inputs: { correct_answer: 'Paris' }, outputs: 'Paris' } })
  const answer = await postText(service, path, body)
  const head = await postForHead(service, path, body)
  const floor = await startFloor({ ANSWER: answer, HEAD: JSON.stringify(head) })
  const load = (url: string) => (seconds: number) => requestsPerSecond({ url, body, clients: 32, seconds })

  const invocations = await alternate(
    'invoke auto_exact_match, 32 clients',
    { rounds, seconds },
    {
      floor: load(`${floor.url}/answer`),
      ours: load(service.url + path),
      sameHead: load(`${floor.url}/with-head`),
    },
  )
  const work = 'invocations of auto_exact_match, one process, 32 clients, a trace each'
  add(plainFigure({ work, rounds: invocations.ours, unit: 'a second', goal: { is: '≥', value: 1000 } }))
  add(
    ratioFigure({
      ...invocations,
      work: `${work}, against the same bytes from bare Koa`,
      as: '%',
      unit: 'a second',
      goal: { is: '≥', value: 35 },
      note: `${((100 * median(invocations.ours)) / median(invocations.sameHead)).toFixed(1)} % of one that sends the same head, too`,
    }),
  )
  await Promise.all([service.stop(), floor.stop()])
}

const created = z.object({ evaluator: z.object({ data: z.object({ url: z.string() }) }) })
