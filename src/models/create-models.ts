import { askModel } from './ask-model.ts'
import { embedTexts } from './embed-texts.ts'
import type { ModelSettings } from './model-settings.ts'
import { modelProblem } from './model-endpoint.ts'
import type { Models } from './models.ts'
import { streamModel } from './stream-model.ts'

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
    problemOf: (call) => modelProblem(call, settings),
  }
}
