import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type ChatStub,
  event,
  finished,
  refusing,
  startChatStub,
  streaming,
  text,
} from '../../support/servers/chat-stub.ts'
import { asking, drain, failureOf, modelWorld, type ModelWorld, SECRET_KEY } from './model-world.ts'

describe('models: streaming', () => {
  let stub: ChatStub
  let world: ModelWorld
  beforeEach(async () => {
    stub = await startChatStub()
    world = modelWorld({ openai: { apiKey: SECRET_KEY, baseUrl: stub.url, mayBePrivate: true } })
  })
  afterEach(() => stub.stop())

  const stream = (more = {}) => world.models.streamChat(asking(more), world.span)

  it('tells the pieces, then the reply', async () => {
    stub.answerNext(streaming([{ role: 'assistant', content: '' }, { content: 'Par' }, { content: 'is' }]))
    expect(await drain(stream({ temperature: 0 }))).to.deep.equal({
      pieces: ['Par', 'is'],
      reply: {
        message: { role: 'assistant', content: 'Paris' },
        usage: {
          tokens: { prompt: 11, completion: 7, total: 18 },
          costs: { prompt: 0.00000165, completion: 0.0000042, total: 0.00000585 },
        },
        finishReason: 'stop',
      },
    })
    expect(stub.received[0]?.body).to.deep.equal({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'The capital of France?' }],
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    })
    const [span] = world.spans()
    expect(span?.attributes).to.nested.include({
      'gen_ai.response.model': 'gpt-4o-mini-2024-07-18',
      'gen_ai.usage.output_tokens': 7,
    })
    expect(span?.attributes).to.deep.nested.include({
      'svc.data.outputs': { role: 'assistant', content: 'Paris' },
    })
  })

  it('a piece is told when it comes, not when the answer is complete', async () => {
    let go: () => void = () => undefined
    stub.answerNext(
      streaming([{ content: 'first' }], (response) => {
        go = () => finished(response)
      }),
    )
    const told = stream()
    expect(await told.next()).to.deep.equal({ done: false, value: 'first' })
    go()
    expect((await told.next()).done).to.equal(true)
  })

  it('gathers tool calls and refusals', async () => {
    const call = (index: number, part: object) => ({ tool_calls: [{ index, ...part }] })
    stub.answerNext(
      streaming([
        call(0, { id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }),
        call(0, { function: { arguments: '{"a"' } }),
        call(1, { id: 'c2', type: 'function', function: { name: 'hear', arguments: '{}' } }),
        call(0, { function: { arguments: ':1}' } }),
      ]),
      streaming([{ refusal: 'I will ' }, { refusal: 'not.' }]),
    )
    const { pieces, reply } = await drain(stream())
    expect(pieces).to.deep.equal([])
    expect(reply.message)
      .to.have.deep.property('tool_calls')
      .that.has.deep.members([
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
        { id: 'c2', type: 'function', function: { name: 'hear', arguments: '{}' } },
      ])
    expect((await drain(stream())).reply.message).to.deep.equal({ role: 'assistant', refusal: 'I will not.' })
  })

  it('a refused call fails before the first piece', async () => {
    stub.answerNext(refusing(429, 'Slow down'))
    expect(await failureOf(drain(stream()))).to.include({ kind: 'capacity', upstreamStatus: 429 })
  })

  it('an answer that is dropped, cut off or turns into an error fails where it does', async () => {
    const begun = [{ content: 'Pa' }]
    for (const [end, kind] of [
      [(response) => void setTimeout(() => response.destroy(), 20), 'availability'],
      [(response) => response.end(), 'answer'],
      [(response) => response.end('data: {"choices": [\n\n'), 'answer'],
      [(response) => response.end(event({ error: { message: `overloaded ${SECRET_KEY}` } })), 'availability'],
      [(response) => response.end(event({ error: { message: 'too many', code: 429 } })), 'capacity'],
    ] as const satisfies [Parameters<typeof streaming>[1], string][]) {
      stub.answerNext(streaming(begun, end))
      const told = stream()
      expect(await told.next()).to.deep.equal({ done: false, value: 'Pa' })
      const failure = await failureOf(told.next())
      expect(failure.kind, failure.message).to.equal(kind)
    }
    const spans = world.spans()
    expect(spans).to.have.length(5)
    for (const { statusCode, attributes } of spans) {
      expect(statusCode).to.equal('STATUS_CODE_ERROR')
      expect(attributes).to.deep.nested.include({ 'svc.data.outputs': { role: 'assistant', content: 'Pa' } })
    }
    expect(JSON.stringify(spans)).to.not.contain('sk-never')
  })

  it('what is no stream of events is no answer', async () => {
    stub.answerNext(
      text('<html>hello</html>', 200, 'text/html'),
      text('{"choices":[{"message":{"content":"x"}}]}'),
    )
    expect((await failureOf(drain(stream()))).kind).to.equal('answer')
    expect((await failureOf(drain(stream()))).kind).to.equal('answer')
  })

  it('a stream has a time limit and a size limit', async () => {
    stub.answerNext(streaming([{ content: 'x'.repeat(120_000) }]))
    const { kind, message } = await failureOf(drain(stream()))
    expect({ kind }).to.deep.equal({ kind: 'answer' })
    expect(message).to.contain('longer than 100000 bytes')
    const slow = modelWorld(
      { openai: { apiKey: '', baseUrl: stub.url, mayBePrivate: true } },
      { timeoutMs: 150 },
    )
    stub.answerNext(streaming([{ content: 'Pa' }], () => undefined))
    const late = await failureOf(drain(slow.models.streamChat(asking(), slow.span)))
    expect(late.message).to.contain('did not answer within 150 ms')
  })

  it('whoever stops taking pieces ends the connection, and the span holds what was said', async () => {
    stub.answerNext(streaming([{ content: 'Pa' }], () => undefined))
    const told = stream()
    await told.next()
    const tokens = { prompt: 0, completion: 0, total: 0 }
    await told.return({ message: {}, usage: { tokens }, finishReason: '' })
    while ((await stub.connections()) > 0) await pause(5)
    const [span] = world.spans()
    expect(span?.attributes).to.deep.nested.include({
      'svc.data.outputs': { role: 'assistant', content: 'Pa' },
    })
  })
})
