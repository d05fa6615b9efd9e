import type { Credential } from './models.ts'
import { MODEL_PROVIDERS, keyVariable, urlVariable } from './model-providers.ts'

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
