import { expect } from 'chai'
import type { WorkerJob } from '../../../../src/run/handlers/worker/long-job.ts'
import { type WorkerCaller, WorkerPool } from '../../../../src/run/handlers/worker/long-jobs.ts'
import { Refusal } from '../../../../src/errors.ts'

const SHORT: WorkerJob = { kind: 'levenshtein', a: 'kitten', b: 'sitting' }
/** Goes on for years, where nobody stops it. */
const ENDLESS: WorkerJob = {
  kind: 'pattern',
  pattern: '(a+)+$',
  isCaseSensitive: true,
  text: `${'a'.repeat(60)}!`,
}
const LIMIT = 100_000

describe('handlers: long jobs', () => {
  /** One thread, before which two of each project may wait. */
  let jobs: WorkerPool
  /** Ends the job that the thread is busy with. */
  let endFirst: AbortController
  beforeEach(() => {
    jobs = new WorkerPool(1, 2)
    endFirst = new AbortController()
    void jobs.do(ENDLESS, LIMIT, caller('first', endFirst.signal))
    expect(jobs.load).to.deep.equal({ running: 1, waiting: 0 })
  })
  afterEach(async () => {
    endFirst.abort()
    while (jobs.load.running + jobs.load.waiting > 0) await jobs.do(SHORT, LIMIT, caller('last'))
  })

  it('are done for projects in turns', async () => {
    const order: string[] = []
    const wanted = ['flood', 'flood', 'calm', 'other', 'calm'].map(async (project) => {
      expect(await jobs.do(SHORT, LIMIT, caller(project))).to.have.property('found')
      order.push(project)
    })
    expect(jobs.load).to.deep.equal({ running: 1, waiting: 5 })
    endFirst.abort()
    await Promise.all(wanted)
    expect(order).to.deep.equal(['flood', 'calm', 'other', 'flood', 'calm'])
  })

  it('are refused where too many of the project wait, and of no other', async () => {
    const waiting = [jobs.do(SHORT, LIMIT, caller('flood')), jobs.do(SHORT, LIMIT, caller('flood'))]
    const refused = await jobs.do(SHORT, LIMIT, caller('flood')).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Refusal).and.include({ code: 'overloaded' })
    expect(jobs.load.waiting).to.equal(2)
    waiting.push(jobs.do(SHORT, LIMIT, caller('calm')))
    endFirst.abort()
    for (const outcome of await Promise.all(waiting)) expect(outcome).to.have.property('found')
    expect(await jobs.do(SHORT, LIMIT, caller('flood'))).to.have.property('found')
  })

  it('of patient callers wait however many do, and in nobody’s way', async () => {
    const order: string[] = []
    const wanted = [true, true, true, true, false, false].map(async (isPatient) => {
      await jobs.do(SHORT, LIMIT, { ...caller('team'), isPatient })
      order.push(isPatient ? 'patient' : 'not')
    })
    endFirst.abort()
    await Promise.all(wanted)
    expect(order).to.deep.equal(['patient', 'not', 'patient', 'not', 'patient', 'patient'])
  })

  it('are taken out of the line when their caller leaves, and not begun when it has left', async () => {
    const leaving = new AbortController()
    const left = jobs.do(ENDLESS, LIMIT, caller('flood', leaving.signal))
    const stays = jobs.do(SHORT, LIMIT, caller('flood'))
    leaving.abort(new Refusal('overloaded', 'The client has gone.'))
    expect(await left).to.equal('abandoned')
    expect(jobs.load).to.deep.equal({ running: 1, waiting: 1 })
    expect(await jobs.do(ENDLESS, LIMIT, caller('flood', leaving.signal))).to.equal('abandoned')
    expect(jobs.load.waiting).to.equal(1)
    endFirst.abort()
    expect(await stays).to.have.property('found')
  })

  it('are stopped with their thread when their caller leaves while they run', async () => {
    const leaving = new AbortController()
    const left = jobs.do(ENDLESS, LIMIT, caller('flood', leaving.signal))
    const next = jobs.do(SHORT, LIMIT, caller('calm'))
    endFirst.abort()
    while (jobs.load.waiting > 1) await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    expect(await left).to.equal('abandoned')
    expect(await next).to.have.property('found')
  })

  it('that take longer than their limit are stopped, and leave nothing behind on the signal', async () => {
    endFirst.abort()
    const { signal } = new AbortController()
    expect(await jobs.do(ENDLESS, 20, caller('flood', signal))).to.equal('late')
    expect(await jobs.do(SHORT, LIMIT, caller('flood', signal))).to.have.property('found')
  })

  it('have their time for themselves, whatever this process does meanwhile', async () => {
    const found = new WorkerPool(1, 2).do(SHORT, 1000, caller('calm'))
    for (const end = performance.now() + 1500; performance.now() < end;);
    expect(await found).to.have.property('found')
  })

  it('that need too much memory say so, and the next one has its turn', async () => {
    endFirst.abort()
    const text = 'ab'.repeat(8_000_000)
    const greedy: WorkerJob = { kind: 'pattern', pattern: '(?:a|b)*c', isCaseSensitive: true, text }
    expect(await jobs.do(greedy, LIMIT, caller('flood')))
      .to.have.property('problem')
      .that.contains('memory')
    expect(await jobs.do(SHORT, LIMIT, caller('flood'))).to.have.property('found')
  })
})

function caller(project: string, signal = new AbortController().signal): WorkerCaller {
  return { project, untilGone: () => signal, isPatient: false }
}
