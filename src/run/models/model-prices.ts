import { type Amounts, inDollars } from '../../feeds/traces.ts'
import type { ModelEndpoint, ModelName } from './model-endpoint.ts'

/** A model that prompts can name, and its price, if that is the same for all customers. */
export interface ModelChoice {
  readonly id: string
  readonly price?: ModelPrice
}

/** US dollars for a million tokens of the prompt, and of the reply. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
}

/**
 * Suggested models by provider (interface 11.19). An id is a value of `llm_config.model`: bare for OpenAI,
 * with the provider's prefix for others. Other ids are allowed and sent to their provider too.
 */
export const modelChoices: Readonly<Record<string, readonly ModelChoice[]>> = {
  openai: [
    priced('gpt-5.1', 1.25, 10),
    priced('gpt-5', 1.25, 10),
    priced('gpt-5-mini', 0.25, 2),
    priced('gpt-5-nano', 0.05, 0.4),
    priced('gpt-4.1', 2, 8),
    priced('gpt-4.1-mini', 0.4, 1.6),
    priced('gpt-4.1-nano', 0.1, 0.4),
    priced('gpt-4o', 2.5, 10),
    priced('gpt-4o-mini', 0.15, 0.6),
    priced('gpt-4-turbo', 10, 30),
    priced('gpt-4', 30, 60),
    priced('gpt-3.5-turbo', 0.5, 1.5),
    priced('o1', 15, 60),
    priced('o3', 2, 8),
    priced('o3-mini', 1.1, 4.4),
    priced('o4-mini', 1.1, 4.4),
  ],
  anthropic: [
    priced('anthropic/claude-opus-4-5', 5, 25),
    priced('anthropic/claude-opus-4-1', 15, 75),
    priced('anthropic/claude-sonnet-4-5', 3, 15),
    priced('anthropic/claude-sonnet-4-0', 3, 15),
    priced('anthropic/claude-haiku-4-5', 1, 5),
  ],
  gemini: [
    priced('gemini/gemini-2.5-pro', 1.25, 10),
    priced('gemini/gemini-2.5-flash', 0.3, 2.5),
    priced('gemini/gemini-2.5-flash-lite', 0.1, 0.4),
    priced('gemini/gemini-2.0-flash', 0.1, 0.4),
    priced('gemini/gemini-2.0-flash-lite', 0.075, 0.3),
  ],
  cohere: [
    priced('cohere/command-a-03-2025', 2.5, 10),
    priced('cohere/command-r-plus-08-2024', 2.5, 10),
    priced('cohere/command-r-08-2024', 0.15, 0.6),
    priced('cohere/command-r7b-12-2024', 0.0375, 0.15),
  ],
  deepinfra: [
    unpriced('deepinfra/meta-llama/Llama-3.3-70B-Instruct'),
    unpriced('deepinfra/meta-llama/Llama-3.3-70B-Instruct-Turbo'),
    unpriced('deepinfra/meta-llama/Meta-Llama-3.1-8B-Instruct'),
    unpriced('deepinfra/Qwen/Qwen2.5-72B-Instruct'),
    unpriced('deepinfra/deepseek-ai/DeepSeek-V3'),
    unpriced('deepinfra/deepseek-ai/DeepSeek-R1'),
    unpriced('deepinfra/mistralai/Mistral-Small-24B-Instruct-2501'),
  ],
  groq: [
    priced('groq/llama-3.3-70b-versatile', 0.59, 0.79),
    priced('groq/llama-3.1-8b-instant', 0.05, 0.08),
    priced('groq/qwen/qwen3-32b', 0.29, 0.59),
    unpriced('groq/openai/gpt-oss-120b'),
    unpriced('groq/openai/gpt-oss-20b'),
    unpriced('groq/moonshotai/kimi-k2-instruct-0905'),
  ],
  mistral: [
    unpriced('mistral/mistral-large-latest'),
    priced('mistral/mistral-medium-latest', 0.4, 2),
    priced('mistral/mistral-small-latest', 0.1, 0.3),
    unpriced('mistral/magistral-medium-latest'),
    priced('mistral/codestral-latest', 0.3, 0.9),
    priced('mistral/ministral-8b-latest', 0.1, 0.1),
    priced('mistral/ministral-3b-latest', 0.04, 0.04),
    unpriced('mistral/open-mistral-nemo'),
  ],
  openrouter: [
    priced('openrouter/openai/gpt-4o', 2.5, 10),
    priced('openrouter/openai/gpt-4o-mini', 0.15, 0.6),
    priced('openrouter/anthropic/claude-sonnet-4.5', 3, 15),
    priced('openrouter/anthropic/claude-haiku-4.5', 1, 5),
    priced('openrouter/google/gemini-2.5-pro', 1.25, 10),
    priced('openrouter/google/gemini-2.5-flash', 0.3, 2.5),
    unpriced('openrouter/meta-llama/llama-3.3-70b-instruct'),
    unpriced('openrouter/deepseek/deepseek-chat-v3.1'),
    unpriced('openrouter/qwen/qwen3-235b-a22b-2507'),
    unpriced('openrouter/mistralai/mistral-small-3.2-24b-instruct'),
  ],
  // Perplexity also charges for each search, so these prices are not the whole cost of a call.
  perplexityai: [
    priced('perplexity/sonar', 1, 1),
    priced('perplexity/sonar-pro', 3, 15),
    priced('perplexity/sonar-reasoning-pro', 2, 8),
    priced('perplexity/sonar-deep-research', 2, 8),
  ],
  together_ai: [
    priced('together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo', 0.88, 0.88),
    priced('together_ai/meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo', 0.18, 0.18),
    priced('together_ai/meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo', 3.5, 3.5),
    priced('together_ai/Qwen/Qwen2.5-72B-Instruct-Turbo', 1.2, 1.2),
    priced('together_ai/Qwen/Qwen2.5-7B-Instruct-Turbo', 0.3, 0.3),
    priced('together_ai/deepseek-ai/DeepSeek-V3', 1.25, 1.25),
    priced('together_ai/deepseek-ai/DeepSeek-R1', 3, 7),
    priced('together_ai/mistralai/Mixtral-8x7B-Instruct-v0.1', 0.6, 0.6),
  ],
  minimax: [priced('minimax/MiniMax-M2', 0.3, 1.2), unpriced('minimax/MiniMax-M1')],
  // Answers from the examples in the conversation, without a key.
  mock: [unpriced('mock/examples')],
}

