import type { HandlerContext, HandlerRequest } from '../../../src/run/handlers/handler.ts'
import type { Models } from '../../../src/run/models/models.ts'
import { resolveHost } from '../../../src/feeds/outgoing/outgoing-policy.ts'
import type { Sandbox } from '../../../src/run/sandbox/sandbox.ts'
import { startTrace } from '../../../src/feeds/traces/open-span.ts'
import type { Span } from '../../../src/feeds/traces/span.ts'

/** What a handler is run in. */
export interface TestContext extends HandlerContext {
  /** What was recorded, once `span` has ended. */
  readonly recorded: Span[]
}

const NEVER = new AbortController().signal

/** A context with these secrets, from which private addresses may be reached; models and sandbox refuse to be used. */
export function handlerContext(
  secrets: Readonly<Record<string, string>> = {},
  more: Partial<HandlerContext> = {},
): TestContext {
  const recorded: Span[] = []
  return {
    project: 'team',
    untilGone: () => NEVER,
    isPatient: false,
    span: startTrace({ record: (spans) => void recorded.push(...spans) }, 'test'),
    secret: async (name) => secrets[name],
    models: NO_MODELS,
    sandbox: NO_SANDBOX,
    outgoing: { policy: { allowPrivate: true, resolve: resolveHost }, maxAnswerBytes: 1024 * 1024 },
    ...more,
    recorded,
  }
}

/** A request of which only these parts are there. */
export function handlerRequest(more: Partial<HandlerRequest>): HandlerRequest {
  return {
    parameters: {},
    inputs: undefined,
    outputs: undefined,
    trace: undefined,
    testcase: undefined,
    data: {},
    flags: {},
    judges: true,
    wantsStream: false,
    ...more,
  }
}

const notUsed = (): never => {
  throw new Error('not to be used here')
}
const NO_MODELS: Models = { chat: notUsed, streamChat: notUsed, embed: notUsed, problemOf: notUsed }
const NO_SANDBOX: Sandbox = { run: notUsed, close: notUsed }
