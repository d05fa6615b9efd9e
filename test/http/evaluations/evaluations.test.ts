import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { keyWithScopes } from '../invocation/key-with-scopes.ts'
import { type ChatStub, startChatStub } from '../../support/servers/chat-stub.ts'
import { startCountingHook } from '../../support/servers/counting-hook.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'

const COUNTRIES = [
  { country: 'Norway', correct_answer: 'Oslo' },
  { country: 'Peru', correct_answer: 'Lima' },
  { country: 'Chad', correct_answer: 'N’Djamena' },
  { country: 'Fiji', correct_answer: 'Suva' },
]

describe('http: evaluations', () => {
  let service: RunningService
  let client: EvaluationClient
  let model: ChatStub
  const git = (slug: string, ...args: string[]): string =>
    execFileSync('git', ['-C', service.repository(slug), ...args], { encoding: 'utf8' })
  const order = {
    testset_ref: { slug: 'capitals' },
    application_ref: { slug: 'always-oslo' },
    evaluator_refs: [{ slug: 'exact' }],
  }

  before(async () => {
    model = await startChatStub()
    service = await startService({
      env: { HOOK_ALLOW_PRIVATE: 'true', OPENAI_API_KEY: 'sk-any', OPENAI_BASE_URL: model.url },
    })
    client = new EvaluationClient(service)
    await client.testset('capitals', COUNTRIES)
    await client.workflow('always-oslo', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: 'Oslo' } },
    })
    await client.workflow('exact', { uri: 'svc:builtin:auto_exact_match:v0' }, { is_evaluator: true })
    await client.workflow(
      'close',
      { uri: 'svc:builtin:auto_levenshtein_distance:v0', parameters: { threshold: 0.3 } },
      { is_evaluator: true },
    )
  })
  after(async () => {
    await service.stop()
    await model.stop()
  })

  // interface 1.18
  it('runs every row through the application and every evaluator, pinned by revision', async () => {
    const evaluation = await client.run({ ...order, evaluator_refs: [{ slug: 'exact' }, { slug: 'close' }] })
    expect(evaluation).to.include({ state: 'finished', rows: 4, concurrency: 4 })
    expect(evaluation.application).to.include({ revision_slug: 'always-oslo-1', version: 1 })
    expect(evaluation.testset.revision_slug).to.equal('capitals-1')
    expect(evaluation.evaluators.map((it: any) => it.name)).to.deep.equal(['exact', 'close'])
    const { exact, close } = evaluation.summary.evaluators
    expect(exact).to.deep.equal({
      scored: 4,
      passed: 1,
      failed: 3,
      errors: 0,
      mean_score: 0.25,
      mean_rows: 4,
      success_rate: 0.25,
    })
    expect(close.passed).to.equal(1)
    expect(close.mean_score).to.be.within(0.25, 0.5)
    expect((await service.get(`/evaluations/${evaluation.id}`)).body.evaluation).to.deep.equal(evaluation)
  })

  it('runs what an environment has deployed', async () => {
    await service.post('/applications/revisions/deploy', {
      application_ref: { slug: 'always-oslo' },
      environment_ref: { slug: 'production' },
    })
    const { application_ref, ...deployed } = { ...order, environment_ref: { slug: 'production' } }
    for (const named of [
      deployed,
      { ...deployed, application_ref },
      { ...deployed, key: 'always-oslo.revision' },
    ]) {
      const evaluation = await client.run(named)
      expect(evaluation.application).to.include({ revision_slug: 'always-oslo-1' })
      expect(evaluation.testset).to.include({ revision_slug: 'capitals-1' })
    }
  })

  it('keeps what came of each row, a page at a time', async () => {
    const { id } = await client.run({ ...order, concurrency: 1 })
    const first = await service.post(`/evaluations/${id}/results`, { windowing: { limit: 3 } })
    expect(first.body.count).to.equal(3)
    const rest = await service.post(`/evaluations/${id}/results`, {
      windowing: { limit: 3, next: first.body.windowing.next },
    })
    const results = [...first.body.results, ...rest.body.results]
    expect(rest.body).to.not.have.property('windowing')
    expect(results.map((it: any) => it.evaluators.exact.outputs.success)).to.deep.equal([
      true,
      false,
      false,
      false,
    ])
    expect(results.every((it: any) => it.application.outputs === 'Oslo')).to.equal(true)
    const { body } = await service.post('/testsets/revisions/retrieve', { testset_ref: { slug: 'capitals' } })
    expect(results.map((it: any) => it.testcase_id)).to.deep.equal(body.testset_revision.data.testcase_ids)
  })

  it('answers the rows that ended in one way, by all evaluators or one, and those of named testcases', async () => {
    await client.workflow('half', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: 'Oslo' } },
      schemas: { inputs: { type: 'object', properties: { country: { not: { const: 'Peru' } } } } },
    })
    const { id } = await client.run({
      ...order,
      application_ref: { slug: 'half' },
      evaluator_refs: [{ slug: 'exact' }, { slug: 'close' }],
      concurrency: 1,
    })
    const all = (await service.post(`/evaluations/${id}/results`)).body.results.map(
      (it: any) => it.testcase_id,
    )
    const found = async (result: object, windowing = {}) => {
      const { body } = await service.post(`/evaluations/${id}/results`, { result, windowing })
      return body.results.map((it: any) => all.indexOf(it.testcase_id))
    }
    expect(await found({ outcome: 'error' })).to.deep.equal([1])
    expect(await found({ outcome: 'passed' })).to.deep.equal([0])
    expect(await found({ outcome: 'failed' })).to.deep.equal([2, 3])
    expect(await found({ outcome: 'failed', evaluator: 'close' })).to.deep.equal([2, 3])
    expect(await found({ testcase_ids: [all[3], all[1]] })).to.deep.equal([1, 3])
    expect(await found({ testcase_ids: [all[3], all[1]], outcome: 'failed' })).to.deep.equal([3])
    expect(await found({ testcase_ids: [] })).to.deep.equal([])
    const page = await service.post(`/evaluations/${id}/results`, {
      result: { outcome: 'failed' },
      windowing: { limit: 1 },
    })
    expect(page.body.windowing.next).to.equal(all[2])
    expect(await found({ outcome: 'failed' }, { next: all[2] })).to.deep.equal([3])
    const unknown = await service.post(`/evaluations/${id}/results`, { result: { evaluator: 'exacd' } })
    expect([unknown.status, unknown.body.errors[0].loc]).to.deep.equal([422, ['body', 'result', 'evaluator']])
    expect(unknown.body.detail).to.include(
      '"exacd" took no part in this evaluation. Its evaluators: exact, close',
    )
    for (const wrong of [{ outcome: 'lost' }, { testcase_ids: ['x'] }, { verdict: 'failed' }])
      expect((await service.post(`/evaluations/${id}/results`, { result: wrong })).status).to.equal(422)
  })

  it('leaves one trace a row: the run, the application and the evaluators in it', async () => {
    const { id } = await client.run(order)
    const { body } = await service.post(`/evaluations/${id}/results`)
    for (const { trace_id, testcase_id } of body.results) {
      const { body: found } = await service.get(`/traces/${trace_id}`)
      const root = found.trace.spans.evaluation
      expect(Object.keys(root.spans)).to.have.members(['mock_v0', 'auto_exact_match_v0'])
      expect(root.attributes.svc.references.testcase.id).to.equal(testcase_id)
      expect(root.attributes.svc.references.application_revision.slug).to.equal('always-oslo-1')
      expect(root.spans.auto_exact_match_v0.attributes.svc.data.inputs.outputs).to.equal('Oslo')
    }
  })

  it('stores the results as a git note on the application’s revision, which plain git shows', async () => {
    await client.workflow('noted', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: 'Suva' } },
    })
    const first = await client.run({ ...order, application_ref: { slug: 'noted' } })
    const second = await client.run({ ...order, application_ref: { slug: 'noted' } })
    const lines = git('noted', 'notes', '--ref=evaluations', 'show', 'noted')
      .trim()
      .split('\n')
      .map((it) => JSON.parse(it))
    expect(lines).to.have.length(10)
    expect([lines[0].evaluation.id, lines[5].evaluation.id]).to.deep.equal([first.id, second.id])
    expect(lines[0].evaluation.summary.evaluators.exact.passed).to.equal(1)
    expect(lines[1]).to.have.keys(['evaluation', 'testcase_id', 'trace_id', 'evaluators'])
    expect(git('noted', 'log', '--format=%s', 'refs/notes/evaluations').trim().split('\n')[0]).to.equal(
      'Evaluate noted-1 with capitals-1 (4 rows)',
    )
    expect(git('noted', 'fsck', '--strict')).to.equal('')
    const after = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'noted' } })
    expect(after.body.workflow_revision.version, 'a note is no revision').to.equal(1)
  })

  it('keeps a note where git has spread notes over folders, and leaves the others alone', async () => {
    await client.workflow('spread', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: 'Suva' } },
    })
    const commit = git('spread', 'rev-parse', 'spread').trim()
    const blob = execFileSync('git', ['-C', service.repository('spread'), 'hash-object', '-w', '--stdin'], {
      input: 'mine\n',
    })
      .toString()
      .trim()
    const rest = execFileSync('git', ['-C', service.repository('spread'), 'mktree'], {
      input: `100644 blob ${blob}\t${commit.slice(2)}\n`,
    })
      .toString()
      .trim()
    const root = execFileSync('git', ['-C', service.repository('spread'), 'mktree'], {
      input: `040000 tree ${rest}\t${commit.slice(0, 2)}\n`,
    })
      .toString()
      .trim()
    const head = git(
      'spread',
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit-tree',
      root,
      '-m',
      'notes',
    ).trim()
    git('spread', 'update-ref', 'refs/notes/evaluations', head)
    await client.run({ ...order, application_ref: { slug: 'spread' } })
    const shown = git('spread', 'notes', '--ref=evaluations', 'show', 'spread').split('\n')
    expect(shown[0]).to.equal('mine')
    expect(shown).to.have.length(1 + 5 + 1)
    expect(git('spread', 'ls-tree', '-r', '--name-only', 'refs/notes/evaluations').trim()).to.equal(
      `${commit.slice(0, 2)}/${commit.slice(2)}`,
    )
  })

  it('says of each row how long it took and how many tokens, and sums both, also after a resumption', async () => {
    const messages = [{ role: 'user', content: 'The capital of {{country}}?' }]
    const prompt = { messages, llm_config: { model: 'mock/examples' }, template_format: 'curly' }
    await client.workflow('counting', { uri: 'svc:builtin:completion:v0', parameters: { prompt } })
    const { id, summary } = await client.run({ ...order, application_ref: { slug: 'counting' } })
    const { results } = (await service.post(`/evaluations/${id}/results`)).body
    const sum = (of: (usage: any) => number): number =>
      results.reduce((all: number, { usage }: any) => all + of(usage), 0)
    expect(summary.usage.tokens.total).to.be.above(results.length)
    expect(summary.usage).to.deep.equal({
      duration_ms: sum((it) => it.duration_ms),
      tokens: {
        prompt: sum((it) => it.tokens.prompt),
        completion: sum((it) => it.tokens.completion),
        total: sum((it) => it.tokens.total),
      },
    })
    const { trace } = (await service.get(`/traces/${results[0].trace_id}`)).body
    expect(trace.spans.evaluation.attributes.svc.metrics.tokens.cumulative).to.deep.equal(
      results[0].usage.tokens,
    )
    const log = `${service.storeDir}/default/evaluations/${id}.jsonl`
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    writeFileSync(log, `${lines.slice(0, 2).join('\n')}\n`)
    const resumed = (await service.post(`/evaluations/${id}/resume`)).body.evaluation.summary.usage
    expect(resumed.tokens).to.deep.equal(summary.usage.tokens)
  })

  it('sums the costs of rows, and leaves the sum out if the cost of one is unknown, as of rows that an earlier version ran', async () => {
    const prompt = (model: string): object => ({
      uri: 'svc:builtin:completion:v0',
      parameters: {
        prompt: {
          messages: [{ role: 'user', content: 'The capital of {{country}}?' }],
          llm_config: { model },
          template_format: 'curly',
        },
      },
    })
    await client.workflow('priced', prompt('gpt-4o-mini'))
    await client.workflow('unpriced', prompt('gpt-of-tomorrow'))
    const { id, summary } = await client.run({ ...order, application_ref: { slug: 'priced' } })
    const { results } = (await service.post(`/evaluations/${id}/results`)).body
    // Each row: 11 tokens at 0.15 and 7 at 0.60 dollars for a million.
    for (const { usage } of results)
      expect(usage.costs).to.deep.equal({ prompt: 0.00000165, completion: 0.0000042, total: 0.00000585 })
    expect(summary.usage.costs).to.deep.equal({ prompt: 0.0000066, completion: 0.0000168, total: 0.0000234 })
    const { trace } = (await service.get(`/traces/${results[0].trace_id}`)).body
    expect(trace.spans.evaluation.attributes.svc.metrics.costs.cumulative).to.deep.equal(
      results[0].usage.costs,
    )
    const rerun = await service.post(`/evaluations/${id}/rerun`, { testcase_ids: [results[0].testcase_id] })
    expect(rerun.status, rerun.text).to.equal(200)
    expect(rerun.body.evaluation.summary.usage.costs, 'the row counts once').to.deep.equal(
      summary.usage.costs,
    )
    const judged = await service.post(`/evaluations/${id}/judge`, { evaluator_refs: [{ slug: 'exact' }] })
    expect(judged.body.evaluation.summary.usage, 'the outputs were paid for before').to.not.have.key('costs')
    const other = await client.run({ ...order, application_ref: { slug: 'unpriced' } })
    expect(other.summary.usage.tokens.total).to.equal(4 * 18)
    expect(other.summary.usage).to.not.have.key('costs')

    const { id: earlier } = await client.run({ ...order, application_ref: { slug: 'priced' } })
    const log = `${service.storeDir}/default/evaluations/${earlier}.jsonl`
    const [plan, ...rows] = readFileSync(log, 'utf8').trim().split('\n')
    // Earlier versions wrote rows without their usage.
    const old = JSON.parse(rows[0] ?? '')
    delete old.row.usage
    writeFileSync(log, `${[plan, JSON.stringify(old), rows[1]].join('\n')}\n`)
    const resumed = (await service.post(`/evaluations/${earlier}/resume`)).body.evaluation.summary.usage
    expect(resumed.tokens.total).to.equal(3 * 18)
    expect(resumed).to.not.have.key('costs')
  })

  it('a new evaluation may be of some rows only, which is judged and run again as one of all', async () => {
    const all = await client.run(order)
    const { results } = (await service.post(`/evaluations/${all.id}/results`)).body
    const [norway, peru, chad] = results.map((it: any) => it.testcase_id)
    const some = await client.run({ ...order, testcase_ids: [chad, norway] })
    expect(some).to.deep.include({ state: 'finished', rows: 2, testcase_ids: [norway, chad] })
    expect(some.summary).to.deep.include({ done: 2 })
    const done = (await service.post(`/evaluations/${some.id}/results`)).body.results
    expect(done.map((it: any) => it.testcase_id)).to.deep.equal([norway, chad])
    const judged = await service.post(`/evaluations/${some.id}/judge`, {
      evaluator_refs: [{ slug: 'exact' }],
    })
    expect(judged.body.evaluation).to.deep.include({ state: 'finished', testcase_ids: [norway, chad] })
    expect((await service.post(`/evaluations/${some.id}/rerun`, { testcase_ids: [peru] })).status).to.equal(
      422,
    )
    const unknown = await service.post('/evaluations/run', { ...order, testcase_ids: [all.id] })
    expect([unknown.status, unknown.body.errors[0].loc]).to.deep.equal([422, ['body', 'testcase_ids']])
  })

  it('counts rows that the application fails on, and goes on', async () => {
    await client.workflow('picky', {
      uri: 'svc:custom:mock:v0',
      parameters: { key: 'static', kwargs: { output: 'Oslo' } },
      schemas: { inputs: { type: 'object', properties: { country: { enum: ['Norway', 'Peru'] } } } },
    })
    const { id, summary } = await client.run({ ...order, application_ref: { slug: 'picky' } })
    expect(summary).to.include({ done: 4, failed: 2 })
    expect(summary.evaluators.exact).to.include({
      scored: 2,
      passed: 1,
      failed: 1,
      mean_score: 0.25,
      mean_rows: 4,
      success_rate: 0.25,
    })
    const { body } = await service.post(`/evaluations/${id}/results`)
    const codes = body.results.map((it: any) => it.application.error?.code)
    expect(codes.filter((it: any) => it === 'invalid_inputs')).to.have.length(2)
  })

  it('counts rows that an evaluator fails on', async () => {
    await client.workflow(
      'broken',
      { uri: 'svc:custom:mock:v0', parameters: { key: 'error', kwargs: { message: 'no' } } },
      { is_evaluator: true },
    )
    const { summary } = await client.run({ ...order, evaluator_refs: [{ slug: 'broken' }] })
    expect(summary.evaluators.broken).to.deep.equal({
      scored: 0,
      passed: 0,
      failed: 0,
      errors: 4,
      mean_score: null,
      mean_rows: 4,
      success_rate: 0,
    })
  })

  it('answers what an earlier version has finished, which counted less', async () => {
    const { id } = await client.run(order)
    const log = (name: string): string => join(service.storeDir, 'default/evaluations', `${name}.jsonl`)
    const [other, text] = [randomUUID(), readFileSync(log(id), 'utf8')]
    const earlier = text.replaceAll(id, other).replace('"failed":3,', '').replace('"mean_rows":4,', '')
    writeFileSync(log(other), earlier)
    const { status, body } = await service.get(`/evaluations/${other}`)
    expect([status, body.evaluation.summary.evaluators.exact]).to.deep.equal([
      200,
      { scored: 4, passed: 1, errors: 0, mean_score: 0.25, success_rate: 0.25 },
    ])
  })

  it('names evaluators by revision where two of one take part', async () => {
    await client.commit('close', {
      uri: 'svc:builtin:auto_levenshtein_distance:v0',
      parameters: { threshold: 1 },
    })
    const evaluator_revision_refs = [
      { slug: 'close', version: 1 },
      { slug: 'close', version: 2 },
      { slug: 'close-1' },
    ]
    const { evaluators } = await client.run({ ...order, evaluator_refs: [], evaluator_revision_refs })
    expect(evaluators.map((it: any) => it.name)).to.deep.equal(['close-1', 'close-2'])
  })

  for (const [accept, prefix] of [
    ['application/x-ndjson', ''],
    ['text/event-stream', 'data: '],
  ] as const) {
    it(`tells how far it is as ${accept}`, async () => {
      const response = await fetch(`${service.url}/evaluations/run`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json', accept },
        body: JSON.stringify(order),
      })
      expect(response.headers.get('content-type')).to.include(accept)
      const text = await response.text()
      const records = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line.slice(prefix.length)))
      expect(records.at(-1)).to.deep.include({ type: 'result' })
      expect(records.at(-1).data.evaluation).to.include({ state: 'finished', rows: 4 })
      expect(records.slice(0, -1).every((it) => it.type === 'progress')).to.equal(true)
    })
  }

  it('does not make anybody wait who does not want to', async () => {
    const hook = await startCountingHook()
    hook.delay = 600_000
    await client.workflow('slow', { uri: 'svc:custom:hook:v0', url: hook.url })
    const { body } = await service.post('/evaluations/run', {
      ...order,
      application_ref: { slug: 'slow' },
      concurrency: 1,
      wait: false,
    })
    expect(body.evaluation).to.include({ state: 'running' })
    const { id } = body.evaluation
    const listed = await service.post('/evaluations/query', { evaluation: { state: 'running' } })
    expect(listed.body.evaluations.map((it: any) => it.id)).to.include(id)
    const stopped = await service.post(`/evaluations/${id}/stop`)
    expect(stopped.body.evaluation.state).to.equal('interrupted')
    expect(stopped.body.evaluation.summary.done).to.equal(0)
    const goingOn = await service.post(`/evaluations/${id}/resume`, { wait: false })
    expect(goingOn.body.evaluation).to.include({ id, state: 'running' })
    await service.post(`/evaluations/${id}/stop`)
    hook.delay = 0
    const resumed = await service.post(`/evaluations/${id}/resume`)
    expect(resumed.body.evaluation).to.include({ state: 'finished' })
    expect(resumed.body.evaluation.summary.done).to.equal(4)
    const again = await service.post(`/evaluations/${id}/resume`)
    expect([again.status, again.body.code]).to.deep.equal([400, 'contradictory_request'])
    await hook.close()
  })

  it('begins one evaluation however often a request with an Idempotency-Key is sent', async () => {
    const before = (await service.post('/evaluations/query')).body.count
    const key = { 'idempotency-key': 'evaluate-once' }
    const first = await service.post('/evaluations/run', order, key)
    expect(first.status, first.text).to.equal(200)
    const again = await service.post('/evaluations/run', order, key)
    expect(again.headers.get('idempotent-replayed')).to.equal('true')
    expect(again.body.evaluation).to.deep.equal(first.body.evaluation)
    const other = await service.post('/evaluations/run', { ...order, concurrency: 2 }, key)
    expect([other.status, other.body.code]).to.deep.equal([422, 'idempotency_key_reused'])
    expect((await service.post('/evaluations/query')).body.count).to.equal(before + 1)
  })

  it('lists them, by what they are of', async () => {
    const { body } = await service.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'noted' } })
    const filtered = await service.post('/evaluations/query', {
      evaluation: { application_revision_id: body.workflow_revision.id },
    })
    expect(filtered.body.count).to.equal(2)
    const page = await service.post('/evaluations/query', { windowing: { limit: 1 } })
    expect(page.body.windowing.next).to.be.a('string')
  })

  for (const [what, wrong, status, code] of [
    ['a testset that is not there', { testset_ref: { slug: 'nowhere' } }, 404, 'artifact_not_found'],
    ['an application that is not there', { application_ref: { slug: 'nowhere' } }, 404, 'artifact_not_found'],
    ['an evaluator that is not there', { evaluator_refs: [{ slug: 'nowhere' }] }, 404, 'artifact_not_found'],
    ['no application', { application_ref: undefined }, 400, 'incomplete_reference'],
    ['a concurrency past the limit', { concurrency: 1000 }, 422, 'invalid_request'],
    ['a concurrency of none', { concurrency: 0 }, 422, 'invalid_request'],
    ['evaluators that are no list', { evaluator_refs: { slug: 'exact' } }, 422, 'invalid_request'],
  ] as const) {
    it(`refuses ${what}, and keeps nothing`, async () => {
      const before = (await service.post('/evaluations/query')).body.count
      const { status: answered, body, text } = await service.post('/evaluations/run', { ...order, ...wrong })
      expect([answered, body.code], text).to.deep.equal([status, code])
      expect((await service.post('/evaluations/query')).body.count).to.equal(before)
    })
  }

  it('refuses what cannot run before any row fails on it', async () => {
    await client.workflow('config', { parameters: { a: 1 } })
    const { status, body } = await service.post('/evaluations/run', {
      ...order,
      application_ref: { slug: 'config' },
    })
    expect([status, body.code]).to.deep.equal([400, 'contradictory_request'])
    expect(body.detail).to.include('names no handler')
  })

  it('answers 404 for one that is not there', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/resume'],
      ['POST', '/stop'],
      ['POST', '/results'],
      ['POST', '/judge'],
    ] as const) {
      const { status, body } = await service.call(
        method,
        `/evaluations/0f3c9a1b-e2d4-8000-8000-7d41c0aa93fe${path}`,
        path === '/judge' ? { evaluator_refs: [{ slug: 'exact' }] } : method === 'POST' ? {} : undefined,
      )
      expect([status, body.code]).to.deep.equal([404, 'evaluation_not_found'])
    }
  })

  it('wants the scope invoke', async () => {
    const { status } = await service.post(
      '/evaluations/run',
      order,
      await keyWithScopes(service, ['read', 'write']),
    )
    expect(status).to.equal(403)
    const runs = await service.post('/evaluations/run', order, await keyWithScopes(service, ['invoke']))
    expect(runs.status, runs.text).to.equal(200)
  })
})
