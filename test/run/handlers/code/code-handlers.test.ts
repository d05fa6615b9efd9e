import { expect } from 'chai'
import { builtInHandlers } from '../../../../src/run/handlers/built-in-handlers.ts'
import type { HandlerContext, HandlerRequest } from '../../../../src/run/handlers/handler.ts'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { ExactNumber, type JsonObject } from '../../../../src/base/json/json.ts'
import { openSandbox } from '../../../../src/run/sandbox/open-sandbox.ts'
import type { Sandbox } from '../../../../src/run/sandbox/sandbox.ts'
import { SANDBOX_LIMITS } from '../../../../src/run/sandbox/sandbox-limits.ts'

const SEES = 'function evaluate(...args) { return { args } }'
const js = (code: string, more: JsonObject = {}): JsonObject => ({
  runtime: 'javascript',
  code,
  version: '3',
  ...more,
})

const NEVER = new AbortController().signal

describe('handlers: custom code', () => {
  let sandbox: Sandbox
  before(() => (sandbox = openSandbox({ ...SANDBOX_LIMITS, timeoutMs: 20_000 })))
  after(() => sandbox.close())

  const run = async (key: string, given: Partial<HandlerRequest>): Promise<unknown> => {
    const nothing = { inputs: undefined, outputs: undefined, trace: undefined, testcase: undefined }
    const rest = { parameters: {}, data: {}, flags: {}, judges: true, wantsStream: false }
    // these handlers look at nothing else of their context
    const context = {
      project: 'us',
      untilGone: () => NEVER,
      sandbox,
    } as unknown as HandlerContext
    return builtInHandlers.get(key)?.({ ...nothing, ...rest, ...given }, context)
  }
  const failure = async (key: string, given: Partial<HandlerRequest>): Promise<HandlerFailure> => {
    const outcome = await run(key, given).catch((error: unknown) => error)
    if (outcome instanceof HandlerFailure) return outcome
    throw new Error(`Expected a failure, got ${JSON.stringify(outcome)}.`)
  }

  describe('code', () => {
    // interface 11.14
    it('calls the revision’s script with inputs, outputs and trace', async () => {
      const data = { script: SEES, runtime: 'javascript' }
      const parameters = { version: '3', code: 'nonsense', runtime: 'python' }
      const given = { data, parameters, inputs: { a: 1 }, outputs: 'out', trace: { spans: {} } }
      expect(await run('code', given)).to.deep.equal({ args: [{ a: 1 }, 'out', { spans: {} }] })
      expect(await run('code', { data, parameters })).to.deep.equal({ args: [{}, null, null] })
    })

    it('is Python unless something else is said, and a score unless it is version 3', async () => {
      const code = 'def evaluate(inputs, outputs, trace):\n  return outputs == inputs["answer"]'
      const given = { inputs: { answer: 'Oslo' }, outputs: 'Oslo' }
      expect(await run('code', { ...given, parameters: { code } })).to.deep.equal({ score: 1, success: true })
      const free = { ...given, parameters: { code, version: 3 } }
      expect(await run('code', free)).to.deep.equal({ success: true })
      const lacking = await failure('code', { parameters: { code } })
      expect([lacking.status, lacking.id, lacking.message]).to.deep.equal([
        424,
        'v0:workflows:code-error',
        "KeyError: 'answer'",
      ])
      expect(lacking.stacktrace?.[0]).to.equal('  File "script.py", line 2, in evaluate')
    })

    it('takes any threshold', async () => {
      for (const [threshold, success] of [
        [null, true],
        ['0.8', false],
        [2, false],
        [0, true],
        [new ExactNumber('0.70'), true],
      ] as const) {
        const parameters = js('function evaluate() { return 0.7 }', { version: '2', threshold })
        expect(await run('code', { parameters }), String(threshold)).to.deep.equal({ score: 0.7, success })
      }
      const parameters = js(SEES, { threshold: 'high' })
      expect((await failure('code', { parameters })).id).to.equal('v0:schemas:invalid-parameter')
    })

    it('says what is missing or wrong', async () => {
      for (const [given, id, message] of [
        [{}, 'v0:schemas:missing-parameter', "Missing parameter:\nAt 'script'"],
        [{ parameters: { code: 1 } }, 'v0:schemas:invalid-parameter', "Invalid parameter:\nAt 'script'"],
        [
          { parameters: { code: 'x', runtime: 'perl' } },
          'v0:schemas:invalid-parameter',
          "Invalid parameter:\nAt 'runtime'",
        ],
        [{ parameters: js(SEES), outputs: [1] }, 'v0:schemas:invalid-outputs', 'Invalid outputs:'],
        [{ parameters: js('function evaluate(') }, 'v0:workflows:code-error', 'SyntaxError'],
        [
          { parameters: js('const a = 1') },
          'v0:workflows:code-error',
          'The script defines no function evaluate',
        ],
        [
          { parameters: js('function evaluate() {}') },
          'v0:workflows:code-error',
          'evaluate returned nothing',
        ],
        [{ parameters: js(SEES, { version: '2' }) }, 'v0:workflows:code-error', 'evaluate returned a dict'],
      ] as const) {
        const found = await failure('code', given)
        expect([found.id, found.message.slice(0, message.length)]).to.deep.equal([id, message])
      }
    })
  })

  describe('auto_custom_code_run', () => {
    const KEY = 'auto_custom_code_run'

    it('calls the first version with the correct answer', async () => {
      const code =
        'function evaluate(app, inputs, output, answer) { return Object.keys(app).length === 0 && output === answer && inputs.q === 1 }'
      const parameters = { runtime: 'javascript', code, correct_answer_key: 'a' }
      const given = { parameters, inputs: { q: 1, a: 'x' } }
      expect(await run(KEY, { ...given, outputs: 'x' })).to.deep.equal({ score: 1, success: true })
      expect(await run(KEY, { ...given, outputs: 'y' })).to.deep.equal({ score: 0, success: false })
    })

    // interface 11.1, 11.14
    it('calls the later ones with inputs, outputs and trace', async () => {
      const given = { parameters: js(SEES), outputs: { b: 2 } }
      expect(await run(KEY, given)).to.deep.equal({ args: [{}, { b: 2 }, null] })
    })

    it('says what is missing or wrong', async () => {
      const first = js(SEES, { version: '1' })
      for (const [given, id] of [
        [{ data: { script: SEES }, outputs: 'x' }, 'v0:schemas:missing-parameter'],
        [{ parameters: js(SEES) }, 'v0:schemas:invalid-outputs'],
        [{ parameters: js(SEES), outputs: 5 }, 'v0:schemas:invalid-outputs'],
        [{ parameters: js(SEES, { threshold: '0.5' }), outputs: 'x' }, 'v0:schemas:invalid-parameter'],
        [{ parameters: js(SEES, { threshold: 1.5 }), outputs: 'x' }, 'v0:schemas:invalid-parameter'],
        [{ parameters: js(SEES, { runtime: 'ruby' }), outputs: 'x' }, 'v0:schemas:invalid-parameter'],
        [{ parameters: first, outputs: 'x' }, 'v0:schemas:invalid-inputs'],
        [{ parameters: first, outputs: 'x', inputs: {} }, 'v0:schemas:missing-input'],
        [{ parameters: js('throw 1'), outputs: 'x' }, 'v0:workflows:custom-code-server-error'],
      ] as const)
        expect((await failure(KEY, given)).id, JSON.stringify(given)).to.equal(id)
      const failed = await failure(KEY, { parameters: js('throw 1'), outputs: 'x' })
      expect([failed.status, failed.message]).to.deep.equal([424, 'Thrown: 1'])
    })
  })
})
