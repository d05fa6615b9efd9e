import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'

/** So many searches of a project wait for a thread at most (`workerPool`). */
const MOST_WAITING = 100
/** Takes until it is stopped, after a second. */
const BOMB = {
  data: { outputs: `${'a'.repeat(60)}!`, parameters: { regex_pattern: '(a+)+$' } },
}
/** Takes a moment, in a thread of its own. */
const LONG = {
  data: { outputs: 'b'.repeat(3000), parameters: { regex_pattern: '^(b+c?)+$' } },
}
const REGEX = '/services/auto_regex_test/v0/invoke'

describe('http: invocations that take long', () => {
  let service: RunningService
  let other: Record<string, string>
  before(async () => {
    service = await startService()
    const wanted = { project: 'other', name: 'other', scopes: ['invoke'] } as const
    const { token } = await createApiKey(nodeFs, service.storeDir, wanted)
    other = { authorization: `ApiKey ${token}` }
  })
  after(() => service.stop())

  async function gauge(name: string): Promise<number> {
    const { text } = await service.get('/metrics')
    return Number(new RegExp(`^branchpoint_${name} (.*)$`, 'm').exec(text)?.[1])
  }

  // interface 3.10
  it('are refused past a bound with 503 and Retry-After; other projects and evaluations have their turns; who leaves is not run for', async () => {
    const client = new EvaluationClient(service)
    await client.testset('texts', [{ n: 1 }])
    await client.workflow('long', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: LONG.data.outputs } },
    })
    await client.workflow(
      'judge',
      { uri: 'svc:builtin:auto_regex_test:v0', parameters: LONG.data.parameters },
      { is_evaluator: true },
    )

    const leaving = new AbortController()
    const refusals: Response[] = []
    const send = (): Promise<Response> =>
      fetch(service.url + REGEX, {
        method: 'POST',
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(BOMB),
        signal: leaving.signal,
      })
    // Whoever is refused tries again, so that the line stays as long as it may be.
    const flood = Array.from({ length: MOST_WAITING + 20 }, async () => {
      for (let response; (response = await send()).status === 503; await pause(50)) refusals.push(response)
    })
    const over = Promise.allSettled(flood)
    while (refusals.length === 0) await pause(5)
    expect(refusals[0]?.headers.get('retry-after')).to.equal('1')
    expect(await refusals[0]?.json()).to.include({ code: 'overloaded' })
    expect(await gauge('long_jobs_running')).to.be.at.least(1)

    const { status, body } = await service.post(REGEX, LONG, other)
    expect([status, body.data]).to.deep.equal([200, { outputs: { success: true } }])
    const evaluation = await client.run({
      testset_ref: { slug: 'texts' },
      application_ref: { slug: 'long' },
      evaluator_refs: [{ slug: 'judge' }],
    })
    expect(evaluation.summary.evaluators.judge).to.include({ passed: 1, errors: 0 })

    expect(await gauge('long_jobs_waiting')).to.be.greaterThan(0)
    leaving.abort()
    await over
    while ((await gauge('long_jobs_waiting')) + (await gauge('long_jobs_running')) > 0) await pause(5)
    expect((await service.post(REGEX, LONG)).status).to.equal(200)
    await service.traces.stored()
    const traces = await service.post('/traces/query', { windowing: { limit: 1000 } })
    expect(traces.text.split('the request ended before the search').length).to.be.greaterThan(
      MOST_WAITING / 2,
    )
  })
})
