import fc from 'fast-check'
import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type ChatReply, ModelFailure } from '../../../src/run/models/models.ts'
import { type ChatStub, event, startChatStub } from '../../support/servers/chat-stub.ts'
import { asking, drain, modelWorld, type ModelWorld } from './model-world.ts'

describe('models: any answer whatever', () => {
  let stub: ChatStub
  let world: ModelWorld
  beforeEach(async () => {
    stub = await startChatStub()
    const credential = { apiKey: 'k', baseUrl: stub.url, mayBePrivate: true }
    world = modelWorld({ openai: credential, anthropic: credential, gemini: credential })
  })
  afterEach(() => stub.stop())

  const MODELS = ['gpt-4o', 'anthropic/claude-sonnet-4-5', 'gemini/gemini-2.5-flash'] as const
  const STATUSES = [200, 200, 200, 201, 204, 302, 400, 401, 418, 429, 500, 599] as const

  /** A reply, or a failure that says something; anything else is thrown. */
  const outcome = async (asked: Promise<ChatReply>): Promise<void> => {
    try {
      expect((await asked).message).to.have.property('role', 'assistant')
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error
      expect(error.message).to.match(/^(?:The (?:model|answer) |messages\[).+\S$/s)
    }
  }

  /** Bodies that look as if they were of a protocol, with anything in their places. */
  const anything = fc.jsonValue({ maxDepth: 3 })
  const shaped = fc.oneof(
    anything,
    fc.record(
      {
        choices: fc.oneof(
          anything,
          fc.array(
            fc.record({ message: anything, delta: anything, finish_reason: anything }, { requiredKeys: [] }),
            {
              maxLength: 2,
            },
          ),
        ),
        content: anything,
        candidates: fc.oneof(anything, fc.array(fc.record({ content: anything }), { maxLength: 2 })),
        usage: anything,
        error: anything,
        type: fc.constantFrom('message', 'content_block_delta', 'error', 'message_stop'),
      },
      { requiredKeys: [] },
    ),
  )

  it('makes a reply or a failure', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MODELS),
        fc.constantFrom(...STATUSES),
        shaped,
        async (model, status, body) => {
          stub.answerNext((response) =>
            response
              .writeHead(status, { 'content-type': 'application/json' })
              .end(status === 204 ? undefined : JSON.stringify(body)),
          )
          await outcome(world.models.chat(asking({ model }), world.span))
        },
      ),
      { numRuns: 100 },
    ))

  for (const model of MODELS)
    it(`however deep it is: ${model}`, async () => {
      const nested = (open: string, close: string): string => open.repeat(50_000) + close.repeat(50_000)
      for (const [status, body] of [
        [500, `${'{"error":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
        [500, nested('[', ']')],
        [500, `{"detail":${nested('[', ']')}}`],
        [200, nested('[', ']')],
        [200, `{"choices":${nested('[', ']')}}`],
        [200, `{"content":${nested('[', ']')}}`],
        [200, `{"usage":${nested('[', ']')},"candidates":${nested('[', ']')}}`],
      ] as const) {
        stub.answerNext((response) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end(body),
        )
        await outcome(world.models.chat(asking({ model }), world.span))
        stub.answerNext((response) =>
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${body}\n\n`),
        )
        await outcome(
          drain(world.models.streamChat(asking({ model }), world.span)).then(({ reply }) => reply),
        )
      }
    })

  it('makes a reply or a failure, piece by piece as well', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MODELS),
        fc.array(shaped, { maxLength: 3 }),
        async (model, bodies) => {
          stub.answerNext((response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' })
            for (const body of bodies)
              response.write(
                typeof body === 'object' && body !== null ? event(body) : `data: ${JSON.stringify(body)}\n\n`,
              )
            response.end('data: [DONE]\n\n')
          })
          await outcome(
            drain(world.models.streamChat(asking({ model }), world.span)).then(({ reply }) => reply),
          )
        },
      ),
      { numRuns: 100 },
    ))

  it('and any message goes out or is refused', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MODELS),
        fc.array(
          fc.record(
            {
              role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer', 'other'),
              content: fc.oneof(
                anything,
                fc.array(
                  fc.record({
                    type: fc.constantFrom('text', 'image_url', 'file'),
                    text: anything,
                    image_url: anything,
                    file: anything,
                  }),
                ),
              ),
              tool_calls: fc.oneof(anything, fc.array(fc.record({ id: anything, function: anything }))),
            },
            { requiredKeys: ['role'] },
          ),
          { maxLength: 4 },
        ),
        async (model, messages) => {
          const sent = messages as unknown as JsonObject[] // JSON values throughout, in plain objects
          await outcome(world.models.chat(asking({ model, messages: sent }), world.span))
        },
      ),
      { numRuns: 100 },
    ))
})
