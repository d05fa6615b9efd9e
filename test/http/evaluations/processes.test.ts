import { expect } from 'chai'
import Database from 'libsql'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { git } from '../../support/git/git-program.ts'
import type { CountingHook } from '../../support/servers/counting-hook.ts'
import { startCountingHook } from '../../support/servers/counting-hook.ts'
import type { ServerProcess } from './server-process.ts'
import { startProcess } from './server-process.ts'

const ROWS = 200
const ORDER = {
  testset_ref: { slug: 'numbers' },
  application_ref: { slug: 'doubler' },
  evaluator_refs: [{ slug: 'judge' }],
  concurrency: 8,
}

describe('http: evaluations by server processes that end', () => {
  let storeDir: string
  let hook: CountingHook
  let server: ServerProcess
  const others: ServerProcess[] = []

  before(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-evaluated-'))
    hook = await startCountingHook()
    server = await startProcess(storeDir)
    const made = [
      await server.call('POST', '/simple/testsets/', {
        testset: {
          slug: 'numbers',
          data: { testcases: Array.from({ length: ROWS }, (_, n) => ({ data: { n } })) },
        },
      }),
      await server.call('POST', '/simple/applications/', {
        application: { slug: 'doubler', data: { uri: 'svc:custom:hook:v0', url: hook.url } },
      }),
      await server.call('POST', '/simple/evaluators/', {
        evaluator: {
          slug: 'judge',
          data: {
            uri: 'svc:custom:code:v0',
            runtime: 'javascript',
            script: 'function evaluate(inputs, outputs) { return outputs.doubled === inputs.n * 2 ? 1 : 0 }',
          },
        },
      }),
    ]
    expect(made.map(({ status }) => status)).to.deep.equal([200, 200, 200])
  })
  afterEach(async () => {
    for (const other of others.splice(0)) await other.end('SIGKILL')
  })
  after(async () => {
    await server.end('SIGKILL')
    await hook.close()
    rmSync(storeDir, { recursive: true, force: true })
  })

  const logOf = (id: string): string => join(storeDir, 'default', 'evaluations', `${id}.jsonl`)
  const linesOf = (id: string): any[] =>
    readFileSync(logOf(id), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const rowsOf = (id: string): any[] => linesOf(id).flatMap(({ row }) => row ?? [])
  const numberOf = (row: any): number => row.application.outputs.doubled / 2

  /** Begins one and answers its id, with what each row's count of calls was before. */
  async function begin(): Promise<{
    id: string
    times: (n: number) => number
    called: (n: number) => Promise<void>
  }> {
    const before = new Map(hook.calls)
    const sum = [...before.values()].reduce((a, b) => a + b, 0)
    const { body } = await server.call('POST', '/evaluations/run', { ...ORDER, wait: false })
    return {
      id: body.evaluation.id,
      times: (n) => (hook.calls.get(n) ?? 0) - (before.get(n) ?? 0),
      called: (times) => hook.called(sum + times),
    }
  }

  it('one that is killed half-way is resumed: every row once in log and note, with one whole trace', async () => {
    hook.delay = 20
    const { id, times } = await begin()
    while (readFileSync(logOf(id), 'utf8').split('\n').length < 40) await pause(5)
    await server.end('SIGKILL')
    // A power cut takes more: the last lines, whose traces are stored, and half of another.
    const whole = readFileSync(logOf(id))
    let cut = whole.length
    for (let lines = 0; lines < 10; lines++) cut = whole.lastIndexOf('\n', cut - 2) + 1
    truncateSync(logOf(id), cut)
    const done = rowsOf(id).map(numberOf)
    appendFileSync(logOf(id), '{"row":{"testcase_id":"0f3c')
    expect(done.length).to.be.greaterThan(10)

    hook.delay = 0
    server = await startProcess(storeDir)
    const before = await server.call('GET', `/evaluations/${id}`)
    expect(before.body.evaluation).to.include({ state: 'interrupted' })
    expect(before.body.evaluation.summary.done).to.equal(done.length)
    const { status, body } = await server.call('POST', `/evaluations/${id}/resume`)
    expect([status, body.evaluation.state], JSON.stringify(body)).to.deep.equal([200, 'finished'])
    expect(body.evaluation.summary).to.deep.include({ done: ROWS, failed: 0 })
    expect(body.evaluation.summary.evaluators.judge.passed).to.equal(ROWS)

    expect(
      rowsOf(id)
        .map(numberOf)
        .sort((a, b) => a - b),
    ).to.deep.equal(Array.from({ length: ROWS }, (_, n) => n))
    expect(
      done.filter((n) => times(n) !== 1),
      'rows that were done and ran again',
    ).to.deep.equal([])
    const note = git(join(storeDir, 'default/workflows/doubler.git'), [
      'notes',
      '--ref=evaluations',
      'show',
      'doubler',
    ])
    const noted = note.split('\n').map((line) => JSON.parse(line))
    expect(noted).to.have.length(1 + ROWS)
    expect(new Set(noted.slice(1).map((line) => line.testcase_id)).size).to.equal(ROWS)
    git(join(storeDir, 'default/workflows/doubler.git'), ['fsck', '--strict'])

    const traces = new Set(rowsOf(id).map((row) => row.trace_id))
    expect(traces.size).to.equal(ROWS)
    const database = new Database(join(storeDir, 'default', 'traces.db'), { readonly: true })
    const stored = database
      .prepare('SELECT trace_id, group_concat(span_name) names FROM spans GROUP BY trace_id')
      .all() as { trace_id: string; names: string }[]
    database.close()
    expect(stored.map((it) => it.trace_id).sort()).to.deep.equal([...traces].sort())
    const trees = new Set(stored.map(({ names }) => names.split(',').sort().join()))
    expect([...trees]).to.deep.equal(['POST,code_v0,evaluation,hook_v0'])
  })

  it('only one of two servers runs it: the other refuses at once, and takes it over from a dead one', async () => {
    hook.delay = 50
    const other = await startProcess(storeDir)
    others.push(other)
    const { id, called } = await begin()
    await called(20)
    // From here on it goes on for as long as its server lives.
    hook.delay = 600_000
    const seen = await other.call('GET', `/evaluations/${id}`)
    expect(seen.body.evaluation.state).to.equal('running')
    for (const what of ['resume', 'stop']) {
      const { status, body } = await other.call('POST', `/evaluations/${id}/${what}`)
      expect([status, body.code], what).to.deep.equal([503, 'locked'])
      expect(body.detail).to.include('another server')
    }
    await server.end('SIGKILL')
    hook.delay = 0
    const { body } = await other.call('POST', `/evaluations/${id}/resume`)
    expect(body.evaluation).to.include({ state: 'finished', rows: ROWS })
    expect(rowsOf(id)).to.have.length(ROWS)
    server = await startProcess(storeDir)
    const { body: listed } = await server.call('POST', '/evaluations/query')
    expect(listed.evaluations.map((it: any) => it.state)).to.deep.equal(['finished', 'finished'])
    expect(listed.evaluations[1]).to.deep.equal(body.evaluation)
  })

  it('goes on when the client goes away', async () => {
    hook.delay = 5
    const leave = new AbortController()
    let id = ''
    try {
      for await (const { data } of server.stream('/evaluations/run', ORDER, leave.signal)) {
        id = data.evaluation.id
        leave.abort()
      }
    } catch (error) {
      expect((error as Error).name).to.equal('AbortError')
    }
    let state = ''
    while (state !== 'finished') {
      await pause(50)
      state = (await server.call('GET', `/evaluations/${id}`)).body.evaluation.state
      expect(state).to.not.equal('interrupted')
    }
    expect(rowsOf(id)).to.have.length(ROWS)
  })

  it('a server that is told to stop interrupts it, tells who waits, and ends in time; it can be resumed', async () => {
    hook.delay = 200
    const records: any[] = []
    const streaming = (async () => {
      for await (const record of server.stream('/evaluations/run', ORDER)) records.push(record)
    })()
    const { id, times, called } = await begin()
    await called(40)
    // It would be 1 for one that is cut off after its grace.
    expect(await server.end('SIGTERM')).to.equal(0)
    await streaming
    expect(records.at(-1)).to.deep.include({ type: 'result' })
    expect(records.at(-1).data.evaluation.state).to.equal('interrupted')

    hook.delay = 0
    const done = rowsOf(id).map(numberOf)
    server = await startProcess(storeDir)
    const { body } = await server.call('POST', `/evaluations/${id}/resume`)
    expect(body.evaluation).to.include({ state: 'finished' })
    expect(
      done.filter((n) => times(n) > 2),
      'the streamed one ran a row as well, at most once',
    ).to.deep.equal([])
    expect(rowsOf(id)).to.have.length(ROWS)
  })
})