function priced(id: string, input: number, output: number): ModelChoice {
  return { id, price: { input, output } }
}

function unpriced(id: string): ModelChoice {
  return { id }
}

/** The price by the id of the model, of the models whose calls cost nothing else. */
const PRICES: ReadonlyMap<string, ModelPrice> = new Map(
  Object.entries(modelChoices).flatMap(([provider, models]) =>
    provider === 'perplexityai' ? [] : models.flatMap(({ id, price }) => (price ? [[id, price]] : [])),
  ),
)

/** The price of the model, unless a connection leads to another provider than its name. `openai/gpt-5` is `gpt-5`. */
export function priceOf(
  model: string,
  placed: Pick<ModelName, 'provider'>,
  { provider }: Pick<ModelEndpoint, 'provider'>,
): ModelPrice | undefined {
  return provider.name === placed.provider.name ? PRICES.get(model.replace(/^openai\//, '')) : undefined
}

/** In US dollars; undefined if the provider did not count the tokens of the prompt, which no call is without. */
export function costsOf(price: ModelPrice, { prompt, completion }: Amounts): Amounts | undefined {
  const [read, written] = [(prompt * price.input) / 1e6, (completion * price.output) / 1e6]
  if (!(prompt > 0 && completion >= 0 && Number.isFinite(read + written))) return undefined
  return { prompt: inDollars(read), completion: inDollars(written), total: inDollars(read + written) }
}
