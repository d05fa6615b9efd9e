import { expect } from 'chai'
import type { JsonObject } from '../../../../src/base/json/json.ts'
import { refusing, replying } from '../../../support/servers/chat-stub.ts'
import { failing, type PromptWorld, startPromptWorld } from './prompt-world.ts'

describe('handlers: llm', () => {
  let world: PromptWorld
  beforeEach(async () => (world = await startPromptWorld()))
  afterEach(() => world.stop())

  const GPT = { llms: [{ model: 'gpt-4o' }] }
  const run = (parameters: JsonObject, inputs?: JsonObject, flags: JsonObject = {}) =>
    world.run('llm', { parameters, inputs, flags })

  it('answers the whole conversation with what it ended as', async () => {
    const parameters = {
      ...GPT,
      messages: [{ role: 'system', content: 'You are {{who}}.' }],
      context: { a: 1, b: 1 },
      consent: { mode: 'per_call', decisions: { x: { decision: 'allow' } } },
    }
    const inputs = {
      messages: [{ role: 'user', content: 'Hello {{who}}' }],
      variables: { who: 'Ann' },
      context: { b: 2 },
      consent: { decisions: { y: { decision: 'deny' } } },
    }
    const asked = [
      { role: 'system', content: 'You are Ann.' },
      { role: 'user', content: 'Hello Ann' },
    ]
    const outputs = {
      status: { code: 200, type: 'success', message: 'completed' },
      messages: [...asked, { role: 'assistant', content: 'Paris' }],
      context: { a: 1, b: 2 },
      consent: { mode: 'per_call', decisions: { x: { decision: 'allow' }, y: { decision: 'deny' } } },
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    }
    expect(await run(parameters, inputs)).to.deep.equal(outputs)
    expect(await run(parameters, inputs, { trim: true })).to.deep.equal({
      ...outputs,
      messages: [{ role: 'assistant', content: 'Paris' }],
    })
    expect(world.sent()[0]).to.deep.equal({ model: 'gpt-4o', messages: asked })
  })

  it('without variables placeholders stay as they are', async () => {
    await run({ ...GPT, messages: [{ role: 'user', content: '{{who}}' }] }, { variables: {} })
    expect(world.sent()[0].messages).to.deep.equal([{ role: 'user', content: '{{who}}' }])
  })

  it('sends external tools, the choice of each model, and its settings', async () => {
    const external = [{ type: 'function', function: { name: 'f' } }]
    const llms = [{ model: 'gpt-4o', temperature: 1, tool_choice: 'auto', max_tokens: 5 }]
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
    world.stub.answerNext(replying({ content: null, tool_calls: calls }, 'tool_calls'))
    const outputs = await run({ llms, tools: { internal: [], external }, loop: null })
    expect(world.sent()[0]).to.deep.equal({
      model: 'gpt-4o',
      messages: [],
      temperature: 1,
      max_tokens: 5,
      tools: external,
      tool_choice: 'auto',
    })
    expect(outputs).to.have.deep.property('messages', [{ role: 'assistant', tool_calls: calls }])
  })

  // interface 11.18
  it('asks one model after the other while they cannot be had', async () => {
    const llms = [
      { model: null },
      { model: 'groq/x' },
      { model: 'gpt-1' },
      { model: 'mistral/2' },
      { model: 'gpt-3' },
    ]
    world.stub.answerNext(refusing(429, 'a'), refusing(404, 'b'))
    await run({ llms })
    expect(world.sent().map(({ model }) => model)).to.deep.equal(['gpt-1', '2', 'gpt-3'])
    world.stub.answerNext(refusing(401, 'a'), refusing(503, 'b'), refusing(429, 'c'))
    const { message, ...rest } = await failing(run({ llms }))
    expect(rest).to.deep.equal({ id: 'v0:workflows:llm-unavailable', status: 424 })
    expect(message.split('\n')).to.have.length(5)
    expect(message).to.contain("No API key found for model 'groq/x'").and.to.contain('did not answer: c')
  })

  it('other refusals end it', async () => {
    world.stub.answerNext(refusing(400, 'bad'))
    const failure = await failing(run({ llms: [{ model: 'gpt-1' }, { model: 'gpt-2' }] }))
    expect(failure).to.include({ id: 'v0:workflows:prompt-completion-error' })
    expect(world.sent()).to.have.length(1)
  })

  it('refuses what it does not do, and parameters that are wrong', async () => {
    for (const [parameters, inputs, flags, id, words] of [
      [{}, {}, { force: true }, 'v0:workflows:force-not-supported', 'force'],
      [{ ...GPT, loop: {} }, {}, {}, 'v0:workflows:not-implemented', "'loop'"],
      [
        { ...GPT, tools: { internal: ['files.list'] } },
        {},
        {},
        'v0:workflows:not-implemented',
        "'tools.internal'",
      ],
      [{}, {}, {}, 'v0:schemas:invalid-parameter', "At 'llms'"],
      [{ llms: [] }, {}, {}, 'v0:schemas:invalid-parameter', "At 'llms'"],
      [{ llms: [{ model: '' }] }, {}, {}, 'v0:schemas:invalid-parameter', "At 'llms'"],
      [
        { llms: Array.from({ length: 101 }, () => ({ model: 'gpt-4o' })) },
        {},
        {},
        'v0:schemas:invalid-parameter',
        "At 'llms'\nExpected 'list[at most 100]'",
      ],
      [{ llms: ['gpt-4o'] }, {}, {}, 'v0:schemas:invalid-parameter', "At 'llms[0]'"],
      [{ llms: [{ model: 'a', top_p: 2 }] }, {}, {}, 'v0:schemas:invalid-parameter', "At 'llms[0].top_p'"],
      [
        { ...GPT, messages: [{ role: 'x' }] },
        {},
        {},
        'v0:schemas:invalid-parameter',
        "At 'messages[0].role'",
      ],
      [GPT, { messages: [{ role: 'x' }] }, {}, 'v0:schemas:invalid-input', "At 'inputs.messages[0].role'"],
      [GPT, { messages: [{}] }, {}, 'v0:schemas:missing-input', "At 'inputs.messages[0].role'"],
      [GPT, { variables: 1 }, {}, 'v0:schemas:invalid-input', "At 'inputs.variables'"],
      [
        GPT,
        { messages: [{ role: 'user', content: '{{a}}' }], variables: { b: 1 } },
        {},
        'v0:workflows:prompt-formatting-error',
        'Error in inputs.messages[0].content: ',
      ],
    ] as const) {
      const { message, ...rest } = await failing(run(parameters as never, inputs as never, flags))
      expect(rest.id, message).to.equal(id)
      expect(message).to.contain(words)
    }
    expect(world.sent()).to.have.length(0)
  })
})
