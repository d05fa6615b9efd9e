import type { OpenSpan } from '../traces/recording/open-span.ts'
import { failedCall } from './replies/failed-call.ts'
import type { ModelSettings } from './model-settings.ts'
import { beginEmbeddingSpan, setProviderAttributes } from './model-span.ts'
import { type EmbeddingCall, ModelFailure } from './models.ts'
import { parseModelName } from './parse-model-name.ts'
import { modelEndpoint, type ModelEndpoint } from './model-endpoint.ts'
import { timeLimit } from './time-limit.ts'

/** Asks an embedding model for one vector a text (`Models.embed`); the span counts the tokens, not the numbers. */
export async function embedTexts(
  call: EmbeddingCall,
  span: OpenSpan,
  settings: ModelSettings,
): Promise<readonly (readonly number[])[]> {
  const placed = parseModelName(call.model)
  const child = beginEmbeddingSpan(span, call, placed)
  const limit = timeLimit(call.signal, settings.timeoutMs)
  let reached: ModelEndpoint | undefined
  try {
    reached = await modelEndpoint(call.model, placed, undefined, settings)
    setProviderAttributes(child, reached)
    const model = await embeddingModel(reached)
    const asked = { values: [...call.texts], abortSignal: limit.either }
    const { embeddings, usage } = await model.doEmbed(asked)
    if (embeddings.length !== call.texts.length)
      throw new ModelFailure(
        'answer',
        `The model '${call.model}' answered ${embeddings.length} vectors for ${call.texts.length} texts.`,
      )
    const tokens = usage?.tokens ?? 0
    child
      .setTokens({ prompt: tokens, completion: 0, total: tokens })
      .setForeign('gen_ai.usage.input_tokens', tokens)
    return embeddings
  } catch (error) {
    throw failedCall(child, error, { model: call.model, reached, limit })
  } finally {
    child.end()
  }
}

async function embeddingModel({ provider, id, baseUrl: baseURL, apiKey, fetch }: ModelEndpoint) {
  if (provider.protocol === 'anthropic' || provider.protocol === 'mock')
    throw new ModelFailure(
      'request',
      `'${provider.name}' has no embedding models; name one of another provider.`,
    )
  if (provider.protocol === 'gemini') {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return createGoogleGenerativeAI({ baseURL, apiKey, fetch }).embeddingModel(id)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  return createOpenAICompatible({ name: provider.name, baseURL, apiKey, fetch }).embeddingModel(id)
}
