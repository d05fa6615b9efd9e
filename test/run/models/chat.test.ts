import { expect } from 'chai'
import { ExactNumber } from '../../../src/base/json/json.ts'
import { environmentCredentials } from '../../../src/run/models/model-endpoint.ts'
import type { ChatStub } from '../../support/servers/chat-stub.ts'
import { json, refusing, replying, startChatStub, text } from '../../support/servers/chat-stub.ts'
import type { ModelWorld } from './model-world.ts'
import { asking, failureOf, modelWorld, SECRET_KEY } from './model-world.ts'

describe('models: chat-completions', () => {
  let stub: ChatStub
  let world: ModelWorld
  beforeEach(async () => {
    stub = await startChatStub()
    world = modelWorld({ openai: { apiKey: SECRET_KEY, baseUrl: stub.url, mayBePrivate: true } })
  })
  afterEach(() => stub.stop())

  const chat = (more = {}) => world.models.chat(asking(more), world.span)
  const failure = (more = {}) => failureOf(chat(more))

  it('asks and answers', async () => {
    const { usage, ...reply } = await chat()
    expect(reply).to.deep.equal({
      message: { role: 'assistant', content: 'Paris' },
      finishReason: 'stop',
    })
    expect(usage.tokens).to.deep.equal({ prompt: 11, completion: 7, total: 18 })
    const [request] = stub.received
    expect(request?.url).to.equal('/v1/chat/completions')
    expect(request?.headers.authorization).to.equal(`Bearer ${SECRET_KEY}`)
    expect(request?.body).to.deep.equal({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'The capital of France?' }],
    })
  })

  it('sends everything the protocol has, exactly as it was given', async () => {
    const messages = [
      { role: 'developer', content: 'Be brief.', name: 'boss' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'https://img.example/a.png', detail: 'low' } },
          { type: 'file', file: { file_id: 'file-1' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a": 1 }' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      { role: 'function', name: 'old', content: 'kept' },
    ]
    const format = {
      type: 'json_schema',
      json_schema: {
        name: 'x',
        description: null,
        schema: { type: 'object', properties: { 2: {}, 1: {} } },
        strict: null,
      },
    }
    const tools = [
      { type: 'function', function: { name: 'look', parameters: {}, strict: true } },
      { type: 'own' },
    ]
    await chat({
      messages,
      temperature: 0.5,
      maxTokens: 100,
      topP: 1,
      frequencyPenalty: -2,
      presencePenalty: 2,
      reasoningEffort: 'none',
      chatTemplateKwargs: { enable_thinking: false, budget: new ExactNumber('1.0') },
      responseFormat: format,
      tools,
      toolChoice: { type: 'function', function: { name: 'look' } },
    })
    expect(stub.received[0]?.body).to.deep.equal({
      model: 'gpt-4o-mini',
      messages,
      temperature: 0.5,
      max_tokens: 100,
      top_p: 1,
      frequency_penalty: -2,
      presence_penalty: 2,
      reasoning_effort: 'none',
      chat_template_kwargs: { enable_thinking: false, budget: 1 },
      response_format: format,
      tools,
      tool_choice: { type: 'function', function: { name: 'look' } },
    })
  })

  it('a tool choice goes only with tools; reasoning models of openai know max_completion_tokens', async () => {
    await chat({ toolChoice: 'auto', tools: [], model: 'gpt-5-mini', maxTokens: 5 })
    expect(stub.received[0]?.body).to.include({ max_completion_tokens: 5 })
    expect(stub.received[0]?.body).to.not.have.any.keys('tool_choice', 'tools', 'max_tokens')
  })

  it('answers tool calls and refusals, without what a provider adds', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }
    stub.answerNext(
      replying(
        { role: 'assistant', content: '', tool_calls: [{ ...call, extra: 1 }], annotations: [] },
        'tool_calls',
      ),
      replying({ role: 'assistant', content: null, refusal: 'I will not.' }),
      replying({ role: 'assistant', content: null }),
    )
    expect(await chat()).to.deep.include({
      message: { role: 'assistant', tool_calls: [call] },
      finishReason: 'tool_calls',
    })
    expect((await chat()).message).to.deep.equal({ role: 'assistant', refusal: 'I will not.' })
    expect((await chat()).message).to.deep.equal({ role: 'assistant', content: '' })
  })

  it('a server that counts no tokens is counted as 0', async () => {
    stub.answerNext(json({ choices: [{ message: { content: 'Hm' } }] }))
    const { usage } = await chat()
    expect(usage.tokens).to.deep.equal({ prompt: 0, completion: 0, total: 0 })
    expect(usage.costs, 'what was not counted has no known cost').to.equal(undefined)
  })

  it('names each kind of refusal', async () => {
    for (const [status, kind] of [
      [400, 'request'],
      [401, 'access'],
      [403, 'access'],
      [404, 'request'],
      [408, 'availability'],
      [409, 'transient'],
      [413, 'request'],
      [422, 'request'],
      [423, 'transient'],
      [429, 'capacity'],
      [500, 'availability'],
      [503, 'availability'],
      [529, 'availability'],
    ] as const) {
      stub.answerNext(refusing(status, 'Because'))
      const { message, ...rest } = await failure()
      expect(rest, String(status)).to.deep.include({ kind, upstreamStatus: status })
      expect(message).to.equal(`The model 'gpt-4o-mini' of 'openai' did not answer: Because.`)
    }
    expect(stub.received).to.have.length(13)
  })

  it('tells a prompt that is too long from other bad requests', async () => {
    for (const sentence of [
      "This model's maximum context length is 8192 tokens.",
      'prompt is too long: 200001 tokens > 200000 maximum',
      'The input token count (9) exceeds the maximum number of tokens allowed (8)',
    ]) {
      stub.answerNext(refusing(400, sentence), refusing(500, sentence))
      expect((await failure()).kind, sentence).to.equal('context')
      expect((await failure()).kind).to.equal('availability')
    }
  })

  it('finds what the provider said wherever it put it', async () => {
    for (const [body, said] of [
      ['{"error":"just text"}', 'just text.'],
      ['{"message":"at the top!"}', 'at the top!'],
      ['{"detail":[{"message":"in a list"}]}', 'in a list.'],
      ['[{"error":{"message":"in an array"}}]', 'in an array.'],
      ['plain words', 'plain words.'],
      ['<html>oh</html>', 'Bad Request.'],
      ['', 'Bad Request.'],
    ] as const) {
      stub.answerNext(text(body, 400, 'text/plain'))
      expect((await failure()).message, body).to.match(
        new RegExp(`did not answer: ${said.replace('.', '\\.')}$`),
      )
    }
  })

  it('says how long a provider asks to wait', async () => {
    stub.answerNext(refusing(429, 'Slow down', { 'retry-after': '20' }))
    expect((await failure()).message).to.match(/Slow down\. It asks to wait 20 s\.$/)
  })

  it('an answer that is none of the protocol is not read', async () => {
    for (const reaction of [
      text('{"choices": [', 200),
      text('<html>hello</html>', 200, 'text/html'),
      json({ choices: [] }),
      json({ hello: 1 }),
      json([]),
      text(''),
    ]) {
      stub.answerNext(reaction)
      const { kind, message } = await failure()
      expect(kind).to.equal('answer')
      expect(message).to.contain('gave an answer that cannot be read')
    }
  })

  it('a slow answer is given up when its time is over, one that was dropped at once', async () => {
    stub.answerNext(
      (response) => response.destroy(),
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"choices"')
        setTimeout(() => response.destroy(), 20)
      },
    )
    for (let time = 0; time < 2; time++) {
      const { kind, message } = await failure()
      expect(kind).to.equal('availability')
      expect(message).to.contain('gave no answer.')
    }
    // A call that is given up may never arrive: what is answered to the first of these may be answered to the second.
    world = modelWorld({ openai: { apiKey: '', baseUrl: stub.url, mayBePrivate: true } }, { timeoutMs: 150 })
    stub.answerNext(
      () => undefined,
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices"'),
    )
    for (const sentence of ['did not answer within 150 ms.', 'did not answer within 150 ms.']) {
      const { kind, message } = await failure()
      expect({ kind, message }).to.deep.equal({
        kind: 'availability',
        message: `The model 'gpt-4o-mini' of 'openai' ${sentence}`,
      })
    }
  })

  it('whoever does not wait ends the call, and it is not one to be tried again', async () => {
    const controller = new AbortController()
    stub.answerNext(() => controller.abort())
    const { kind, message, upstreamStatus } = await failure({ signal: controller.signal })
    expect({ kind, upstreamStatus }).to.deep.equal({ kind: 'request', upstreamStatus: undefined })
    expect(message).to.contain('was not waited for')
    expect((await failure({ signal: AbortSignal.abort() })).kind).to.equal('request')
    expect(stub.received).to.have.length(1)
  })

  it('a huge answer is not read to its end', async () => {
    let sent = 0
    stub.answerNext((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const pour = (): void => {
        while (response.writable && response.write(' '.repeat(65_536))) sent += 65_536
      }
      response.on('drain', pour)
      pour()
    })
    const { kind, message } = await failure()
    expect(kind).to.equal('answer')
    expect(message).to.contain('The answer is longer than 100000 bytes.')
    expect(sent).to.be.lessThan(32 * 1024 * 1024)
  })

  it('a redirect is not followed', async () => {
    for (const status of [301, 302, 307, 308]) {
      stub.answerNext((response) => response.writeHead(status, { location: '/v1/elsewhere' }).end())
      const { kind, message, upstreamStatus } = await failure()
      expect({ kind, upstreamStatus }).to.deep.equal({ kind: 'request', upstreamStatus: status })
      expect(message).to.contain('redirect')
    }
    expect(stub.received).to.have.length(4)
  })

  it('a server that is not there is no answer', async () => {
    world = modelWorld({ openai: { apiKey: '', baseUrl: 'http://127.0.0.1:1/v1', mayBePrivate: true } })
    expect(await failure()).to.include({ kind: 'availability', upstreamStatus: undefined })
  })

  it('the key is nowhere, even when the provider says it again', async () => {
    const echo = `Incorrect API key provided: ${SECRET_KEY}, ${'x'.repeat(950)} ${SECRET_KEY} ${SECRET_KEY}`
    stub.answerNext(
      refusing(401, echo),
      text(`${SECRET_KEY} is wrong`, 403),
      json({ error: { message: echo } }),
    )
    for (let time = 0; time < 3; time++) {
      const { message, stack } = await failure()
      expect(message + String(stack)).to.not.contain('sk-never')
    }
    await chat()
    const spans = world.spans()
    expect(spans).to.have.length(4)
    expect(JSON.stringify(spans)).to.contain('***')
    expect(JSON.stringify(spans)).to.not.contain('sk-never')
  })

  it('a key that no header can hold is nowhere either; white space around one does no harm', async () => {
    const keyed = (apiKey: string) => {
      world = modelWorld({ openai: { apiKey, baseUrl: stub.url, mayBePrivate: true } })
    }
    keyed('sk-never\nto-be-seen')
    const { kind, message } = await failure()
    expect(kind).to.equal('credential')
    expect(message).to.contain('no header').and.to.not.contain('sk-never')
    expect(JSON.stringify(world.spans())).to.not.contain('sk-never')
    keyed(` ${SECRET_KEY}\n`)
    stub.answerNext(refusing(401, `${SECRET_KEY}?`))
    expect((await failure()).message).to.not.contain('sk-never')
    expect(stub.received[0]?.headers.authorization).to.equal(`Bearer ${SECRET_KEY}`)
  })

  it('what the source of credentials throws comes through, and the span has failed', async () => {
    const broken = new TypeError('the secrets cannot be decrypted')
    const credentials = {
      ofProvider: () => Promise.reject(broken),
      named: async () => undefined,
      names: async () => [],
    }
    world = modelWorld({}, { credentials })
    expect(await chat().catch((it: unknown) => it)).to.equal(broken)
    expect(world.spans()[0]).to.include({ statusCode: 'STATUS_CODE_ERROR' })
  })

  it('an address alone is enough for a server that asks for no key', async () => {
    const credentials = Object.fromEntries(
      environmentCredentials({ OPENAI_BASE_URL: stub.url, GROQ_API_KEY: '' }),
    )
    world = modelWorld(credentials)
    expect((await chat({ model: 'meta-llama/Llama-3' })).message).to.deep.equal({
      role: 'assistant',
      content: 'Paris',
    })
    expect(stub.received[0]?.headers).to.not.have.property('authorization')
    expect(stub.received[0]?.body.model).to.equal('meta-llama/Llama-3')
  })

  it('what a call costs follows from the price of its model, where the catalog has one', async () => {
    // gpt-4o-mini: 0.15 and 0.60 dollars for a million tokens
    const costs = { prompt: 0.00000165, completion: 0.0000042, total: 0.00000585 }
    expect((await chat()).usage.costs).to.deep.equal(costs)
    const [span] = world.spans()
    expect(span?.attributes).to.deep.nested.include({
      'svc.metrics.costs': { incremental: costs, cumulative: costs },
    })
    expect((await chat({ model: 'openai/gpt-4o-mini' })).usage.costs, 'the same model').to.deep.equal(costs)
    stub.answerNext(json({ choices: [{ message: { content: 'Paris' } }], usage: { completion_tokens: 7 } }))
    expect((await chat()).usage.costs, 'half of it was counted').to.equal(undefined)
    expect((await chat({ model: 'gpt-of-tomorrow' })).usage.costs).to.equal(undefined)
    expect(world.spans().at(-1)?.attributes).to.not.have.nested.property('svc.metrics.costs')
  })

  it('every call is a span in the words of the GenAI conventions', async () => {
    await chat({ temperature: 0, maxTokens: 9 })
    stub.answerNext(refusing(429, 'Slow down'))
    await failure()
    const [good, bad] = world.spans()
    expect(good).to.include({
      name: 'chat',
      type: 'chat',
      kind: 'SPAN_KIND_CLIENT',
      statusCode: 'STATUS_CODE_OK',
    })
    const { svc, ...foreign } = good?.attributes as Record<string, object> // a plain object
    expect(foreign).to.deep.equal({
      gen_ai: {
        operation: { name: 'chat' },
        system: 'openai',
        provider: { name: 'openai' },
        request: { model: 'gpt-4o-mini', temperature: 0, max_tokens: 9 },
        response: { id: 'chatcmpl-1', model: 'gpt-4o-mini-2024-07-18', finish_reasons: ['stop'] },
        usage: { input_tokens: 11, output_tokens: 7 },
      },
      server: { address: '127.0.0.1' },
    })
    expect(svc).to.deep.nested.include({
      'data.inputs': { messages: [{ role: 'user', content: 'The capital of France?' }] },
      'data.outputs': { role: 'assistant', content: 'Paris' },
      'data.parameters': { model: 'gpt-4o-mini', temperature: 0, max_tokens: 9 },
      'metrics.tokens.incremental': { prompt: 11, completion: 7, total: 18 },
    })
    expect(bad).to.include({
      statusCode: 'STATUS_CODE_ERROR',
      statusMessage: "The model 'gpt-4o-mini' of 'openai' did not answer: Slow down.",
    })
    expect(bad?.attributes).to.nested.include({ 'error.type': '429' })
  })
})
