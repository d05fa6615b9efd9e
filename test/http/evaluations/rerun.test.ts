import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { git } from '../../support/git/git-program.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'
import { ADMIN_KEY, type Reply, type RunningService, startService } from '../../support/servers/service.ts'

describe('http: rows of an evaluation that are run again', () => {
  let service: RunningService
  let other: RunningService
  let client: EvaluationClient
  let hook: Server
  /** What the application answers for each row, or that it does not answer at all. */
  let answers: Record<string, string | undefined>
  let asked: string[] = []

  before(async () => {
    hook = createServer(async (request, response) => {
      let text = ''
      for await (const piece of request) text += String(piece)
      const { country } = (JSON.parse(text) as { inputs: { country: string } }).inputs
      asked.push(country)
      const answer = answers[country]
      if (answer !== undefined) response.end(JSON.stringify(answer))
      hook.emit('asked')
    })
    hook.listen(0, '127.0.0.1')
    await once(hook, 'listening')
    const { port } = hook.address() as AddressInfo // what a server on a port has
    service = await startService({ env: { HOOK_ALLOW_PRIVATE: 'true' } })
    other = await startService({ storeDir: service.storeDir, env: { HOOK_ALLOW_PRIVATE: 'true' } })
    client = new EvaluationClient(service)
    await client.testset('capitals', [
      { country: 'Norway', correct_answer: 'Oslo' },
      { country: 'Peru', correct_answer: 'Lima' },
      { country: 'Chad', correct_answer: 'N’Djamena' },
    ])
    await client.workflow('bot', { uri: 'svc:custom:hook:v0', url: `http://127.0.0.1:${port}` })
    await client.workflow('exact', { uri: 'svc:builtin:auto_exact_match:v0' }, { is_evaluator: true })
  })
  after(async () => {
    await other.stop({ keepStore: true })
    await service.stop()
    hook.closeAllConnections()
    hook.close()
  })
  beforeEach(() => {
    answers = { Norway: 'Oslo', Peru: 'Quito', Chad: 'Abéché' }
    asked = []
  })

  const run = (): Promise<any> =>
    client.run({
      testset_ref: { slug: 'capitals' },
      application_ref: { slug: 'bot' },
      evaluator_refs: [{ slug: 'exact' }],
      concurrency: 1,
    })
  const rerun = (id: string, body: object, headers = {}): Promise<Reply> =>
    service.post(`/evaluations/${id}/rerun`, body, headers)
  const resultsOf = async (id: string, at = service, order = 'testset'): Promise<any[]> =>
    (await at.post(`/evaluations/${id}/results`, { order })).body.results
  const outputs = (results: any[]): string[] => results.map((it) => it.application.outputs)

  // interface 12.17
  it('have new results, verdicts and traces, and the others stay', async () => {
    const { id, summary } = await run()
    expect(summary.evaluators.exact).to.include({ passed: 1, failed: 2 })
    const before = await resultsOf(id)
    // Both servers know how it ended.
    expect((await other.get(`/evaluations/${id}`)).body.evaluation.summary).to.deep.equal(summary)
    expect(outputs(await resultsOf(id, other))).to.deep.equal(['Oslo', 'Quito', 'Abéché'])
    const newer = await client.commit('bot', { uri: 'svc:custom:hook:v0', url: 'http://127.0.0.1:9' })
    expect(newer).to.be.a('string')
    answers = { ...answers, Chad: 'N’Djamena', Norway: 'Bergen' }
    asked = []
    const chad = before[2].testcase_id
    const said = { annotation: { trace_id: before[2].trace_id, data: { outputs: { approved: false } } } }
    expect((await service.post('/annotations', said)).status).to.equal(200)
    const { status, text, body } = await rerun(id, { testcase_ids: [chad, chad] })
    expect(status, text).to.equal(200)
    expect(asked).to.deep.equal(['Chad'])
    expect(body.evaluation).to.include({ id, state: 'finished', rows: 3 })
    expect(body.evaluation.summary).to.include({ done: 3, failed: 0 })
    expect(body.evaluation.summary.evaluators.exact).to.include({ passed: 2, failed: 1, scored: 3 })
    for (const at of [service, other]) {
      expect((await at.get(`/evaluations/${id}`)).body.evaluation).to.deep.equal(body.evaluation)
      for (const order of ['testset', 'done']) {
        const after = await resultsOf(id, at, order)
        expect(outputs(after)).to.deep.equal(['Oslo', 'Quito', 'N’Djamena'])
        expect(after.slice(0, 2)).to.deep.equal(before.slice(0, 2))
        expect(after[2].evaluators.exact.outputs.success).to.equal(true)
      }
    }
    const { trace_id: traceId } = before[2]
    const { body: spans } = await service.post('/spans/query', {
      filtering: { conditions: [{ field: 'trace_id', value: traceId }] },
    })
    expect(spans.spans.map((it: any) => it.span_name)).to.have.members([
      'evaluation',
      'hook_v0',
      'POST',
      'auto_exact_match_v0',
    ])
    expect(JSON.stringify(spans)).to.include('N’Djamena').and.not.include('Abéché')
    const { body: thumbs } = await service.post('/annotations/query', { annotation: { trace_id: traceId } })
    expect(thumbs.count).to.equal(0)
    const lines = git(service.repository('bot'), ['notes', '--ref=evaluations', 'show', 'bot~1'])
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.filter((it) => it.evaluation === id)).to.have.length(3)
    const { usage, ...counted } = body.evaluation.summary
    expect(usage.duration_ms).to.be.at.least(0)
    expect(lines.find((it) => it.evaluation?.id === id).evaluation.summary).to.deep.equal(counted)
  })

  it('are told live, and may be several', async () => {
    await client.commit('bot', {
      uri: 'svc:custom:hook:v0',
      url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}`,
    })
    const { id } = await run()
    answers = { Norway: 'Oslo', Peru: 'Lima', Chad: 'N’Djamena' }
    const ids = (await resultsOf(id)).map((it) => it.testcase_id)
    const response = await fetch(`${service.url}/evaluations/${id}/rerun`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey ${ADMIN_KEY}`,
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
      },
      body: JSON.stringify({ testcase_ids: ids }),
    })
    const text = await response.text()
    const last = JSON.parse(text.trim().split('\n').at(-1) ?? '')
    expect(last.type).to.equal('result')
    expect(last.data.evaluation.summary.evaluators.exact).to.include({ passed: 3, failed: 0 })
    const begun = await rerun(id, { testcase_ids: ids, wait: false })
    expect(begun.body.evaluation.state).to.equal('running')
    await client.service.post(`/evaluations/${id}/stop`)
    expect((await service.get(`/evaluations/${id}`)).body.evaluation.state).to.equal('finished')
  })

  it('keep their results if the evaluation is stopped before they are done', async () => {
    const { id, summary } = await run()
    const before = await resultsOf(id)
    answers = { Norway: 'Bergen' }
    const hanging = once(hook, 'asked').then(() => once(hook, 'asked'))
    const [norway, peru] = before.map((it) => it.testcase_id)
    const asking = rerun(id, { testcase_ids: [norway, peru] })
    await hanging
    expect(refused(await rerun(id, { testcase_ids: [norway] }))).to.equal('400 contradictory_request')
    expect((await other.get(`/evaluations/${id}`)).body.evaluation.summary).to.deep.equal(summary)
    expect((await service.post(`/evaluations/${id}/stop`)).body.evaluation.state).to.equal('finished')
    expect((await asking).body.evaluation.summary.evaluators.exact).to.include({ passed: 0, failed: 3 })
    expect(outputs(await resultsOf(id))).to.deep.equal(['Bergen', 'Quito', 'Abéché'])
  })

  it('are judged again only, where the evaluation judged outputs of another one', async () => {
    const { id } = await run()
    const { body } = await service.post(`/evaluations/${id}/judge`, { evaluator_refs: [{ slug: 'exact' }] })
    asked = []
    const [first] = await resultsOf(id)
    const again = await rerun(body.evaluation.id, { testcase_ids: [first.testcase_id] })
    expect(again.body.evaluation.summary.evaluators).to.deep.equal(body.evaluation.summary.evaluators)
    expect(asked).to.deep.equal([])
  })

  it('are refused where they are none, and for a key that may not', async () => {
    const { id } = await run()
    const [{ testcase_id: known }] = await resultsOf(id)
    const strange = '019b2c6e-7a10-8c3e-9d41-6f2a7c1e5b80'
    const none = await rerun(id, { testcase_ids: [known, strange], wait: false })
    expect(refused(none)).to.equal('422 invalid_request')
    expect(none.body.errors[0]).to.deep.include({
      loc: ['body', 'testcase_ids'],
      type: 'unknown_testcase',
    })
    expect(none.body.detail).to.include(`${strange} is no testcase of capitals-1`)
    for (const body of [
      {},
      { testcase_ids: [] },
      { testcase_ids: ['x'] },
      { testcase_ids: [known], more: 1 },
    ])
      expect((await rerun(id, body)).status).to.equal(422)
    expect(refused(await rerun(strange, { testcase_ids: [known] }))).to.equal('404 evaluation_not_found')
    const { body: made } = await service.post('/keys', { key: { name: 'reader', scopes: ['read'] } })
    const reader = { authorization: `ApiKey ${made.key.secret}` }
    expect((await rerun(id, { testcase_ids: [known] }, reader)).status).to.equal(403)
  })
})

function refused({ status, body }: Reply): string {
  return `${status} ${body?.code}`
}
