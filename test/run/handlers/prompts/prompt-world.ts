import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import type { Handler, HandlerRequest, HandlerResult } from '../../../../src/run/handlers/handler.ts'
import { StreamedOutputs } from '../../../../src/run/handlers/handler.ts'
import { builtInHandlers } from '../../../../src/run/handlers/built-in-handlers.ts'
import type { Json, JsonObject } from '../../../../src/base/json/json.ts'
import type { Span } from '../../../../src/feeds/traces/span.ts'
import { type ChatStub, startChatStub } from '../../../support/servers/chat-stub.ts'
import { modelWorld } from '../../models/model-world.ts'
import { handlerContext, handlerRequest } from '../handler-context.ts'

/** The prompt handlers over a stub of the chat-completions protocol, as openai and as mistral; groq has no key. */
export interface PromptWorld {
  readonly stub: ChatStub
  run(key: string, request: Partial<HandlerRequest>, signal?: AbortSignal): Promise<HandlerResult>
  /** What was sent, request by request. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  sent(): any[]
  spans(): readonly Span[]
  stop(): Promise<void>
}

export async function startPromptWorld(): Promise<PromptWorld> {
  const stub = await startChatStub()
  const credential = { apiKey: 'k', baseUrl: stub.url, mayBePrivate: true }
  const { models, span, spans } = modelWorld({ openai: credential, mistral: credential })
  const context = handlerContext({}, { span, models })
  return {
    stub,
    run: async (key, request, signal = context.untilGone()) =>
      handlerOf(key)(handlerRequest(request), { ...context, untilGone: () => signal }),
    sent: () => stub.received.map(({ body }) => body),
    spans,
    stop: () => stub.stop(),
  }
}

/** `parameters` with a prompt in them. */
export function prompting(prompt: JsonObject): { readonly parameters: JsonObject } {
  return { parameters: { prompt } }
}

/** What a run failed with: its id, its status and its message. */
export async function failing(
  run: Promise<unknown>,
): Promise<{ id: string; status: number; message: string }> {
  const error: unknown = await run.then(
    () => new Error('the run did not fail'),
    (it: unknown) => it,
  )
  if (!(error instanceof HandlerFailure)) throw error
  const { id, status, message } = error
  return { id, status, message }
}

/** All pieces of outputs that came so, and the outputs as a whole. */
export async function gathered(result: HandlerResult): Promise<{ pieces: Json[]; whole: Json }> {
  if (!(result instanceof StreamedOutputs)) throw new Error('the outputs came whole')
  const pieces: Json[] = []
  for await (const piece of result.pieces) pieces.push(piece)
  return { pieces, whole: result.whole() }
}

function handlerOf(key: string): Handler {
  const handler = builtInHandlers.get(key)
  if (!handler) throw new Error(`there is no handler ${key}`)
  return handler
}
