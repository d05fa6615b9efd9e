import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { keyWithScopes } from '../invocation/key-with-scopes.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'

const ROWS = [0, 1, 2, 3, 4].map((n) => ({ n, correct_answer: n === 3 ? 'another' : `answer ${n}` }))

describe('http: evaluations: judging outputs again, and the order of results', () => {
  let service: RunningService
  let client: EvaluationClient
  let hook: HeldHook
  let first: any
  const order = {
    testset_ref: { slug: 'numbers' },
    application_ref: { slug: 'held' },
    evaluator_refs: [{ slug: 'exact' }],
    concurrency: 5,
  }
  const judge = (id: string, body: object, headers = {}) =>
    service.post(`/evaluations/${id}/judge`, body, headers)
  const results = async (id: string, body: object = {}): Promise<any> => {
    const answer = await service.post(`/evaluations/${id}/results`, body)
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }
  const numbersOf = (answer: any): number[] =>
    answer.results.map((it: any) => Number(it.application.outputs.slice('answer '.length)))
  const done = async (id: string, rows: number): Promise<void> => {
    while ((await service.get(`/evaluations/${id}`)).body.evaluation.summary.done < rows) await pause(5)
  }
  const ended = async (id: string): Promise<any> => {
    for (;;) {
      const { evaluation } = (await service.get(`/evaluations/${id}`)).body
      if (evaluation.state !== 'running') return evaluation
      await pause(5)
    }
  }

  before(async () => {
    service = await startService({ env: { HOOK_ALLOW_PRIVATE: 'true' } })
    client = new EvaluationClient(service)
    hook = await startHeldHook()
    await client.testset('numbers', ROWS)
    await client.workflow('held', { uri: 'svc:custom:hook:v0', url: hook.url })
    await client.workflow('exact', { uri: 'svc:builtin:auto_exact_match:v0' }, { is_evaluator: true })
    await client.commit('exact', {
      uri: 'svc:builtin:auto_exact_match:v0',
      parameters: { correct_answer_key: 'n' },
    })
    await client.workflow('asked', { uri: 'svc:custom:hook:v0', url: hook.url }, { is_evaluator: true })
    first = await client.run({ ...order, evaluator_refs: [], evaluator_revision_refs: [{ slug: 'exact-1' }] })
  })
  after(async () => {
    await service.stop()
    await hook.close()
  })

  it('judges the outputs that are there by other evaluators, and does not run the application', async () => {
    expect(first.summary.evaluators.exact).to.include({ passed: 4, failed: 1 })
    const calls = hook.calls
    const { status, text, body } = await judge(first.id, { evaluator_refs: [{ slug: 'exact' }] })
    expect(status, text).to.equal(200)
    const { evaluation } = body
    expect(evaluation).to.include({ state: 'finished', rows: 5, concurrency: 5, outputs_from: first.id })
    expect(evaluation.id).to.not.equal(first.id)
    expect(evaluation.application).to.deep.equal(first.application)
    expect(evaluation.testset).to.deep.equal(first.testset)
    expect(evaluation.evaluators.map((it: any) => [it.name, it.version])).to.deep.equal([['exact', 2]])
    expect(evaluation.summary.evaluators.exact).to.include({ passed: 0, failed: 5, errors: 0 })
    expect(hook.calls, 'runs of the application').to.equal(calls)
    const [before, after] = [await results(first.id), await results(evaluation.id)]
    expect(after.results.map((it: any) => [it.testcase_id, it.application])).to.deep.equal(
      before.results.map((it: any) => [it.testcase_id, it.application]),
    )
    expect((await service.get(`/evaluations/${first.id}`)).body.evaluation, 'the older one').to.deep.equal(
      first,
    )
    const listed = await service.post('/evaluations/query')
    expect(listed.body.evaluations.find((it: any) => it.id === evaluation.id)).to.deep.equal(evaluation)
  })

  it('leaves a trace a row that links to the run that it judges, and a note that names the evaluation', async () => {
    const { body } = await judge(first.id, { evaluator_refs: [{ slug: 'exact' }] })
    const [before] = (await results(first.id)).results
    const [after] = (await results(body.evaluation.id)).results
    const ran = (await service.get(`/traces/${before.trace_id}`)).body.trace.spans.evaluation
    const root = (await service.get(`/traces/${after.trace_id}`)).body.trace.spans.evaluation
    expect(Object.keys(root.spans)).to.deep.equal(['auto_exact_match_v0'])
    const application = ran.spans.hook_v0
    expect(root.links).to.deep.equal([
      { trace_id: before.trace_id, span_id: application.span_id, attributes: { key: 'invocation' } },
    ])
    const note = execFileSync(
      'git',
      ['-C', service.repository('held'), 'notes', '--ref=evaluations', 'show', 'held'],
      { encoding: 'utf8' },
    )
    const heads = note.split('\n').filter((line) => line.startsWith('{"evaluation":{'))
    const head = heads.map((line) => JSON.parse(line)).find((it) => it.evaluation.id === body.evaluation.id)
    expect(head.evaluation.outputs_from).to.equal(first.id)
  })

  it('what was judged again can be judged again: the outputs are those of the run that made them', async () => {
    const again = (await judge(first.id, { evaluator_refs: [{ slug: 'exact' }] })).body.evaluation
    const { body } = await judge(again.id, { evaluator_revision_refs: [{ slug: 'exact-1' }] })
    expect(body.evaluation.outputs_from).to.equal(first.id)
    expect(body.evaluation.summary.evaluators).to.deep.equal(first.summary.evaluators)
  })

  it('does not judge rows that the application failed on', async () => {
    await client.workflow('failing', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: 'answer 1' } },
      schemas: { inputs: { type: 'object', properties: { n: { const: 1 } } } },
    })
    const run = await client.run({ ...order, application_ref: { slug: 'failing' } })
    const { body } = await judge(run.id, { evaluator_revision_refs: [{ slug: 'exact-1' }] })
    expect(body.evaluation.summary).to.deep.include({ done: 5, failed: 4 })
    expect(body.evaluation.summary.evaluators.exact).to.include({ passed: 1, failed: 0, errors: 0 })
    const { results: rows } = await results(body.evaluation.id)
    expect(rows[0].application).to.have.property('error')
    expect(rows[0].evaluators).to.deep.equal({})
  })

  it('goes on where it was stopped, without a run of the application', async () => {
    hook.hold()
    const calls = hook.calls
    const order = { evaluator_refs: [{ slug: 'asked' }], concurrency: 2, wait: false }
    const { id } = (await judge(first.id, order)).body.evaluation
    await hook.release(0)
    await done(id, 1)
    const stopped = (await service.post(`/evaluations/${id}/stop`)).body.evaluation
    expect(stopped).to.include({ state: 'interrupted', outputs_from: first.id })
    hook.let()
    const { body, text } = await service.post(`/evaluations/${id}/resume`)
    expect(body.evaluation, text).to.include({ state: 'finished', outputs_from: first.id })
    expect(body.evaluation.summary).to.deep.include({ done: 5, failed: 0 })
    expect(hook.applicationCalls, 'runs of the application').to.equal(5)
    expect(hook.calls).to.be.greaterThan(calls)
  })

  it('begins one however often a request with an Idempotency-Key is sent', async () => {
    const key = { 'idempotency-key': 'judge-once' }
    const order = { evaluator_refs: [{ slug: 'exact' }] }
    const once = await judge(first.id, order, key)
    const again = await judge(first.id, order, key)
    expect(again.headers.get('idempotent-replayed')).to.equal('true')
    expect(again.body.evaluation).to.deep.equal(once.body.evaluation)
  })

  it('refuses what cannot be judged, and keeps nothing', async () => {
    hook.hold()
    const { body } = await service.post('/evaluations/run', { ...order, wait: false })
    const { id } = body.evaluation
    const exact = { evaluator_refs: [{ slug: 'exact' }] }
    const count = (await service.post('/evaluations/query')).body.count
    const refusals = async (of: string, order: object, headers = {}) => {
      const { status, body } = await judge(of, order, headers)
      return [status, body.code, body.detail]
    }
    const running = await refusals(id, exact)
    expect(running.slice(0, 2)).to.deep.equal([400, 'contradictory_request'])
    expect(running[2]).to.include('not finished')
    await service.post(`/evaluations/${id}/stop`)
    hook.let()
    expect((await refusals(id, exact))[2]).to.include(`/evaluations/${id}/resume`)
    const none = await refusals(first.id, {})
    expect(none.slice(0, 2)).to.deep.equal([422, 'invalid_request'])
    expect(none[2]).to.include('evaluator_refs')
    const nowhere = await refusals(first.id, { evaluator_refs: [{ slug: 'nowhere' }] })
    expect(nowhere.slice(0, 2)).to.deep.equal([404, 'artifact_not_found'])
    const reader = await refusals(first.id, exact, await keyWithScopes(service, ['read', 'write']))
    expect(reader[0]).to.equal(403)
    expect((await service.post('/evaluations/query')).body.count).to.equal(count)
  })

  it('answers results as they were done while it runs, then as the testset has them; a cursor keeps its order', async () => {
    hook.hold()
    const { body } = await service.post('/evaluations/run', { ...order, wait: false })
    const { id } = body.evaluation
    for (const [at, n] of [4, 2, 3].entries()) {
      await hook.release(n)
      await done(id, at + 1)
    }
    const running = await results(id, { windowing: { limit: 2 } })
    expect(numbersOf(running)).to.deep.equal([4, 2])
    expect(running.windowing.next).to.match(/^done:/)
    expect(numbersOf(await results(id, { order: 'testset' })), 'those that are done').to.deep.equal([2, 3, 4])
    const inOrder = await results(id, { order: 'testset', windowing: { limit: 1 } })

    await hook.release(1)
    await done(id, 4)
    hook.let()
    expect(await ended(id)).to.include({ state: 'finished' })
    expect(numbersOf(await results(id))).to.deep.equal([0, 1, 2, 3, 4])
    expect(numbersOf(await results(id, { order: 'done' }))).to.deep.equal([4, 2, 3, 1, 0])
    const { next } = running.windowing
    expect(numbersOf(await results(id, { windowing: { next } })), 'behind the first page').to.deep.equal([
      3, 1, 0,
    ])
    const behind = { windowing: { limit: 2, next: inOrder.windowing.next } }
    const second = await results(id, behind)
    expect(numbersOf(second)).to.deep.equal([3, 4])
    expect(second).to.not.have.property('windowing')
    const filtered = await results(id, { result: { outcome: 'failed' }, windowing: { limit: 3 } })
    expect(numbersOf(filtered)).to.deep.equal([0, 1, 2])
  })

  it('refuses a cursor of another order, and what is no cursor or order', async () => {
    const page = await results(first.id, { windowing: { limit: 2 } })
    const asDone = await results(first.id, { order: 'done', windowing: { limit: 2 } })
    for (const [body, said] of [
      [{ order: 'done', windowing: { next: page.windowing.next } }, 'goes on in the order "testset"'],
      [{ order: 'testset', windowing: { next: asDone.windowing.next } }, 'goes on in the order "done"'],
      [{ windowing: { next: 'done:1' } }, 'is no cursor'],
      [{ windowing: { next: `done:${first.id}` } }, 'is no testcase'],
      [{ windowing: { next: first.id } }, 'is no testcase'],
      [{ order: 'newest' }, 'order'],
    ] as const) {
      const answer = await service.post(`/evaluations/${first.id}/results`, body)
      expect([answer.status, answer.body.code], answer.text).to.deep.equal([422, 'invalid_request'])
      expect(answer.body.detail).to.include(said)
    }
  })

  it('answers results as they were done where the testset is gone', async () => {
    await client.testset('leaving', ROWS.slice(0, 3))
    const { id } = await client.run({
      ...order,
      testset_ref: { slug: 'leaving' },
      evaluator_refs: [],
    })
    rmSync(service.repository('leaving', 'testsets'), { recursive: true })
    expect(numbersOf(await results(id)).sort()).to.deep.equal([0, 1, 2])
    const asked = await service.post(`/evaluations/${id}/results`, { order: 'testset' })
    expect([asked.status, asked.body.code]).to.deep.equal([404, 'revision_not_found'])
    const judged = await judge(id, { evaluator_refs: [{ slug: 'exact' }] })
    expect([judged.status, judged.body.code]).to.deep.equal([404, 'revision_not_found'])
  })
})

