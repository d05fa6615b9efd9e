import { boundedText, parsedOrUndefined } from '../../base/json.ts'
import { hidden, messageIn, timeLimit } from './create-models.ts'
import {
  keyEndpoint,
  keyVariable,
  MODEL_PROVIDERS,
  type ModelEndpoint,
  type ReachSettings,
} from './model-endpoint.ts'
import { type Credential, ModelFailure } from './models.ts'

/** Whether a provider takes a key, in a sentence that never contains the key. */
export interface KeyTest {
  readonly ok: boolean
  readonly detail: string
}

/** A stored secret: its name, and the provider that it was set for. */
interface StoredKey {
  readonly name: string
  readonly provider?: string | undefined
}

/** The settings of a test of a key. */
export interface KeyTestSettings extends ReachSettings {
  /** The longest wait for the provider, in milliseconds. */
  readonly timeoutMs: number
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
}

/**
 * Asks the provider of a secret for a list of its models, which costs nothing and needs no model's name (interface 14.8). Undefined if the
 * secret is no provider's key. Rejects with the signal's reason once that is aborted.
 */
export async function testKey(stored: StoredKey, settings: KeyTestSettings): Promise<KeyTest | undefined> {
  const provider = providerOf(stored)
  if (provider === undefined) return undefined
  const { credentials, timeoutMs, signal } = settings
  const isUsual = stored.name === keyVariable(provider)
  const found = isUsual ? await credentials.ofProvider(provider) : await credentials.named(stored.name)
  if (!found) return undefined // it was removed meanwhile
  const limit = timeLimit(signal, timeoutMs)
  try {
    return await ask(keyEndpoint(stored.name, { ...found, provider }, settings), found, limit.either)
  } catch (error) {
    signal.throwIfAborted()
    const why = limit.timeout.aborted
      ? `${provider} did not answer within ${timeoutMs} ms.`
      : error instanceof ModelFailure
        ? error.message
        : `${provider} gave no answer: ${String((error as Error).message)}` // fetch throws errors
    return { ok: false, detail: hidden(why, found.apiKey.trim()) }
  }
}

/** The provider that a secret is for, by its purpose or by its name: `OPENAI_API_KEY`. */
function providerOf({ name, provider }: StoredKey): string | undefined {
  return provider ?? [...MODEL_PROVIDERS.keys()].find((it) => keyVariable(it) === name)
}

async function ask(endpoint: ModelEndpoint, { baseUrl }: Credential, signal: AbortSignal): Promise<KeyTest> {
  const { provider, apiKey, fetch } = endpoint
  const path = (baseUrl === undefined ? LISTS[provider.name] : undefined) ?? 'models'
  const url = new URL(path, `${endpoint.baseUrl.replace(/\/+$/, '')}/`)
  const response = await fetch(url.href, { headers: headersOf(endpoint), signal })
  const { status } = response
  const body = parsedOrUndefined(Buffer.from(await response.arrayBuffer()))
  const says = boundedText(hidden(messageIn(body) ?? 'it does not say why.', apiKey), 500)
  if (status === 401 || status === 403)
    return { ok: false, detail: `${provider.name} refuses the key (${status}): ${says}` }
  if (status >= 300)
    return {
      ok: false,
      detail: `${url.host} answered ${status}, so it is not known whether it takes the key: ${says}`,
    }
  if (isFitting(body, path)) return { ok: true, detail: `${provider.name} takes the key.` }
  return {
    ok: false,
    detail: `${url.host} answered ${status}, but no list of models: see whether ${endpoint.baseUrl} is the base URL of ${provider.name}.`,
  }
}

/** What is asked for where the list is shown to everybody. */
const DESCRIPTION = 'key'

/** The paths of providers that have their list elsewhere, or show it to everybody. */
const LISTS: Readonly<Record<string, string>> = {
  cohere: '../../v1/models',
  openrouter: DESCRIPTION,
  perplexity: 'router/v1/models',
}

function headersOf({ provider: { protocol }, apiKey }: ModelEndpoint): Record<string, string> {
  if (protocol === 'anthropic') return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
  if (protocol === 'gemini') return { 'x-goog-api-key': apiKey }
  return { authorization: `Bearer ${apiKey}` }
}

/** Most answer `{data: […]}`, gemini `{models: […]}`, and some the list itself; a description of a key is `{data: {…}}`. */
function isFitting(body: unknown, path: string): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { data, models } = body as { readonly data?: unknown; readonly models?: unknown } // any JSON object may have them
  if (path === DESCRIPTION) return typeof data === 'object' && data !== null
  return [body, data, models].some((it) => Array.isArray(it))
}
