import { expect } from 'chai'
import { ExactNumber, ExactObject, type Json } from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { type TestSandbox, testSandbox } from './test-sandbox.ts'

describe('sandbox: JavaScript and TypeScript', () => {
  let sandbox: TestSandbox
  before(() => (sandbox = testSandbox()))
  after(() => sandbox.close())

  const ECHO = 'function evaluate(it) { return it }'

  it('passes JSON in and out, awkward keys and all', async () => {
    const values: Json[] = [
      null,
      'Grüße, 世界 🙂 \u2028 "\\',
      -0.5,
      [1, [2, []], {}],
      new ExactObject([
        ['__proto__', { constructor: 1 }],
        ['toString', 'x'],
      ]),
    ]
    for (const value of values)
      expect(stringifyJson(await sandbox.call('javascript', ECHO, [value]))).to.equal(stringifyJson(value))
  })

  it('reads numbers as the language does', async () => {
    expect(await sandbox.call('javascript', ECHO, [new ExactNumber('1.0')])).to.equal(1)
    const big = await sandbox.call('javascript', ECHO, [new ExactNumber('12345678901234567890')])
    expect(big).to.equal(Number('12345678901234567890'))
  })

  it('answers undefined for nothing, and awaits what is ready', async () => {
    expect(await sandbox.call('javascript', 'function evaluate() {}')).to.equal(undefined)
    const waits = 'const evaluate = async (a, b) => (await Promise.resolve(a)) + b'
    expect(await sandbox.call('javascript', waits, [1, 2])).to.equal(3)
  })

  it('finds the entry point wherever the top level declares it', async () => {
    for (const script of [
      'function evaluate() { return 1 }',
      'const evaluate = () => 1',
      'globalThis.evaluate = () => 1',
      'export function evaluate() { return 1 }',
      'const it = () => 1\nexport { it as evaluate }',
    ])
      expect(await sandbox.call('javascript', script), script).to.equal(1)
    const none = await sandbox.failure('javascript', 'const evaluates = 1')
    expect([none.kind, none.message]).to.deep.equal([
      'entry',
      'The script defines no function evaluate; define it at the top level.',
    ])
  })

  it('nothing of one call is there in the next', async () => {
    const script = `globalThis.count = (globalThis.count ?? 0) + 1
      function evaluate() { const seen = [count, typeof Array.prototype.x]; Array.prototype.x = 1; return seen }`
    for (let call = 0; call < 3; call++)
      expect(await sandbox.call('javascript', script)).to.deep.equal([1, 'undefined'])
  })

  it('says where an exception came from, in lines of the script', async () => {
    const script = 'function inner(x) {\n  return x.y.z\n}\nfunction evaluate() {\n  return inner({})\n}'
    const failure = await sandbox.failure('javascript', script)
    expect(failure.kind).to.equal('exception')
    expect(failure.message).to.equal("TypeError: cannot read property 'z' of undefined")
    expect(failure.stacktrace?.map((line) => line.replace(/:\d+\)$/, ')'))).to.deep.equal([
      'at inner (script.js:2)',
      'at evaluate (script.js:5)',
    ])
  })

  it('says where a script cannot be read, to every call', async () => {
    for (let call = 0; call < 2; call++) {
      const failure = await sandbox.failure('javascript', 'function evaluate() {\n  return (\n}')
      expect([failure.kind, failure.stacktrace?.[0]?.slice(0, 14)]).to.deep.equal([
        'syntax',
        'at script.js:3',
      ])
    }
  })

  it('strips the types of TypeScript, and keeps its lines', async () => {
    const script = 'interface In { a: number }\nfunction evaluate(x: In): number {\n  return x.a!\n}'
    expect(await sandbox.call('typescript', script, [{ a: 5 }])).to.equal(5)
    const throws = 'type A = {\n  b: string\n}\nfunction evaluate(x: A): never {\n  throw new Error(x.b)\n}'
    const failure = await sandbox.failure('typescript', throws, [{ b: 'no' }])
    expect(failure.message).to.equal('Error: no')
    expect(failure.stacktrace?.[0]).to.match(/^at evaluate \(script\.ts:5:/)
  })

  it('knows what of TypeScript is more than types', async () => {
    const script =
      'enum Grade { Bad, Good = 7 }\nclass P { constructor(readonly a: number) {} }\nexport function evaluate() { return [Grade.Good, new P(2).a] }'
    expect(await sandbox.call('typescript', script)).to.deep.equal([7, 2])
  })

  it('says where TypeScript cannot be read', async () => {
    const failure = await sandbox.failure('typescript', 'function evaluate(): number {\n  return let\n}}')
    expect(failure.kind).to.equal('syntax')
    expect(failure.stacktrace?.[0]).to.match(/^at script\.ts:3:/)
  })
})