/** An application and an evaluator over HTTP: answers at once, or row by row when it is told to. */
interface HeldHook {
  readonly url: string
  readonly calls: number
  /** Those without outputs to judge. */
  readonly applicationCalls: number
  hold(): void
  /** Answers those that wait and all that come. */
  let(): void
  /** Answers the run of the row with this `n`, once it has come. */
  release(n: number): Promise<void>
  close(): Promise<void>
}

async function startHeldHook(): Promise<HeldHook> {
  const waiting = new Map<number, ServerResponse>()
  let isHeld = false
  let calls = 0
  let applicationCalls = 0
  const answer = (n: number, response: ServerResponse): void => {
    waiting.delete(n)
    response.end(JSON.stringify(`answer ${n}`))
  }
  const server: Server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += String(piece)
    const { inputs, outputs } = JSON.parse(text)
    calls++
    if (outputs === undefined) applicationCalls++
    waiting.set(inputs.n, response)
    if (!isHeld) answer(inputs.n, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get calls() {
      return calls
    },
    get applicationCalls() {
      return applicationCalls
    },
    hold: () => (isHeld = true),
    let: () => {
      isHeld = false
      for (const [n, response] of waiting) answer(n, response)
    },
    release: async (n) => {
      while (!waiting.has(n)) await pause(2)
      answer(n, waiting.get(n) as ServerResponse)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
