import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import type { SandboxFailure } from '../../../src/run/sandbox/sandbox.ts'
import { type TestSandbox, testSandbox } from './test-sandbox.ts'

const ECHO = 'function evaluate(it) { return it }'
const LOOP = 'function evaluate() { for (;;); }'
const kindOf = (error: unknown): unknown => (error as SandboxFailure).kind

describe('sandbox: many scripts', () => {
  const open: TestSandbox[] = []
  const sandboxOf: typeof testSandbox = (limits) => {
    const sandbox = testSandbox(limits)
    open.push(sandbox)
    return sandbox
  }
  after(() => Promise.all(open.map((it) => it.close())))

  it('stops what runs too long, by whatever means, while others go on', async () => {
    const sandbox = sandboxOf({ timeoutMs: 2000 })
    const runaways = [
      LOOP,
      'function evaluate() { for (;;) try { for (;;); } catch {} finally { continue } }',
      'function evaluate() { return /(a+)+$/.test("a".repeat(40) + "b") }',
      'function evaluate() { const f = () => Promise.resolve().then(f); return f() }',
      'function evaluate() { return { get a() { for (;;); } } }',
      'for (;;);\nfunction evaluate() {}',
    ].map((script) => sandbox.failure('javascript', script, [], 'them'))
    const honest = await sandbox.call('javascript', ECHO, ['on we go'], 'us')
    expect(honest).to.equal('on we go')
    for (const { kind, message } of await Promise.all(runaways))
      expect([kind, message]).to.deep.equal(['timeout', 'The script took longer than 2 s and was stopped.'])
    expect(await sandbox.call('javascript', ECHO, [1])).to.equal(1)
  })

  it('stops Python that runs too long, by whatever means', async () => {
    const sandbox = sandboxOf({ timeoutMs: 2000 })
    const runaways = [
      'def evaluate():\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass',
      'def evaluate():\n  while True: print("x" * 100_000)',
      'def evaluate():\n  return sum(range(10**12))',
      'import re\ndef evaluate():\n  return bool(re.match("(a+)+$", "a" * 40 + "b"))',
    ].map((script) => sandbox.failure('python', script))
    for (const { kind } of await Promise.all(runaways)) expect(kind).to.equal('timeout')
    expect(await sandbox.call('python', 'def evaluate(it):\n  return it', [1])).to.equal(1)
  })

  it('lets owners take turns, however many calls one of them has waiting', async () => {
    const sandbox = sandboxOf({ atOnce: 1 })
    const order: string[] = []
    const call = async (owner: string): Promise<void> => {
      await sandbox.call('javascript', ECHO, [1], owner)
      order.push(owner)
    }
    await Promise.all([call('a'), call('a'), call('a'), call('a'), call('b'), call('c')])
    expect(order.slice(0, 4)).to.have.members(['a', 'a', 'b', 'c'])
  })

  it('refuses what one owner has too much of, and nobody else', async () => {
    const sandbox = sandboxOf({ atOnce: 1, queue: 2 })
    const calls = Array.from({ length: 5 }, (_, index) =>
      sandbox.call('javascript', ECHO, [index]).catch(kindOf),
    )
    const other = sandbox.call('javascript', ECHO, ['b'], 'other')
    expect(await Promise.all(calls)).to.deep.equal([0, 1, 2, 'overloaded', 'overloaded'])
    expect(await other).to.equal('b')
  })

  it('keeps an interpreter for a script of an owner, and gives it to no other', async () => {
    const sandbox = sandboxOf()
    // Python keeps the modules of an interpreter
    const script =
      'import math\ndef evaluate():\n  math.seen = getattr(math, "seen", 0) + 1\n  return math.seen'
    expect(await sandbox.call('python', script, [], 'one')).to.equal(1)
    expect(await sandbox.call('python', script, [], 'one')).to.equal(2)
    expect(await sandbox.call('python', script, [], 'two')).to.equal(1)
    expect(await sandbox.call('python', `${script} `, [], 'one')).to.equal(1)
    expect(await sandbox.call('python', script, [], 'one')).to.equal(3)
  })

  it('gives up what nobody waits for any more, and goes on', async () => {
    const sandbox = sandboxOf({ atOnce: 1 })
    const job = { runtime: 'javascript', entryPoint: 'evaluate', args: [], owner: 'us' } as const
    const [running, waiting] = [new AbortController(), new AbortController()]
    const first = sandbox.run({ ...job, script: LOOP, signal: running.signal }).catch(kindOf)
    const second = sandbox.run({ ...job, script: LOOP, signal: waiting.signal }).catch(kindOf)
    waiting.abort()
    expect(await second).to.equal('aborted')
    running.abort()
    expect(await first).to.equal('aborted')
    expect(await sandbox.run({ ...job, script: LOOP, signal: running.signal }).catch(kindOf)).to.equal(
      'aborted',
    )
    expect(await sandbox.call('javascript', ECHO, [1])).to.equal(1)
  })

  it('leaves no process behind when it closes, or when interpreters have been idle', async () => {
    const interpreters = (): readonly string[] => {
      const list = execFileSync('ps', ['-o', 'ppid=,pid=,args=', '-e'], { encoding: 'utf8' })
      return list.split('\n').flatMap((line) => {
        const [parent, id = ''] = line.trim().split(/\s+/)
        return parent === String(process.pid) && line.includes('inside/main') ? [id] : []
      })
    }
    // Those of other tests may come to their end at any time.
    const others = new Set(interpreters())
    const children = (): number => interpreters().filter((id) => !others.has(id)).length
    const gone = async (): Promise<void> => {
      while (children() > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const idle = sandboxOf({ idleMs: 100 })
    await idle.call('javascript', ECHO, [1])
    expect(children()).to.equal(1)
    await gone()
    expect(await idle.call('javascript', ECHO, [2])).to.equal(2)
    await idle.close()
    const closed = sandboxOf({ warm: 2 })
    for (const owner of ['a', 'b', 'c']) await closed.call('javascript', ECHO, [1], owner)
    const loop = closed.call('javascript', LOOP).catch(kindOf)
    await closed.close()
    expect(await loop).to.equal('aborted')
    expect(children()).to.equal(0)
    expect(await closed.call('javascript', ECHO).catch(kindOf)).to.equal('aborted')
  })
})
