import { expect } from 'chai'
import { type ChatStub, json, refusing, startChatStub } from '../../support/servers/chat-stub.ts'
import { failureOf, modelWorld, type ModelWorld } from './model-world.ts'

describe('models: embeddings', () => {
  let stub: ChatStub
  let world: ModelWorld
  beforeEach(async () => {
    stub = await startChatStub()
    const credential = { apiKey: 'k', baseUrl: stub.url, mayBePrivate: true }
    world = modelWorld({ openai: credential, anthropic: credential, gemini: credential })
  })
  afterEach(() => stub.stop())

  const embed = (model: string, ...texts: string[]) =>
    world.models.embed({ model, texts, signal: new AbortController().signal }, world.span)

  it('one vector a text, in their order', async () => {
    const data = [{ embedding: [0.123456789, 1] }, { embedding: [0, -1] }]
    stub.answerNext(json({ data, usage: { prompt_tokens: 3, total_tokens: 3 } }))
    expect(await embed('text-embedding-3-small', 'a', 'b')).to.deep.equal([
      [0.123456789, 1],
      [0, -1],
    ])
    expect(stub.received[0]?.url).to.equal('/v1/embeddings')
    expect(stub.received[0]?.body).to.deep.include({ model: 'text-embedding-3-small', input: ['a', 'b'] })
    const [span] = world.spans()
    expect(span).to.include({ name: 'embeddings', type: 'embedding', statusCode: 'STATUS_CODE_OK' })
    expect(span?.attributes).to.nested.include({
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.usage.input_tokens': 3,
    })
    expect(JSON.stringify(span)).to.not.contain('0.123456789') // no duration reads like this
  })

  it('gemini in its own protocol; anthropic has none', async () => {
    stub.answerNext(json({ embedding: { values: [1, 2] } }))
    expect(await embed('gemini/gemini-embedding-001', 'a')).to.deep.equal([[1, 2]])
    expect(stub.received[0]?.url).to.contain('/models/gemini-embedding-001:embedContent')
    expect((await failureOf(embed('anthropic/claude', 'a'))).message).to.contain('no embedding models')
  })

  it('refusals, and vectors that are missing', async () => {
    stub.answerNext(refusing(429, 'Slow down'), json({ data: [{ embedding: [1] }] }), json({ data: 'x' }))
    expect((await failureOf(embed('text-embedding-3-small', 'a', 'b'))).kind).to.equal('capacity')
    const { kind, message } = await failureOf(embed('text-embedding-3-small', 'a', 'b'))
    expect(kind).to.equal('answer')
    expect(message).to.contain('1 vectors for 2 texts')
    expect((await failureOf(embed('text-embedding-3-small', 'a', 'b'))).kind).to.equal('answer')
  })
})
