import { expect } from 'chai'
import { refusing, replying } from '../../../support/servers/chat-stub.ts'
import { failing, prompting, type PromptWorld, startPromptWorld } from './prompt-world.ts'

describe('handlers: completion', () => {
  let world: PromptWorld
  beforeEach(async () => (world = await startPromptWorld()))
  afterEach(() => world.stop())

  const ASK = { messages: [{ role: 'user', content: 'The capital of {{country}}?' }] }
  const run = (prompt: object, inputs?: object, more = {}) =>
    world.run('completion', { ...prompting(prompt as never), inputs: inputs as never, ...more })

  it('renders the prompt with the inputs, at the top and under inputs, and answers the text', async () => {
    const messages = [{ role: 'user', content: '{{country}} {{inputs.country}}' }]
    expect(await run({ messages }, { country: 'France' })).to.equal('Paris')
    expect(world.sent()).to.deep.equal([
      { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'France France' }] },
    ])
  })

  it('inputs in inputs stand for themselves; without inputs nothing is rendered', async () => {
    await run(ASK, { inputs: { country: 'Spain' } })
    await run(ASK)
    expect(world.sent().map(({ messages }) => messages[0].content)).to.deep.equal([
      'The capital of Spain?',
      'The capital of {{country}}?',
    ])
  })

  // interface 11.23
  it('sends what the llm_config says, its response format rendered', async () => {
    const llm_config = {
      model: 'mistral/small',
      temperature: 0.1,
      max_tokens: 9,
      response_format: { type: 'json_schema', json_schema: { name: '{{name}}', schema: { '{{name}}': 1 } } },
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'auto',
    }
    await run({ messages: [], llm_config }, { name: 'x' })
    expect(world.sent()).to.deep.equal([
      {
        model: 'small',
        messages: [],
        temperature: 0.1,
        max_tokens: 9,
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { x: 1 } } },
        tools: [{ type: 'function', function: { name: 'f' } }],
        tool_choice: 'auto',
      },
    ])
  })

  // interface 11.18
  it('answers text, else the refusal, else the tool calls; text stays text', async () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
    world.stub.answerNext(
      replying({ content: '{"a":1}' }),
      replying({ content: null, refusal: 'No.' }),
      replying({ content: null, tool_calls: calls }),
      replying({ content: null }),
    )
    const outputs = []
    for (let time = 0; time < 4; time++) outputs.push(await run(ASK, { country: 'x' }))
    expect(outputs).to.deep.equal(['{"a":1}', 'No.', calls, ''])
  })

  it('says what is wrong with the prompt, before anything is sent', async () => {
    for (const [prompt, inputs, id, words] of [
      [{ messages: [{ role: 'boss' }] }, {}, 'v0:schemas:invalid-parameter', "At 'prompt.messages[0].role'"],
      [
        { llm_config: { temperature: 3 } },
        {},
        'v0:schemas:invalid-parameter',
        "At 'prompt.llm_config.temperature'",
      ],
      [{ template_format: 'erb' }, {}, 'v0:schemas:invalid-parameter', "At 'prompt.template_format'"],
      [ASK, {}, 'v0:workflows:prompt-formatting-error', 'Error in messages[0].content: '],
      [
        {
          ...ASK,
          fallback_configs: [{ response_format: { type: 'json_schema', json_schema: { name: '{{y}}' } } }],
        },
        { country: 'x' },
        'v0:workflows:prompt-formatting-error',
        'Error in fallback_configs[0].response_format.json_schema.name: ',
      ],
      [
        { ...ASK, input_keys: ['country', 'a'] },
        { b: 1, country: 2 },
        'v0:schemas:invalid-inputs',
        '["a","country"]',
      ],
      [{ ...ASK, input_keys: ['country'] }, undefined, 'v0:schemas:invalid-inputs', '["country"]'],
    ] as const) {
      const { message, ...rest } = await failing(run(prompt, inputs))
      expect(rest, message).to.deep.equal({ id, status: 400 })
      expect(message).to.contain(words)
    }
    const { id, message } = await failing(world.run('completion', {}))
    expect({ id, message }).to.deep.equal({
      id: 'v0:schemas:missing-parameter',
      message: "Missing parameter:\nAt 'prompt'",
    })
    expect(world.sent()).to.have.length(0)
  })

  it('rendering is looked at before the key; without one it says where to put it', async () => {
    const keyless = { ...ASK, llm_config: { model: 'groq/x' } }
    expect(await failing(run(keyless, {}))).to.include({ id: 'v0:workflows:prompt-formatting-error' })
    const { id, status, message } = await failing(run(keyless, { country: 'x' }))
    expect({ id, status }).to.deep.equal({ id: 'v0:schemas:invalid-secrets', status: 424 })
    expect(message).to.contain("No API key found for model 'groq/x'").and.to.contain('GROQ_API_KEY')
  })

  it('a refused call is 424 and says what the provider said', async () => {
    world.stub.answerNext(refusing(500, 'Oh no'))
    const { id, status, message } = await failing(run(ASK, { country: 'x' }))
    expect({ id, status }).to.deep.equal({ id: 'v0:workflows:prompt-completion-error', status: 424 })
    expect(message).to.contain('Oh no').and.to.contain('500')
  })

  // interface 11.20
  it('tries again and elsewhere as the policies say, a span each', async () => {
    const prompt = {
      ...ASK,
      llm_config: { model: 'groq/x' },
      fallback_configs: [{ model: 'mistral/small' }, { model: 'gpt-4o' }, { model: 'never' }],
      fallback_policy: 'access',
      retry_policy: 'capacity',
      retry_config: { max_retries: 2, base_delay: 100 },
    }
    world.stub.answerNext(refusing(429, 'a'), refusing(503, 'b'), refusing(403, 'c'))
    expect(await run(prompt, { country: 'x' })).to.equal('Paris')
    expect(world.sent().map(({ model }) => model)).to.deep.equal(['small', 'small', 'small', 'gpt-4o'])
    expect(world.spans().map(({ statusCode }) => statusCode)).to.deep.equal([
      ...Array<string>(4).fill('STATUS_CODE_ERROR'),
      'STATUS_CODE_OK',
    ])
  })

  it('whoever does not wait any more ends it, between two attempts as well', async () => {
    const controller = new AbortController()
    const prompt = { ...ASK, retry_policy: 'any', retry_config: { max_retries: 5, base_delay: 1000 } }
    world.stub.answerNext((response, request) => {
      refusing(503, 'a')(response, request)
      setTimeout(() => controller.abort(), 50)
    })
    const request = { ...prompting(prompt), inputs: { country: 'x' } }
    const { message } = await failing(world.run('completion', request, controller.signal))
    expect(message).to.contain('was not waited for')
    expect(world.sent()).to.have.length(1)
  })
})
