import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../support/servers/service.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { restsDuring } from '../../support/rests.ts'
import { startReceiver } from '../../support/servers/receiver.ts'
import { EvaluationClient } from '../../support/clients/evaluation-client.ts'

const ORDER = {
  testset_ref: { slug: 'numbers' },
  application_ref: { slug: 'echo' },
  evaluator_refs: [{ slug: 'exact' }],
}

describe('http: evaluations in trouble', () => {
  let service: RunningService
  let client: EvaluationClient
  /** How many bytes more the logs of evaluations may grow. */
  let room = Number.POSITIVE_INFINITY

  before(async () => {
    service = await startService({
      env: { HOOK_ALLOW_PRIVATE: 'true' },
      fs: { ...nodeFs, append: appendWhileThereIsRoom },
    })
    client = new EvaluationClient(service)
    await client.testset(
      'numbers',
      Array.from({ length: 40 }, (_, n) => ({ n, correct_answer: 'yes' })),
    )
    await client.workflow('echo', { uri: 'svc:custom:mock:v0', parameters: { key: 'echo' } })
    await client.workflow('exact', { uri: 'svc:builtin:auto_exact_match:v0' }, { is_evaluator: true })
  })
  afterEach(() => (room = Number.POSITIVE_INFINITY))
  after(() => service.stop())

  /** As a full disk does, writes what still fits and then fails. */
  function appendWhileThereIsRoom(path: string, bytes: Uint8Array): void {
    const isLog = path.includes('/evaluations/')
    const fits = isLog ? Math.min(room, bytes.length) : bytes.length
    nodeFs.append(path, bytes.subarray(0, fits))
    if (!isLog) return
    room -= fits
    if (fits === bytes.length) return
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    })
  }

  const logOf = (id: string): string => join(service.storeDir, 'default', 'evaluations', `${id}.jsonl`)
  const rowsOf = (id: string): string[] =>
    readFileSync(logOf(id), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"row":'))

  it('a full disk interrupts it with a sentence that says how to go on, and it can be resumed', async () => {
    room = 5000
    const { status, body } = await service.post('/evaluations/run', { ...ORDER, concurrency: 2 })
    expect([status, body.code]).to.deep.equal([503, 'storage_unavailable'])
    const [, id = ''] = /POST \/evaluations\/(\S+)\/resume/.exec(body.detail) ?? []
    expect(body.detail).to.include('no space left on device')
    const { body: at } = await service.get(`/evaluations/${id}`)
    expect(at.evaluation.state).to.equal('interrupted')
    const streamed = await fetch(`${service.url}/evaluations/${id}/resume`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, accept: 'application/x-ndjson' },
    })
    const last = JSON.parse((await streamed.text()).trim().split('\n').at(-1) ?? '')
    expect(last.type, 'the disk is full still').to.equal('error')
    expect(last.data.message).to.include('no space left on device')

    room = Number.POSITIVE_INFINITY
    const resumed = await service.post(`/evaluations/${id}/resume`)
    expect(resumed.body.evaluation, resumed.text).to.include({ state: 'finished' })
    const lines = readFileSync(logOf(id), 'utf8').trim().split('\n')
    expect(() => lines.map((line) => JSON.parse(line))).to.not.throw()
    const testcases = rowsOf(id).map((line) => JSON.parse(line).row.testcase_id)
    expect([testcases.length, new Set(testcases).size]).to.deep.equal([40, 40])
  })

  it('of a last line that says nothing whole, the rest is resumed; the list does without a log that is damaged', async () => {
    const { id } = await client.run(ORDER)
    const whole = readFileSync(logOf(id), 'utf8')
    writeFileSync(logOf(id), whole.slice(0, whole.lastIndexOf('\n', whole.length - 2) - 10))
    expect((await service.get(`/evaluations/${id}`)).body.evaluation.state).to.equal('interrupted')
    const { body } = await service.post(`/evaluations/${id}/resume`)
    expect(body.evaluation).to.include({ state: 'finished', rows: 40 })
    expect(rowsOf(id)).to.have.length(40)
    const note = git(service.repository('echo'), ['notes', '--ref=evaluations', 'show', 'echo'])
    expect(note.split('\n').filter((line) => line.includes(id))).to.have.length(41)

    const before = (await service.post('/evaluations/query')).body.count
    writeFileSync(logOf('00000000-0000-7000-8000-000000000001'), 'nonsense\n')
    writeFileSync(logOf('00000000-0000-7000-8000-000000000002'), '')
    expect((await service.post('/evaluations/query')).body.count).to.equal(before)
    expect((await service.get('/evaluations/00000000-0000-7000-8000-000000000002')).status).to.equal(404)
  })

  it('a log is believed in nothing: not its id, not what its rows hold; and it spoils no other', async () => {
    const { id } = await client.run(ORDER)
    const lines = readFileSync(logOf(id), 'utf8').trim().split('\n')
    const before = (await service.post('/evaluations/query')).body.count
    const { plan } = JSON.parse(lines[0] ?? '')
    const odd = '0f3c9a1b-e2d4-7000-8000-7d41c0aa93ff'
    const with_ = (more: object): string => JSON.stringify({ plan: { ...plan, id: odd, ...more } })
    const unlike: readonly string[] = [
      with_({ id: '../../elsewhere' }),
      with_({ id }),
      with_({ concurrency: 1_000_000_000 }),
      with_({ concurrency: 0 }),
      with_({ created_at: 'yesterday' }),
      with_({ evaluators: null }),
      with_({ testset: 1 }),
      '{"plan":{}}',
      '{"plan":1}',
      `${with_({})}\n{"row":{"testcase_id":"x"}}`,
      `${with_({})}\n{"row":{"testcase_id":"x","trace_id":"y","application":null,"evaluators":{}}}`,
      `${with_({})}\n{"row":{"testcase_id":"x","trace_id":"y","application":{"outputs":1},"evaluators":{"exact":7}}}`,
      `${with_({})}\n{"end":{}}`,
      `${with_({})}\n{"end":{"finished_at":1,"summary":{"evaluators":[]}}}`,
    ]
    const outside = readdirSync(service.storeDir)
    for (const text of unlike) {
      writeFileSync(logOf(odd), `${text}\n`)
      const { body } = await service.get(`/evaluations/${odd}`)
      expect(body.code, text).to.equal('damaged_repository')
      expect((await service.post(`/evaluations/${odd}/resume`)).status, text).to.equal(503)
      expect((await service.post('/evaluations/query')).body.count, text).to.equal(before)
      expect((await service.post(`/evaluations/${odd}/results`)).status, text).to.be.oneOf([200, 503])
    }
    expect(readdirSync(service.storeDir)).to.deep.equal(outside)
    writeFileSync(logOf('not-an-id'), `${with_({})}\n`)
    const [folder, fifo] = [odd.replace(/ff$/, 'fd'), odd.replace(/ff$/, 'fc')]
    mkdirSync(logOf(folder))
    execFileSync('mkfifo', [logOf(fifo)])
    expect((await service.post('/evaluations/query')).body.count).to.equal(before)
    for (const path of [odd, folder, fifo]) rmSync(logOf(path), { recursive: true })
    rmSync(logOf('not-an-id'))
  })

  it('outputs as deep as a hook may answer can be read again', async () => {
    const receiver = await startReceiver()
    receiver.answerAll((response) => response.end('['.repeat(128) + ']'.repeat(128)))
    await client.workflow('deep', { uri: 'svc:custom:hook:v0', url: receiver.url })
    const { id } = await client.run({ ...ORDER, application_ref: { slug: 'deep' } })
    const { body } = await service.post(`/evaluations/${id}/results`)
    expect(body.count, JSON.stringify(body)).to.equal(40)
    await receiver.stop()
  })

  it('evaluators that answer very much leave their summary in the note, and their rows in the log alone', async () => {
    const receiver = await startReceiver()
    receiver.answerAll((response) => response.end(JSON.stringify({ score: 1, why: 'x'.repeat(1_000_000) })))
    await client.workflow('long', { uri: 'svc:custom:hook:v0', url: receiver.url }, { is_evaluator: true })
    const { id, summary } = await client.run({ ...ORDER, evaluator_refs: [{ slug: 'long' }] })
    expect(summary.evaluators.long.passed + summary.evaluators.long.scored).to.equal(40)
    const note = git(service.repository('echo'), ['notes', '--ref=evaluations', 'show', 'echo'])
    const lines = note.split('\n').filter((line) => line.includes(id))
    expect(lines).to.have.length(1)
    expect(JSON.parse(lines[0] ?? '').evaluation.summary.evaluators).to.deep.equal(summary.evaluators)
    await receiver.stop()
  })

  it('of many logs a list is made in slices', async () => {
    const { id } = await client.run(ORDER)
    const text = readFileSync(logOf(id), 'utf8')
    const ids = Array.from(
      { length: 300 },
      (_, n) => `0f3c9a1b-e2d4-7000-8000-${String(n).padStart(12, '0')}`,
    )
    for (const copy of ids) writeFileSync(logOf(copy), text.replaceAll(id, copy))
    expect(
      await restsDuring(() => service.post('/evaluations/query', { windowing: { limit: 1 } })),
    ).to.be.greaterThan(3)
    for (const copy of ids) rmSync(logOf(copy))
  })

  it('what another process adds to a log is counted by the next who asks', async () => {
    const { id } = await client.run(ORDER)
    const lines = readFileSync(logOf(id), 'utf8').trim().split('\n')
    const ask = async () => (await service.get(`/evaluations/${id}`)).body.evaluation
    expect(await ask()).to.include({ state: 'finished' })
    const copy = '0f3c9a1b-e2d4-7000-8000-7d41c0aa93fe'
    const asked = async () => (await service.get(`/evaluations/${copy}`)).body.evaluation
    writeFileSync(logOf(copy), `${[lines[0]?.replaceAll(id, copy), ...lines.slice(1, 11)].join('\n')}\n`)
    expect((await asked()).summary).to.include({ done: 10 })
    appendFileSync(logOf(copy), `${lines.slice(11, 21).join('\n')}\n{"row":`)
    expect((await asked()).summary).to.include({ done: 20 })
    expect(
      (await asked()).summary.evaluators.exact.errors + (await asked()).summary.evaluators.exact.scored,
    ).to.equal(20)
  })

  it('a page begins behind any row, and a row of none is refused', async () => {
    const { id } = await client.run(ORDER)
    const all = (await service.post(`/evaluations/${id}/results`)).body.results.map(
      (it: any) => it.testcase_id,
    )
    const { body } = await service.post(`/evaluations/${id}/results`, {
      windowing: { limit: 5, next: all[30] },
    })
    expect(body.results.map((it: any) => it.testcase_id)).to.deep.equal(all.slice(31, 36))
    expect(body.windowing.next).to.equal(all[35])
    const last = await service.post(`/evaluations/${id}/results`, { windowing: { limit: 9, next: all[30] } })
    expect([last.body.count, last.body.windowing]).to.deep.equal([9, undefined])
    const other = await service.post(`/evaluations/${id}/results`, { windowing: { next: id } })
    expect([other.status, other.body.code]).to.deep.equal([422, 'invalid_request'])
  })

  it('a testset of no rows is done at once, and evaluators are not needed', async () => {
    await client.testset('none', [])
    const empty = await client.run({ ...ORDER, testset_ref: { slug: 'none' } })
    expect(empty).to.include({ state: 'finished', rows: 0 })
    expect(empty.summary.evaluators.exact).to.include({ scored: 0, mean_score: null, success_rate: null })
    const alone = await client.run({ ...ORDER, evaluator_refs: [] })
    expect(alone.summary).to.deep.include({ done: 40, failed: 0, evaluators: {} })
  })

  it('evaluators may have names that JavaScript has its own ideas of, also when it is resumed', async () => {
    for (const slug of ['42', 'constructor'])
      await client.workflow(
        slug,
        { uri: 'svc:custom:mock:v0', parameters: { key: 'pass' } },
        { is_evaluator: true },
      )
    const order = { ...ORDER, evaluator_refs: [{ slug: 'constructor' }, { slug: '42' }] }
    const { id, summary } = await client.run(order)
    expect(Object.values(summary.evaluators).map((it: any) => it.passed)).to.deep.equal([40, 40])
    const lines = readFileSync(logOf(id), 'utf8').trim().split('\n')
    writeFileSync(logOf(id), `${lines.slice(0, 21).join('\n')}\n`)
    const { body } = await service.post(`/evaluations/${id}/resume`)
    expect(body.evaluation.summary.evaluators).to.deep.equal(summary.evaluators)
  })

  it('an application that is archived meanwhile is evaluated to the end', async () => {
    const slow = { uri: 'svc:custom:mock:v0', parameters: { key: 'delay', kwargs: { seconds: 0.05 } } }
    await client.workflow('leaving', slow)
    const order = { ...ORDER, application_ref: { slug: 'leaving' } }
    const { body } = await service.post('/evaluations/run', { ...order, wait: false })
    const { id, application } = body.evaluation
    await service.post(`/workflows/${application.artifact_id}/archive`)
    expect((await service.post(`/evaluations/${id}/stop`)).body.evaluation.state).to.equal('interrupted')
    const resumed = await service.post(`/evaluations/${id}/resume`)
    expect(resumed.body.evaluation, resumed.text).to.include({ state: 'finished' })
    expect(resumed.body.evaluation.summary).to.include({ done: 40, failed: 0 })
    const again = await client.run({ ...order, concurrency: 40 })
    expect(again.summary, 'as it can be invoked').to.include({ done: 40, failed: 0 })
  })

  it('rows whose traces cannot be stored are done all the same', async () => {
    const other = await startService({ env: { LOG_LEVEL: 'silent' } })
    try {
      const its = new EvaluationClient(other)
      await its.testset('numbers', [{ n: 1, correct_answer: 'yes' }])
      await its.workflow('echo', { uri: 'svc:custom:mock:v0', parameters: { key: 'echo' } })
      await its.workflow('exact', { uri: 'svc:builtin:auto_exact_match:v0' }, { is_evaluator: true })
      // Nothing can be opened where a folder is.
      nodeFs.removeTree(join(other.storeDir, 'default', 'traces.db'))
      nodeFs.makeDir(join(other.storeDir, 'default', 'traces.db', 'in-the-way'))
      const { summary } = await its.run(ORDER)
      expect(summary).to.include({ done: 1, failed: 0 })
    } finally {
      await other.stop()
    }
  })
})
