import { plainJson } from '../../json/plain-json.ts'
import { chatRequest } from './chat-request.ts'
import type { CallOptions, LanguageModel } from '../language-model.ts'
import type { ChatCall } from '../models.ts'
import { mockModel } from '../mock/mock-model.ts'
import type { ModelEndpoint } from '../model-endpoint.ts'
import { translateCall } from './translate-call.ts'

/** A model that is ready to be asked one thing. */
export interface PreparedCall {
  readonly model: LanguageModel
  readonly options: CallOptions
}

/**
 * Prepares a call. To a server that speaks chat-completions the request goes exactly as the call has it: the SDK would lose what it
 * has no word for (roles, parts and options of the protocol), so its body is replaced. For anthropic and gemini the SDK translates.
 * The SDK never tries again at this level. Its packages are loaded when first needed.
 */
export async function prepareCall(reached: ModelEndpoint, call: ChatCall): Promise<PreparedCall> {
  const { provider, id, baseUrl: baseURL, apiKey, fetch } = reached
  if (provider.protocol === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return {
      model: createAnthropic({ baseURL, apiKey, fetch })(id),
      options: translateCall(call, 'anthropic'),
    }
  }
  if (provider.protocol === 'gemini') {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return {
      model: createGoogleGenerativeAI({ baseURL, apiKey, fetch })(id),
      options: translateCall(call, 'google'),
    }
  }
  if (provider.protocol === 'mock') return { model: mockModel(id, call.messages), options: { prompt: [] } }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const request = plainJson(chatRequest(call)) as object // an object's plain form
  const { chatModel } = createOpenAICompatible({
    name: provider.name,
    baseURL,
    apiKey,
    fetch,
    includeUsage: true,
    transformRequestBody: ({ stream, stream_options }) => ({ model: id, ...request, stream, stream_options }),
  })
  return { model: chatModel(id), options: { prompt: [] } }
}
