import { expect } from 'chai'
import type { SandboxFailureKind } from '../../../src/run/sandbox/sandbox.ts'
import { type TestSandbox, testSandbox } from './test-sandbox.ts'

/** What tries to get out, and what it comes to: an answer, or how it fails. */
const ATTEMPTS: readonly (readonly [name: string, body: string, outcome: unknown])[] = [
  [
    'asks for Node',
    'return [typeof process, typeof require, typeof module, typeof Buffer]',
    Array(4).fill('undefined'),
  ],
  [
    'asks for the network',
    'return [typeof fetch, typeof WebSocket, typeof XMLHttpRequest]',
    Array(3).fill('undefined'),
  ],
  [
    'asks for the engine’s own modules',
    'return [typeof std, typeof os, typeof scriptArgs]',
    Array(3).fill('undefined'),
  ],
  [
    'asks for timers and workers',
    'return [typeof setTimeout, typeof Worker, typeof WebAssembly]',
    Array(3).fill('undefined'),
  ],
  ['asks for output', 'return [typeof console, typeof print]', Array(2).fill('undefined')],
  ['constructs code', 'return evaluate.constructor("return typeof process")()', 'undefined'],
  ['climbs constructors', 'return [].constructor.constructor("return typeof process")()', 'undefined'],
  ['evaluates code indirectly', 'return (0, eval)("typeof process")', 'undefined'],
  ['takes this for the global object', 'return (function () { return typeof this.process })()', 'undefined'],
  [
    'walks up from the arguments',
    'return (function () { return typeof arguments.callee.caller })()',
    'undefined',
  ],
  ['imports a module of Node', 'return import("node:fs")', 'exception'],
  ['imports a module of the engine', 'return import("std")', 'exception'],
  ['imports a file', 'return import("/etc/passwd")', 'exception'],
  ['imports an address', 'return import("http://127.0.0.1/x.js")', 'exception'],
  ['waits for ever', 'return new Promise(() => {})', 'result'],
  ['returns a thenable', 'return { then(done) { done(5) } }', {}],
  ['throws while it is written down', 'return { toJSON() { throw new Error("x") } }', 'result'],
  ['lies about its JSON', 'Object.prototype.toJSON = () => 7; return { a: 1 }', 7],
  ['tampers with the harness’s words', 'JSON.stringify = () => "[1]"; JSON.parse = null; return 2', 2],
  ['tampers with every prototype', 'Array.prototype.filter = Object.prototype.x = 1; return [2]', [2]],
  ['returns what contains itself', 'const a = {}; a.a = a; return a', 'result'],
  ['returns a function', 'return () => 1', 'result'],
  ['returns a big integer', 'return 10n', 'result'],
  ['returns no number', 'return { a: [NaN] }', 'result'],
  ['returns infinity', 'return -1 / 0', 'result'],
  ['returns half a character', 'return "\\ud800"', 'result'],
  ['returns what is nested deeply', 'let a = []; for (let i = 0; i < 500; i++) a = [a]; return a', 'result'],
  ['returns a proxy that throws', 'return new Proxy({}, { ownKeys() { throw 1 } })', 'result'],
  ['returns too much', 'return "x".repeat(2 ** 21)', 'output'],
  ['throws null', 'throw null', 'exception'],
  ['throws what throws', 'throw { get message() { throw 1 } }', 'exception'],
  [
    'throws a proxy',
    'throw new Proxy(new Error(), { get() { throw 2 }, getPrototypeOf() { throw 3 } })',
    'exception',
  ],
  ['throws ten megabytes', 'throw new Error("x".repeat(1e7))', 'exception'],
  ['recurses', 'function f() { return f() + 1 }; return f()', 'exception'],
  ['recurses through a sort', 'function f() { [1, 2].sort(f) }; return f()', 'exception'],
  ['recurses in the parser', 'return JSON.parse("[".repeat(1e6))', 'exception'],
  ['recurses in the compiler', 'return eval("(".repeat(1e5) + ")".repeat(1e5))', 'exception'],
  [
    'recurses through proxies',
    'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x',
    'exception',
  ],
  ['blocks the thread', 'return Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)', 'exception'],
  [
    'leaves a loop to the garbage collector',
    'new FinalizationRegistry(() => { for (;;); }).register({}, 1); return 1',
    1,
  ],
  ['leaves a loop for afterwards', 'Promise.resolve().then(() => { for (;;); }); return 1', 1],
  ['takes memory in buffers', 'const a = []; for (;;) a.push(new Uint8Array(1e7))', 'memory'],
  ['takes memory in shared buffers', 'const a = []; for (;;) a.push(new SharedArrayBuffer(1e7))', 'memory'],
  ['takes memory in small objects', 'const a = []; for (;;) a.push({ a: 1 })', 'memory'],
]

const KINDS: readonly unknown[] = ['exception', 'result', 'output', 'memory'] satisfies SandboxFailureKind[]

describe('sandbox: what gets out of JavaScript', () => {
  let sandbox: TestSandbox
  before(() => (sandbox = testSandbox({ memoryBytes: 32 * 1024 ** 2, resultBytes: 1024 ** 2 })))
  after(() => sandbox.close())

  const bodies = ATTEMPTS.map(([, body]) => `() => { ${body} },`)
  const script = `const attempts = [\n${bodies.join('\n')}\n]
    function evaluate(index) { return attempts[index]() }`

  for (const [index, [name, , outcome]] of ATTEMPTS.entries())
    it(`a script that ${name} is contained`, async () => {
      if (KINDS.includes(outcome)) {
        const { kind, message, stacktrace = [] } = await sandbox.failure('javascript', script, [index])
        expect(kind, message).to.equal(outcome)
        expect(message.length).to.be.lessThan(3000)
        expect(stacktrace.join('\n')).not.to.match(/node_modules|harness|file:/)
      } else expect(await sandbox.call('javascript', script, [index])).to.deep.equal(outcome)
      expect(
        await sandbox.call('javascript', 'function evaluate(x) { return [x].map((y) => y + 1) }', [1]),
      ).to.deep.equal([2])
    })
})
