import { askModel } from './ask-model.ts'
import { embedTexts } from './embed-texts.ts'
import type { Models } from './models.ts'
import type { ReachSettings } from './reach-model.ts'
import { streamModel } from './stream-model.ts'

/** How models are called for one project. */
export interface ModelSettings extends ReachSettings {
  /** How long a call may take, from the first look at a name to the end of the answer, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * The language models of a project, on the AI SDK: anthropic and gemini in their own protocols, every other provider in the
 * chat-completions protocol. No call is made twice: what to try again is for whoever calls (`withRetries`, `withFallbacks`).
 * Addresses that come with a credential of the project obey the policy; the configuration's may be private. No redirect is followed,
 * and no key appears in a span or a failure.
 */
export function createModels(settings: ModelSettings): Models {
  return {
    chat: (call, span) => askModel(call, span, settings),
    streamChat: (call, span) => streamModel(call, span, settings),
    embed: (call, span) => embedTexts(call, span, settings),
  }
}
