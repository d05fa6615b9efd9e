import { expect } from 'chai'
import { type ChatReaction, type ChatStub, json, startChatStub } from '../../support/servers/chat-stub.ts'
import { asking, drain, failureOf, modelWorld, type ModelWorld, SECRET_KEY } from './model-world.ts'

const PIXEL = 'iVBORw0KGgo='

/** A conversation with everything that another protocol has a place for. */
const CONVERSATION = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
      ],
    },
    {
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
    { role: 'developer', content: 'And kind.' },
  ],
  temperature: 0.5,
  maxTokens: 50,
  tools: [
    {
      type: 'function',
      function: {
        name: 'look',
        description: 'Looks.',
        parameters: { type: 'object', properties: { at: { type: 'number' } } },
      },
    },
  ],
  toolChoice: { type: 'function', function: { name: 'look' } },
}

describe('models: anthropic and gemini', () => {
  let stub: ChatStub
  let world: ModelWorld
  beforeEach(async () => {
    stub = await startChatStub()
    const credential = { apiKey: SECRET_KEY, baseUrl: stub.url, mayBePrivate: true }
    world = modelWorld({ anthropic: credential, gemini: credential })
  })
  afterEach(() => stub.stop())

  const chat = (model: string, more = {}) => world.models.chat(asking({ model, ...more }), world.span)
  const claude = 'anthropic/claude-sonnet-4-5'
  const gemini = 'gemini/gemini-2.5-flash'

  const anthropicReply = (...content: object[]): ChatReaction =>
    json({
      type: 'message',
      id: 'msg_1',
      model: 'claude-sonnet-4-5-20250929',
      role: 'assistant',
      content,
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, output_tokens: 5 },
    })
  const geminiReply = (...parts: object[]): ChatReaction =>
    json({
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      responseId: 'r1',
      modelVersion: 'gemini-2.5-flash',
    })

  it('anthropic: a conversation goes out in its protocol, the reply comes back in ours', async () => {
    stub.answerNext(
      anthropicReply(
        { type: 'text', text: 'A cat' },
        { type: 'tool_use', id: 'c2', name: 'look', input: { at: 2 } },
      ),
    )
    expect(await chat(claude, CONVERSATION)).to.deep.equal({
      message: {
        role: 'assistant',
        content: 'A cat',
        tool_calls: [{ id: 'c2', type: 'function', function: { name: 'look', arguments: '{"at":2}' } }],
      },
      usage: {
        tokens: { prompt: 10, completion: 5, total: 15 },
        // claude-sonnet-4-5: 3 and 15 dollars for a million tokens
        costs: { prompt: 0.00003, completion: 0.000075, total: 0.000105 },
      },
      finishReason: 'stop',
    })
    const [request] = stub.received
    expect(request?.url).to.equal('/v1/messages')
    expect(request?.headers['x-api-key']).to.equal(SECRET_KEY)
    expect(request?.body).to.deep.include({
      model: 'claude-sonnet-4-5',
      max_tokens: 50,
      temperature: 0.5,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'And kind.' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a cat' }] },
      ],
      tool_choice: { type: 'tool', name: 'look' },
    })
    expect(request?.body.tools[0]).to.deep.include({ name: 'look', description: 'Looks.' })
    const [span] = world.spans()
    expect(span?.attributes).to.nested.include({
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.response.model': 'claude-sonnet-4-5-20250929',
    })
  })

  it('gemini: a conversation goes out in its protocol, the reply comes back in ours', async () => {
    stub.answerNext(geminiReply({ text: 'A ' }, { text: 'cat' }))
    const reply = await chat(gemini, CONVERSATION)
    expect(reply).to.deep.equal({
      message: { role: 'assistant', content: 'A cat' },
      usage: {
        tokens: { prompt: 10, completion: 5, total: 15 },
        // gemini-2.5-flash: 0.30 and 2.50 dollars for a million tokens
        costs: { prompt: 0.000003, completion: 0.0000125, total: 0.0000155 },
      },
      finishReason: 'stop',
    })
    const [request] = stub.received
    expect(request?.url).to.equal('/v1/models/gemini-2.5-flash:generateContent')
    expect(request?.headers['x-goog-api-key']).to.equal(SECRET_KEY)
    expect(request?.body.systemInstruction).to.deep.equal({
      parts: [{ text: 'Be brief.' }, { text: 'And kind.' }],
    })
    expect(request?.body.contents[0]).to.deep.equal({
      role: 'user',
      parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }],
    })
    expect(JSON.stringify(request?.body.contents)).to.contain('"functionCall":{').and.to.contain('a cat')
    expect(request?.body.generationConfig).to.include({ maxOutputTokens: 50, temperature: 0.5 })
  })

  for (const id of ['../../admin', 'x/..', 'x?y', 'x#', '%2e%2e/x', '.\t./x', 'x\\..'])
    it(`no model is asked for by a name that leads elsewhere: ${JSON.stringify(id)}`, async () => {
      const { kind, message } = await failureOf(chat(`gemini/${id}`))
      expect(kind).to.equal('request')
      expect(message).to.contain('cannot be asked')
      expect(stub.received).to.deep.equal([])
    })

  it('a schema for the reply goes along, and so does an effort', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    }
    const responseFormat = { type: 'json_schema', json_schema: { name: 'verdict', schema } }
    stub.answerNext(
      anthropicReply({ type: 'text', text: '{"ok":true}' }),
      geminiReply({ text: '{"ok":true}' }),
    )
    expect(
      (await chat(claude, { responseFormat, reasoningEffort: 'low', maxTokens: 10 })).message,
    ).to.include({
      content: '{"ok":true}',
    })
    expect((await chat(gemini, { responseFormat, reasoningEffort: 'none' })).message).to.include({
      content: '{"ok":true}',
    })
    const [toClaude, toGemini] = stub.received
    expect(JSON.stringify(toClaude?.body.output_config)).to.contain('"ok"')
    expect(toClaude?.body).to.deep.include({
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 1034,
    })
    expect(toGemini?.body.generationConfig).to.deep.include({
      responseMimeType: 'application/json',
      thinkingConfig: { thinkingBudget: 0 },
    })
  })

  it('both stream', async () => {
    const events = (...bodies: readonly { readonly type?: string }[]): ChatReaction => {
      const lines = bodies.map(
        (body) => `${body.type ? `event: ${body.type}\n` : ''}data: ${JSON.stringify(body)}\n\n`,
      )
      return (response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(lines.join(''))
    }
    const part = (text: string, more = {}) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, ...more }],
    })
    stub.answerNext(
      events(
        {
          type: 'message_start',
          ...{
            message: {
              id: 'm',
              model: 'claude',
              role: 'assistant',
              content: [],
              usage: { input_tokens: 3, output_tokens: 1 },
            },
          },
        },
        { type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } },
        { type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: 'Par' } } },
        { type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: 'is' } } },
        { type: 'content_block_stop', ...{ index: 0 } },
        { type: 'message_delta', ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } } },
        { type: 'message_stop' },
      ),
      events(part('Par') as object, part('is', { finishReason: 'STOP' }) as object),
    )
    for (const model of [claude, gemini]) {
      const { pieces, reply } = await drain(world.models.streamChat(asking({ model }), world.span))
      expect(pieces, model).to.deep.equal(['Par', 'is'])
      expect(reply.message).to.deep.equal({ role: 'assistant', content: 'Paris' })
    }
  })

  it('each refuses in its own way, and says no key', async () => {
    stub.answerNext(
      json(
        {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
        },
        400,
      ),
      json(
        { error: { code: 403, message: `API key ${SECRET_KEY} not valid`, status: 'PERMISSION_DENIED' } },
        403,
      ),
    )
    expect(await failureOf(chat(claude))).to.include({ kind: 'context', upstreamStatus: 400 })
    const { kind, message } = await failureOf(chat(gemini))
    expect({ kind, message }).to.deep.equal({
      kind: 'access',
      message: `The model '${gemini}' of 'gemini' did not answer: API key *** not valid.`,
    })
    expect(JSON.stringify(world.spans())).to.not.contain('sk-never')
  })

  it('what they have no place for is refused by its place, before anything is sent', async () => {
    const user = (part: object) => ({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, part] }],
    })
    for (const [more, place] of [
      [{ messages: [{ role: 'function', name: 'f', content: 'x' }] }, "messages[0] has the role 'function'"],
      [
        user({ type: 'video', video: {} }),
        "messages[0].content[1] is no part that this provider knows: its type is 'video'",
      ],
      [
        user({ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }),
        'messages[0].content[1].image_url.url',
      ],
      [user({ type: 'file', file: { file_id: 'f' } }), 'messages[0].content[1].file is neither'],
      [
        {
          messages: [
            { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://x.example/' } }] },
          ],
        },
        'messages[0].content holds',
      ],
      [
        {
          messages: [
            { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }] },
          ],
        },
        'messages[0].tool_calls[0].function.arguments',
      ],
    ] as const) {
      const { kind, message } = await failureOf(chat(claude, more))
      expect(kind).to.equal('request')
      expect(message).to.contain(place)
    }
    expect(stub.received).to.have.length(0)
  })
})
