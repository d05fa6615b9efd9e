import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { autoWebhookTest } from '../../../../src/run/handlers/hooks/auto-webhook-test.ts'
import { ExactNumber, type JsonObject, type Json } from '../../../../src/base/json/json.ts'
import { type Receiver, startReceiver } from '../../../support/servers/receiver.ts'
import { handlerContext, handlerRequest } from '../handler-context.ts'

describe('auto_webhook_test', () => {
  let receiver: Receiver
  beforeEach(async () => (receiver = await startReceiver()))
  afterEach(() => receiver.stop())

  const run = async (
    parameters: JsonObject = {},
    inputs: JsonObject | undefined = { q: 1 },
    outputs: Json | undefined = 'text',
  ): Promise<unknown> => {
    const request = handlerRequest({
      parameters: { webhook_url: receiver.url, ...parameters },
      ...{ inputs, outputs },
    })
    try {
      return await autoWebhookTest(2000)(request, handlerContext())
    } catch (error) {
      if (error instanceof HandlerFailure) return `${error.status} ${error.code}: ${error.message}`
      throw error
    }
  }
  const answering = (body: string, status = 200) =>
    receiver.answerNext((response) => response.writeHead(status).end(body))

  // interface 11.16
  it('posts inputs and the text of outputs', async () => {
    answering('1')
    await run({}, { q: 1 }, { b: 'é', a: [1, true] })
    answering('1')
    await run()
    expect(receiver.received.map(({ text }) => text)).to.deep.equal([
      '{"inputs":{"q":1},"output":"{\\"a\\":[1,true],\\"b\\":\\"é\\"}"}',
      '{"inputs":{"q":1},"output":"text"}',
    ])
    expect(receiver.received[0]?.url).to.equal('/hook')
  })

  for (const [body, parameters, expected] of [
    ['0.5', {}, { score: 0.5, success: true }],
    ['0.49', {}, { score: 0.49, success: false }],
    ['0.49', { threshold: 0.4 }, { score: 0.49, success: true }],
    ['0.4', { threshold: 0 }, { score: 0.4, success: false }],
    ['0.4', { threshold: [] }, { score: 0.4, success: false }],
    ['1', { threshold: 1 }, { score: 1, success: true }],
    ['7', { threshold: new ExactNumber('1.0') }, { score: 7, success: true }],
    ['true', {}, { score: true, success: true }],
    ['false', {}, { score: false, success: false }],
    ['{"score":1,"why":"x"}', {}, { score: 1, why: 'x' }],
    ['"fine"', {}, 'fine'],
  ] as const) {
    // interface 11.16
    it(`makes ${JSON.stringify(expected)} of ${body} with ${JSON.stringify(parameters)}`, async () => {
      answering(body)
      expect(await run(parameters)).to.deep.equal(expected)
    })
  }

  for (const [body, status, says] of [
    ['[1]', 200, 'of type list'],
    ['null', 200, 'of type NoneType'],
    ['no JSON', 200, 'cannot be read as JSON'],
    ['', 200, 'cannot be read as JSON'],
    ['down', 503, 'answered 503: down'],
    ['{"detail":"down"}', 500, 'answered 500: {"detail":"down"}'],
  ] as const) {
    it(`fails for the answer ${status} ${body}`, async () => {
      answering(body, status)
      expect(await run())
        .to.match(/^424 custom_hook_(client|server)_error: /)
        .and.contain(says)
    })
  }

  it('checks what it is given, in order', async () => {
    expect(await run({ webhook_url: null, threshold: 'x' }, undefined)).to.match(/^400 missing_parameter/)
    expect(await run({ webhook_url: 5 })).to.match(/^400 invalid_parameter/)
    expect(await run({ webhook_url: 'ftp://a.example' })).to.match(/^400 invalid_parameter.*\n.*webhook_url/)
    const request = handlerRequest({ parameters: { webhook_url: receiver.url } })
    const error: unknown = await Promise.resolve(autoWebhookTest(100)(request, handlerContext())).catch(
      (it: unknown) => it,
    )
    expect(error).to.include({ id: 'v0:schemas:invalid-inputs' })
    for (const outputs of [null, 1, ['a']])
      expect(await run({}, {}, outputs)).to.match(/^400 invalid_outputs/)
    for (const threshold of ['0.5', true, [1], 1.5, -1, new ExactNumber('1e400')])
      expect(await run({ threshold }), String(threshold)).to.match(/^400 invalid_parameter/)
    expect(receiver.received).to.have.length(0)
  })
})
