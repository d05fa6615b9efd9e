import { expect } from 'chai'
import { environmentCredentials, parseModelName } from '../../../src/run/models/model-endpoint.ts'
import { resolveHost } from '../../../src/feeds/outgoing/outgoing-policy.ts'
import type { ChatStub } from '../../support/servers/chat-stub.ts'
import { startChatStub } from '../../support/servers/chat-stub.ts'
import { asking, failureOf, modelWorld } from './model-world.ts'

describe('models: credentials', () => {
  let stub: ChatStub
  beforeEach(async () => (stub = await startChatStub()))
  afterEach(() => stub.stop())

  // interface 11.19
  it('a prefix says whose a model is; without a known one it is openai’s', () => {
    for (const [model, provider, id] of [
      ['gpt-4o', 'openai', 'gpt-4o'],
      ['anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
      ['gemini/gemini-2.5-flash', 'gemini', 'gemini-2.5-flash'],
      ['groq/openai/gpt-oss-120b', 'groq', 'openai/gpt-oss-120b'],
      ['openai/gpt-4o', 'openai', 'gpt-4o'],
      ['meta-llama/Llama-3', 'openai', 'meta-llama/Llama-3'],
      ['__proto__/x', 'openai', '__proto__/x'],
    ] as const) {
      const placed = parseModelName(model)
      expect([placed.provider.name, placed.id], model).to.deep.equal([provider, id])
    }
  })

  it('without a key, says which variable and which secret to set', async () => {
    const { models, span, spans } = modelWorld({})
    const { kind, message } = await failureOf(models.chat(asking(), span))
    expect(kind).to.equal('credential')
    expect(message)
      .to.match(/^No API key found for model 'gpt-4o-mini'\./)
      .and.to.contain('OPENAI_API_KEY')
      .and.to.contain('./branchpoint secrets set OPENAI_API_KEY')
    const other = await failureOf(models.chat(asking({ model: 'together_ai/x' }), span))
    expect(other.message).to.contain('TOGETHER_AI_API_KEY')
    expect(spans().map(({ statusCode }) => statusCode)).to.deep.equal([
      'STATUS_CODE_ERROR',
      'STATUS_CODE_ERROR',
    ])
  })

  it('the configuration’s: a key, an address, or both, by provider', () => {
    const found = environmentCredentials({
      OPENAI_API_KEY: 'a',
      OPENAI_BASE_URL: '',
      MISTRAL_API_KEY: 'b',
      MISTRAL_BASE_URL: 'http://m',
      TOGETHER_AI_BASE_URL: 'http://t',
      OTHER_API_KEY: 'c',
      GROQ_API_KEY: '',
    })
    expect([...found]).to.deep.equal([
      ['openai', { apiKey: 'a', baseUrl: undefined, mayBePrivate: true }],
      ['mistral', { apiKey: 'b', baseUrl: 'http://m', mayBePrivate: true }],
      ['together_ai', { apiKey: '', baseUrl: 'http://t', mayBePrivate: true }],
    ])
  })

  // interface 11.19
  it('a connection is used by its name, for models of its provider', async () => {
    const named = { mine: { provider: 'groq', apiKey: 'gk', baseUrl: stub.url, mayBePrivate: true } }
    const { models, span, spans } = modelWorld({}, { named })
    await models.chat(asking({ model: 'groq/llama', connection: 'mine' }), span)
    await models.chat(asking({ model: 'llama', connection: 'mine' }), span)
    expect(stub.received.map(({ body, headers }) => [body.model, headers.authorization])).to.deep.equal([
      ['llama', 'Bearer gk'],
      ['llama', 'Bearer gk'],
    ])
    for (const model of ['gpt-4o', 'mistral/small']) {
      const { kind, message } = await failureOf(models.chat(asking({ model, connection: 'mine' }), span))
      expect(kind).to.equal('mismatch')
      expect(message).to.contain("'mine'").and.to.contain("'groq'").and.to.contain(model)
    }
    const { kind, message } = await failureOf(models.chat(asking({ connection: 'yours' }), span))
    expect({ kind, message }).to.deep.equal({
      kind: 'connection',
      message: "There is no connection 'yours': known are 'mine'.",
    })
    expect(spans()[1]?.attributes).to.nested.include({ 'gen_ai.provider.name': 'groq' })
  })

  it('a connection to someone unknown leads where it says, and nowhere else', async () => {
    const named = {
      proxy: { provider: 'proxy', apiKey: 'pk', baseUrl: stub.url, mayBePrivate: true },
      lost: { provider: 'azure', apiKey: 'ak' },
    }
    const { models, span } = modelWorld({}, { named })
    for (const model of ['gpt-4o', 'anthropic/claude', 'proxy/x']) {
      const { usage } = await models.chat(asking({ model, connection: 'proxy' }), span)
      expect(usage.costs, 'nobody knows its prices').to.equal(undefined)
    }
    expect(stub.received.map(({ body }) => body.model)).to.deep.equal(['gpt-4o', 'anthropic/claude', 'x'])
    const { kind, message } = await failureOf(models.chat(asking({ connection: 'lost' }), span))
    expect(kind).to.equal('mismatch')
    expect(message).to.contain('base URL')
  })

  it('an address that the project chose must be public, unless the policy allows others', async () => {
    const { port } = new URL(stub.url)
    const named = {
      plain: { provider: 'openai', apiKey: 'k', baseUrl: stub.url },
      byName: { provider: 'openai', apiKey: 'k', baseUrl: `http://inside.example:${port}/v1` },
      local: { provider: 'openai', apiKey: 'k', baseUrl: `http://localhost:${port}/v1` },
    }
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const { models, span } = modelWorld({}, { named, policy: { allowPrivate: false, resolve } })
    for (const connection of Object.keys(named)) {
      const { kind, message } = await failureOf(models.chat(asking({ connection }), span))
      expect(kind, connection).to.equal('request')
      expect(message).to.contain('public internet')
    }
    expect(stub.received).to.have.length(0)
    const allowing = modelWorld({}, { named, policy: { allowPrivate: true, resolve: resolveHost } })
    await allowing.models.chat(asking({ connection: 'plain' }), allowing.span)
    expect(stub.received).to.have.length(1)
  })
})
