import { expect } from 'chai'
import type { JsonObject } from '../../../../src/base/json/json.ts'
import { replying } from '../../../support/servers/chat-stub.ts'
import { failing, prompting, type PromptWorld, startPromptWorld } from './prompt-world.ts'

describe('handlers: chat', () => {
  let world: PromptWorld
  beforeEach(async () => (world = await startPromptWorld()))
  afterEach(() => world.stop())

  const SYSTEM = { messages: [{ role: 'system', content: 'Know {{context}}.' }] }
  const run = (inputs: JsonObject | undefined, prompt: JsonObject = SYSTEM) =>
    world.run('chat', { ...prompting(prompt), inputs })

  // interface 11.18
  it('what was said follows the prompt exactly as it is', async () => {
    const messages: JsonObject[] = [
      { role: 'user', content: 'Say {{context}}' },
      { role: 'narrator', content: null, extra: 1 },
    ]
    expect(await run({ context: 'all', messages })).to.deep.equal({ role: 'assistant', content: 'Paris' })
    await run({ inputs: { context: 'some' }, messages })
    expect(world.sent().map((it) => it.messages)).to.deep.equal([
      [{ role: 'system', content: 'Know all.' }, ...messages],
      [{ role: 'system', content: 'Know some.' }, ...messages],
    ])
  })

  it('messages are no variable, and no input key has to be there for them', async () => {
    const names = { messages: [{ role: 'system', content: '{{messages}}' }] }
    const { id } = await failing(run({ messages: [] }, names))
    expect(id).to.equal('v0:workflows:prompt-formatting-error')
    const inner = { messages: [{ role: 'system', content: '{{inputs}}' }], input_keys: ['messages', 'a'] }
    await run({ a: 1, messages: [] }, inner)
    await run({ a: 1 }, inner)
    expect(world.sent().map((it) => it.messages[0].content)).to.deep.equal(['{"a": 1}', '{"a": 1}'])
    expect((await failing(run({}, inner))).message)
      .to.contain('["a"]')
      .and.to.not.contain('messages')
  })

  it('answers one message: a refusal is its content, tool calls stay', async () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
    world.stub.answerNext(
      replying({ role: 'assistant', content: null, refusal: 'No.', annotations: [] }),
      replying({ role: 'assistant', content: 'Wait', tool_calls: calls, audio: null }),
    )
    expect(await run({ context: 'x' })).to.deep.equal({ role: 'assistant', content: 'No.' })
    expect(await run({ context: 'x' })).to.deep.equal({
      role: 'assistant',
      content: 'Wait',
      tool_calls: calls,
    })
  })

  it('a history that is none is refused', async () => {
    expect(await failing(run({ context: 'x', messages: 'hello' }))).to.deep.include({
      id: 'v0:schemas:invalid-input',
      message: "Invalid input:\nAt 'messages'\nExpected 'list'\nGot ('str') 'hello'.",
    })
    expect((await failing(run({ context: 'x', messages: [{}, 'hello'] }))).message).to.contain('messages[1]')
    expect(world.sent()).to.have.length(0)
  })
})
