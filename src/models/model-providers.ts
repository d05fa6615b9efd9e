import type { Credential } from './models.ts'

/** A company or a program that runs language models. */
export interface ModelProvider {
  /** What models, credentials and variables call it: `mistral/…`, `MISTRAL_API_KEY`. */
  readonly name: string
  /** How it is spoken to. */
  readonly protocol: 'chat-completions' | 'anthropic' | 'gemini' | 'mock'
  /** Where it is, unless its credential says otherwise. */
  readonly baseUrl: string
  /** Its name in the GenAI semantic conventions (`gen_ai.provider.name`). */
  readonly conventionName: string
}

/** The provider of models without a prefix. */
export const USUAL_PROVIDER = provider('openai', 'https://api.openai.com/v1')

/** Answers by itself, from the examples in a conversation: it has neither a key nor an address. */
export const MOCK_PROVIDER: ModelProvider = { ...provider('mock', ''), protocol: 'mock' }

/** Every provider that has a key or an address, by name (interface 11.19). */
export const MODEL_PROVIDERS: ReadonlyMap<string, ModelProvider> = new Map(
  [
    USUAL_PROVIDER,
    { ...provider('anthropic', 'https://api.anthropic.com/v1'), protocol: 'anthropic' as const },
    {
      ...provider('gemini', 'https://generativelanguage.googleapis.com/v1beta', 'gcp.gemini'),
      protocol: 'gemini' as const,
    },
    provider('mistral', 'https://api.mistral.ai/v1', 'mistral_ai'),
    provider('groq', 'https://api.groq.com/openai/v1'),
    provider('cohere', 'https://api.cohere.ai/compatibility/v1'),
    provider('perplexity', 'https://api.perplexity.ai'),
    provider('together_ai', 'https://api.together.xyz/v1'),
    provider('deepinfra', 'https://api.deepinfra.com/v1/openai'),
    provider('openrouter', 'https://openrouter.ai/api/v1'),
    provider('minimax', 'https://api.minimax.io/v1'),
  ].map((it) => [it.name, it]),
)

/** The variable, and the secret, that holds a provider's key: `OPENAI_API_KEY`. */
export function keyVariable(provider: string): string {
  return `${provider.toUpperCase()}_API_KEY`
}

/** The variable that holds another address of a provider: `OPENAI_BASE_URL`. */
export function urlVariable(provider: string): string {
  return `${provider.toUpperCase()}_BASE_URL`
}

/** Someone whom nobody knows here: spoken to in the protocol that nearly all speak. */
export function unknownProvider(name: string, baseUrl: string): ModelProvider {
  return provider(name, baseUrl)
}

function provider(name: string, baseUrl: string, conventionName = name): ModelProvider {
  return { name, protocol: 'chat-completions', baseUrl, conventionName }
}

/**
 * The credentials that the configuration holds, by provider: `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL` of OPENAI, ANTHROPIC,
 * GEMINI, MISTRAL, GROQ, COHERE, PERPLEXITY, TOGETHER_AI, DEEPINFRA, OPENROUTER and MINIMAX. An address alone is enough for a
 * server that asks for no key (Ollama, vLLM); it may be a private one, as whoever runs the service chose it. An empty variable
 * counts as unset.
 */
export function environmentCredentials(
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, Credential> {
  const found = new Map<string, Credential>()
  for (const name of MODEL_PROVIDERS.keys()) {
    const [apiKey, baseUrl] = [env[keyVariable(name)] || undefined, env[urlVariable(name)] || undefined]
    if (apiKey !== undefined || baseUrl !== undefined)
      found.set(name, { apiKey: apiKey ?? '', baseUrl, mayBePrivate: true })
  }
  return found
}
