import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { type HandlerRequest, StreamedOutputs } from '../../../../src/run/handlers/handler.ts'
import { builtInHandlers } from '../../../../src/run/handlers/built-in-handlers.ts'
import { ExactNumber, type Json } from '../../../../src/base/json/json.ts'
import { handlerContext, handlerRequest } from '../handler-context.ts'

describe('mock', () => {
  const run = async (
    key: string,
    request: Partial<HandlerRequest>,
    signal = new AbortController().signal,
  ): Promise<unknown> => {
    try {
      return await builtInHandlers.get(key)?.(
        handlerRequest(request),
        handlerContext({}, { untilGone: () => signal }),
      )
    } catch (error) {
      if (error instanceof HandlerFailure) return `${error.status} ${error.code}: ${error.message}`
      throw error
    }
  }
  const mock = (key: Json, kwargs: Json = {}, request: Partial<HandlerRequest> = {}) =>
    run('mock', { ...request, parameters: { key, kwargs } })

  for (const [key, kwargs, request, expected] of [
    ['echo', {}, { inputs: { a: 1 } }, { a: 1 }],
    ['echo', {}, {}, {}],
    ['static', { output: ['x'] }, {}, ['x']],
    ['static', { output: 0 }, {}, 0],
    ['static', null, {}, {}],
    ['messages', {}, {}, { messages: [{ role: 'assistant', content: 'mock reply' }] }],
    ['messages', { text: 'hi' }, {}, { messages: [{ role: 'assistant', content: 'hi' }] }],
    ['pass', {}, {}, { score: 1, success: true }],
    ['fail', {}, {}, { score: 0, success: false }],
    ['score', {}, {}, { score: 0, success: false }],
    ['score', { score: 0.5 }, {}, { score: 0.5, success: true }],
    ['score', { score: new ExactNumber('0.50'), threshold: 0.6 }, {}, { score: 0.5, success: false }],
    ['reflect', {}, { outputs: { a: 1 } }, { score: 1, success: true }],
    ['reflect', {}, { outputs: { a: 1, success: true } }, { score: 0, success: false }],
    ['reflect', {}, { outputs: { score: 1 } }, { score: 0, success: false }],
    ['reflect', {}, { outputs: {} }, { score: 0, success: false }],
    ['reflect', {}, { outputs: 'text' }, { score: 0, success: false }],
    ['reflect', {}, {}, { score: 0, success: false }],
    ['delay', { seconds: 0 }, {}, { score: 1, success: true }],
    ['delay', { seconds: 0.01, then: 'static', output: 'late' }, {}, 'late'],
    ['delay', { seconds: 0, then: 'error' }, {}, '424 mock_error: mock error'],
    ['error', { message: 'as asked' }, {}, '424 mock_error: as asked'],
  ] as const) {
    // interface 11.24
    it(`${key} with ${JSON.stringify(kwargs)} makes ${JSON.stringify(expected)}`, async () => {
      expect(await mock(key, kwargs, request)).to.deep.equal(expected)
    })
  }

  it('events come one by one, and as a whole afterwards', async () => {
    const streamed = await mock('events', { text: 'two words ' })
    if (!(streamed instanceof StreamedOutputs)) throw new Error('not streamed')
    const pieces = []
    for await (const piece of streamed.pieces) pieces.push(piece)
    expect(pieces).to.deep.equal([
      { type: 'message_start', data: { role: 'assistant' } },
      { type: 'message_delta', data: { content: 'two' } },
      { type: 'message_delta', data: { content: ' words' } },
      { type: 'message_delta', data: { content: ' ' } },
      { type: 'message_end', data: { role: 'assistant', content: 'two words ' } },
      { type: 'usage', data: { prompt: 0, completion: 3, total: 3 } },
      { type: 'done', data: {} },
    ])
    expect(streamed.whole()).to.deep.equal({ messages: [{ role: 'assistant', content: 'two words ' }] })
  })

  it('delay ends when nobody waits for it', async () => {
    const gone = new AbortController()
    const work = run('mock', { parameters: { key: 'delay', kwargs: { seconds: 600 } } }, gone.signal)
    gone.abort()
    expect(await work).to.match(/^424 mock_error: .*given up/)
    const late = run('mock', { parameters: { key: 'delay', kwargs: { seconds: 600 } } }, gone.signal)
    expect(await late).to.match(/^424 mock_error: .*given up/)
  })

  for (const [key, kwargs, says] of [
    ['nothing', {}, 'echo, static, messages, events, pass, fail, score, reflect, error, delay'],
    ['constructor', {}, 'echo, static'],
    [5, {}, 'echo, static'],
    ['echo', [], "At 'kwargs'"],
    ['echo', 'x', "At 'kwargs'"],
    ['score', { score: '1' }, "At 'kwargs.score'"],
    ['score', { threshold: new ExactNumber('1e400') }, "At 'kwargs.threshold'"],
    ['messages', { text: 5 }, "At 'kwargs.text'"],
    ['delay', { seconds: -1 }, "At 'kwargs.seconds'"],
    ['delay', { seconds: 1e9 }, "At 'kwargs.seconds'"],
    ['delay', { then: 'delay' }, "At 'kwargs.then'"],
    ['delay', { then: 'never' }, "At 'kwargs.then'"],
  ] as const) {
    it(`refuses ${JSON.stringify(key)} with ${JSON.stringify(kwargs)}`, async () => {
      expect(await mock(key, kwargs))
        .to.match(/^400 invalid_parameter/)
        .and.contain(says)
    })
  }

  it('needs a key', async () => {
    expect(await run('mock', {})).to.match(/^400 missing_parameter: .*\nAt 'key'/)
  })

  it('feedback is not run, and says whose interface it is', async () => {
    expect(await run('feedback', { data: { uri: 'svc:custom:feedback:v0' } })).to.match(
      /^424 feedback_error: svc:custom:feedback:v0 is the interface/,
    )
  })
})
