import { createModels, type ModelSettings } from '../../../src/run/models/create-models.ts'
import {
  type ChatCall,
  type Credential,
  type CredentialSource,
  ModelFailure,
  type Models,
} from '../../../src/run/models/models.ts'
import { resolveHost } from '../../../src/feeds/outgoing/outgoing-policy.ts'
import { type OpenSpan, startTrace } from '../../../src/feeds/traces/open-span.ts'
import type { Span } from '../../../src/feeds/traces/span.ts'

/** A key that must be nowhere to be seen. */
export const SECRET_KEY = 'sk-never-to-be-seen-1234567890'

/** Models with credentials that a test names, and a trace to look at. */
export interface ModelWorld {
  readonly models: Models
  readonly span: OpenSpan
  /** Ends the trace and answers the spans below its root. */
  readonly spans: () => readonly Span[]
}

export function modelWorld(
  credentials: Readonly<Record<string, Credential>>,
  more: Partial<ModelSettings> & {
    readonly named?: Readonly<Record<string, Credential & { provider: string }>>
  } = {},
): ModelWorld {
  let recorded: readonly Span[] = []
  const span = startTrace({ record: (spans) => (recorded = spans) }, 'test')
  const { named = {}, ...settings } = more
  const source: CredentialSource = {
    ofProvider: async (provider) => credentials[provider],
    named: async (name) => named[name],
    names: async () => Object.keys(named),
  }
  const models = createModels({
    credentials: source,
    policy: { allowPrivate: false, resolve: resolveHost },
    timeoutMs: 20_000,
    maxAnswerBytes: 100_000,
    ...settings,
  })
  return {
    models,
    span,
    spans: () => {
      span.end()
      return recorded.filter((it) => it.parentId === span.spanId)
    },
  }
}

/** A call that asks one thing. */
export function asking(more: Partial<ChatCall> = {}): ChatCall {
  return {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'The capital of France?' }],
    signal: new AbortController().signal,
    ...more,
  }
}

/** What a call failed with. */
export async function failureOf(call: Promise<unknown>): Promise<ModelFailure> {
  const error: unknown = await call.then(
    () => new Error('the call did not fail'),
    (it: unknown) => it,
  )
  if (error instanceof ModelFailure) return error
  throw error
}

/** What a stream told, and what it returned. */
export async function drain<Piece, Reply>(
  stream: AsyncGenerator<Piece, Reply, undefined>,
): Promise<{ pieces: Piece[]; reply: Reply }> {
  const pieces: Piece[] = []
  for (;;) {
    const step = await stream.next()
    if (step.done) return { pieces, reply: step.value }
    pieces.push(step.value)
  }
}
