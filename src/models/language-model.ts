import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'

/** A model of the AI SDK. */
export type LanguageModel = ReturnType<OpenAICompatibleProvider['chatModel']>

/** What a call of one is made of. */
export type CallOptions = Parameters<LanguageModel['doGenerate']>[0]
