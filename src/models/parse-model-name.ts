import { MOCK_PROVIDER, MODEL_PROVIDERS, type ModelProvider, USUAL_PROVIDER } from './model-providers.ts'

/** Whose a model is, and what they call it. */
export interface ModelName {
  readonly provider: ModelProvider
  readonly id: string
  /** Whether the name says whose it is; an unknown name without a prefix may be anybody's. */
  readonly isCertain: boolean
}

/**
 * Reads a model's name (interface 11.19): `groq/llama-3.3-70b` is groq's, a name without a known prefix is openai's, whole.
 * So `meta-llama/Llama-3` goes to whatever `OPENAI_BASE_URL` leads to, and `openai/<name>` says so outright.
 */
export function parseModelName(model: string): ModelName {
  const slash = model.indexOf('/')
  const prefix = model.slice(0, Math.max(slash, 0))
  const prefixed = prefix === MOCK_PROVIDER.name ? MOCK_PROVIDER : MODEL_PROVIDERS.get(prefix)
  if (prefixed) return { provider: prefixed, id: model.slice(slash + 1), isCertain: true }
  return { provider: USUAL_PROVIDER, id: model, isCertain: OPENAI_NAMES.test(model) }
}

const OPENAI_NAMES = /^(?:gpt-|chatgpt-|o[0-9]|text-embedding-)/
