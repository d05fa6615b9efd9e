import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { StreamedOutputs } from '../../../../src/run/handlers/handler.ts'
import { getKey, type JsonObject } from '../../../../src/base/json/json.ts'
import { finished, refusing, streaming } from '../../../support/servers/chat-stub.ts'
import { failing, gathered, prompting, type PromptWorld, startPromptWorld } from './prompt-world.ts'

describe('handlers: prompts, piece by piece', () => {
  let world: PromptWorld
  beforeEach(async () => (world = await startPromptWorld()))
  afterEach(() => world.stop())

  const run = (key: string, prompt: JsonObject = {}) =>
    world.run(key, { ...prompting({ messages: [], ...prompt }), wantsStream: true })

  it('tells the message while it is made, then what it took', async () => {
    const deltas = [{ role: 'assistant', content: '' }, { content: 'Par' }, { content: 'is' }]
    world.stub.answerNext(streaming(deltas), streaming(deltas))
    for (const [key, outputs] of [
      ['completion', 'Paris'],
      ['chat', { role: 'assistant', content: 'Paris' }],
    ] as const) {
      const { pieces, whole } = await gathered(await run(key))
      expect(pieces).to.deep.equal([
        { type: 'message_start', data: { role: 'assistant' } },
        { type: 'message_delta', data: { content: 'Par' } },
        { type: 'message_delta', data: { content: 'is' } },
        { type: 'message_end', data: { finish_reason: 'stop' } },
        {
          type: 'usage',
          data: {
            prompt: 11,
            completion: 7,
            total: 18,
            // gpt-4o-mini: 0.15 and 0.60 dollars for a million tokens
            costs: { prompt: 0.00000165, completion: 0.0000042, total: 0.00000585 },
          },
        },
        { type: 'done', data: {} },
      ])
      expect(whole).to.deep.equal(outputs)
    }
  })

  it('tool calls come with the end', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    world.stub.answerNext(
      streaming([{ tool_calls: [{ index: 0, ...call }] }], (response) => finished(response, 'tool_calls')),
    )
    const { pieces, whole } = await gathered(await run('completion'))
    expect(pieces[1]).to.deep.equal({
      type: 'message_end',
      data: { finish_reason: 'tool_calls', tool_calls: [call] },
    })
    expect(whole).to.deep.equal([call])
  })

  it('until the first text the policies hold, and a failure is one of the run', async () => {
    const retrying = { retry_policy: 'availability', retry_config: { base_delay: 100 } }
    world.stub.answerNext(
      refusing(503, 'a'),
      refusing(429, 'b'),
      streaming([{ content: 'x' }]),
      streaming([], (response) => void setTimeout(() => response.destroy(), 20)),
      streaming([{ content: 'y' }]),
      refusing(400, 'c'),
    )
    const elsewhere = { ...retrying, fallback_configs: [{ model: 'mistral/m' }], fallback_policy: 'capacity' }
    expect((await gathered(await run('completion', elsewhere))).whole).to.equal('x')
    expect(world.sent().map(({ model }) => model)).to.deep.equal(['gpt-4o-mini', 'gpt-4o-mini', 'm'])
    expect((await gathered(await run('completion', retrying))).whole).to.equal('y')
    expect(await failing(run('completion'))).to.include({ status: 424 })
  })

  it('after the first text nothing is tried again, and the failure comes between the pieces', async () => {
    world.stub.answerNext(
      streaming([{ content: 'Pa' }], (response) => void setTimeout(() => response.destroy(), 20)),
    )
    const result = await run('completion', {
      retry_policy: 'any',
      fallback_configs: [{}],
      fallback_policy: 'any',
    })
    expect(await failing(gathered(result))).to.include({
      id: 'v0:workflows:prompt-completion-error',
      status: 424,
    })
    expect(world.sent()).to.have.length(1)
  })

  it('whoever stops taking pieces ends the call', async () => {
    world.stub.answerNext(streaming([{ content: 'Pa' }], () => undefined))
    const result = await run('chat')
    if (!(result instanceof StreamedOutputs)) throw new Error('the outputs came whole')
    for await (const piece of result.pieces) if (getKey(piece, 'type') === 'message_delta') break
    while ((await world.stub.connections()) > 0) await pause(5)
    expect(world.spans()).to.have.length(1)
  })
})
