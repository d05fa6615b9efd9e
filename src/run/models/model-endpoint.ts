import { COMMAND } from '../../command-name.ts'
import {
  type ChatCall,
  type Credential,
  type CredentialSource,
  ModelFailure,
  type ModelProblem,
} from './models.ts'
import { outgoingFetch, type OutgoingFetchSettings } from '../../feeds/outgoing.ts'

/** The address of a model, and how to call it. */
export interface ModelEndpoint {
  readonly provider: ModelProvider
  /** The provider's name for the model. */
  readonly id: string
  readonly baseUrl: string
  /** The key without white space around it; empty if the provider needs no key. */
  readonly apiKey: string
  readonly fetch: typeof fetch
}

/** The keys with which models are called, and settings for requests. */
export interface ReachSettings extends OutgoingFetchSettings {
  readonly credentials: CredentialSource
}

/**
 * Finds the credential for a model (interface 11.19): the connection's if the call names one, else the provider's default one. Throws
 * `ModelFailure`: `credential` if there is none, `connection` if none has that name, `mismatch` if it is for another provider, `request`
 * for a name that would lead to another path on the provider's host. Errors of the source of credentials are rethrown.
 */
export async function modelEndpoint(
  model: string,
  placed: ModelName,
  connection: string | undefined,
  settings: ReachSettings,
): Promise<ModelEndpoint> {
  const { credentials } = settings
  if (connection === undefined) {
    if (placed.provider.protocol === 'mock') return reached(placed.provider, placed.id, NO_KEY, settings)
    const usual = await credentials.ofProvider(placed.provider.name)
    if (!usual || (usual.apiKey === '' && usual.baseUrl === undefined)) throw noKey(model, placed.provider)
    return reached(placed.provider, placed.id, usual, settings)
  }
  const stored = await credentials.named(connection)
  if (!stored) throw unknownConnection(connection, await credentials.names())
  const known = MODEL_PROVIDERS.get(stored.provider)
  if (!known) return reachedElsewhere(model, connection, stored, settings)
  if (placed.isCertain && placed.provider !== known) {
    const sentence = `The connection '${connection}' is for '${known.name}', but the model '${model}' is of '${placed.provider.name}'. Name a model or a connection of the other.`
    throw new ModelFailure('mismatch', sentence)
  }
  return reached(known, placed.id, stored, settings)
}

/**
 * Why a model cannot be called: the failure of `modelEndpoint`, or an unknown name. An unknown name would be sent to OpenAI, whose models
 * have other names; but another address for OpenAI, or a connection, may have any models.
 */
export async function modelProblem(
  { model, connection }: Pick<ChatCall, 'model' | 'connection'>,
  settings: ReachSettings,
): Promise<ModelProblem | undefined> {
  const placed = parseModelName(model)
  if (connection === undefined) {
    const message = await unknownModel(model, placed, settings.credentials)
    if (message !== undefined) return { code: 'unknown_model', message }
  }
  try {
    await modelEndpoint(model, placed, connection, settings)
    return undefined
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    if (error.kind === 'credential') return { code: 'missing_api_key', message: error.message }
    if (error.kind === 'request') return { code: 'unknown_model', message: error.message }
    if (error.kind === 'mismatch') return { code: 'unusable_connection', message: error.message }
    // The failure of a call lists the project's connections, which only callers who may invoke should see.
    const message = `There is no connection '${connection?.slice(0, 200)}'. Store a secret of this name with its provider, or name another connection.`
    return { code: 'unknown_connection', message }
  }
}

async function unknownModel(
  model: string,
  { provider, id, isCertain }: ModelName,
  credentials: CredentialSource,
): Promise<string | undefined> {
  if (provider.protocol === 'mock') return mockProblem(id)
  if (id === '' || LEADS_ASTRAY.test(id)) return astray(id)
  if (isCertain || (await credentials.ofProvider(provider.name))?.baseUrl !== undefined) return undefined
  const prefixes = [...MODEL_PROVIDERS.keys()].map((name) => `${name}/`).join(', ')
  return `No provider has a model '${model.slice(0, 200)}': models of OpenAI are named like gpt-5 or o3, those of others begin with ${prefixes}. Other names need ${urlVariable(provider.name)} or a connection.`
}

/**
 * The endpoint of a connection for an unknown provider, which may have any models. It must have its own base URL, to which alone its key is
 * sent.
 */
function reachedElsewhere(
  model: string,
  connection: string,
  stored: Credential & { readonly provider: string },
  settings: ReachSettings,
): ModelEndpoint {
  const { provider: name, baseUrl } = stored
  if (baseUrl === undefined) {
    const sentence = `The connection '${connection}' is for '${name}', which is not known here; store it with its base URL.`
    throw new ModelFailure('mismatch', sentence)
  }
  const id = model.startsWith(`${name}/`) ? model.slice(name.length + 1) : model
  return reached(unknownProvider(name, baseUrl), id, stored, settings)
}

/** The endpoint of a stored key, without a model. Throws `ModelFailure` as `modelEndpoint` does. */
export function keyEndpoint(
  name: string,
  stored: Credential & { readonly provider: string },
  settings: ReachSettings,
): ModelEndpoint {
  const known = MODEL_PROVIDERS.get(stored.provider)
  return known ? reached(known, '', stored, settings) : reachedElsewhere('', name, stored, settings)
}

function reached(
  provider: ModelProvider,
  id: string,
  { apiKey, baseUrl = provider.baseUrl, mayBePrivate = false }: Credential,
  { policy, maxAnswerBytes }: ReachSettings,
): ModelEndpoint {
  if (LEADS_ASTRAY.test(id)) throw new ModelFailure('request', astray(id))
  const key = apiKey.trim()
  if (!/^[\x20-\x7e]*$/.test(key)) {
    const sentence = `The API key of '${provider.name}' holds a character that no header can; set or store it again.`
    throw new ModelFailure('credential', sentence)
  }
  const reachable = { ...policy, allowPrivate: policy.allowPrivate || mayBePrivate }
  return {
    provider,
    id,
    baseUrl,
    apiKey: key,
    fetch: outgoingFetch({ policy: reachable, maxAnswerBytes }),
  }
}

const NO_KEY: Credential = { apiKey: '' }

/** In some protocols the address contains the model's name, which must not end the path, or leave it. */
const LEADS_ASTRAY = /[\x00-\x1f\x7f?#%\\]|(?:^|\/)\.{1,2}(?:\/|$)/

function astray(id: string): string {
  return `The model '${id.slice(0, 200)}' cannot be asked: a name holds none of ? # % \\, no control character, and no . or .. between slashes.`
}

function noKey(model: string, { name }: ModelProvider): ModelFailure {
  const variable = keyVariable(name)
  return new ModelFailure(
    'credential',
    `No API key found for model '${model}'. Set ${variable} in the configuration of the server, or store the secret of the project with \`${COMMAND} secrets set ${variable}\`.`,
    undefined,
    variable,
  )
}

function unknownConnection(connection: string, names: readonly string[]): ModelFailure {
  const known = names.length > 0 ? `known are ${names.map((it) => `'${it}'`).join(', ')}` : 'none is stored'
  return new ModelFailure(
    'connection',
    `There is no connection '${connection}': ${known}.`,
    undefined,
    connection,
  )
}

/** A model's provider, and the provider's name for it. */
export interface ModelName {
  readonly provider: ModelProvider
  readonly id: string
  /** Whether the name determines the provider; an unknown name without a prefix does not. */
  readonly isCertain: boolean
}

/**
 * Parses a model's name (interface 11.19): `groq/llama-3.3-70b` belongs to groq; a name without a known prefix belongs to openai unchanged.
 * So `meta-llama/Llama-3` is sent to `OPENAI_BASE_URL`, and `openai/<name>` means openai explicitly.
 */
export function parseModelName(model: string): ModelName {
  const slash = model.indexOf('/')
  const prefix = model.slice(0, Math.max(slash, 0))
  const prefixed = prefix === MOCK_PROVIDER.name ? MOCK_PROVIDER : MODEL_PROVIDERS.get(prefix)
  if (prefixed) return { provider: prefixed, id: model.slice(slash + 1), isCertain: true }
  return { provider: USUAL_PROVIDER, id: model, isCertain: OPENAI_NAMES.test(model) }
}

const OPENAI_NAMES = /^(?:gpt-|chatgpt-|o[0-9]|text-embedding-)/

/** A company or a program that serves language models. */
export interface ModelProvider {
  /** Its name in models, credentials and variables: `mistral/…`, `MISTRAL_API_KEY`. */
  readonly name: string
  /** Its protocol. */
  readonly protocol: 'chat-completions' | 'anthropic' | 'gemini' | 'mock'
  /** Its address, unless the credential has another. */
  readonly baseUrl: string
  /** Its name in the GenAI semantic conventions (`gen_ai.provider.name`). */
  readonly conventionName: string
}

/** The provider of models without a prefix. */
export const USUAL_PROVIDER = provider('openai', 'https://api.openai.com/v1')

/** Answers from the examples in a conversation; it has neither a key nor an address. */
export const MOCK_PROVIDER: ModelProvider = { ...provider('mock', ''), protocol: 'mock' }

/** Every provider with a key or an address, by name (interface 11.19). */
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

/** The name of the variable and of the secret for a provider's key: `OPENAI_API_KEY`. */
export function keyVariable(provider: string): string {
  return `${provider.toUpperCase()}_API_KEY`
}

/** The name of the variable for another address of a provider: `OPENAI_BASE_URL`. */
export function urlVariable(provider: string): string {
  return `${provider.toUpperCase()}_BASE_URL`
}

/** An unknown provider: it is called in the most common protocol. */
export function unknownProvider(name: string, baseUrl: string): ModelProvider {
  return provider(name, baseUrl)
}

function provider(name: string, baseUrl: string, conventionName = name): ModelProvider {
  return { name, protocol: 'chat-completions', baseUrl, conventionName }
}

/**
 * The credentials in the configuration, by provider: `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL` of OPENAI, ANTHROPIC, GEMINI, MISTRAL,
 * GROQ, COHERE, PERPLEXITY, TOGETHER_AI, DEEPINFRA, OPENROUTER and MINIMAX. An address alone is enough for a server without keys (Ollama,
 * vLLM); it may be private, because the operator chose it. An empty variable counts as unset.
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

/** The model of the provider `mock`. */
export const EXAMPLES = 'examples'

/** Why the provider `mock` has no such model, in a sentence. */
export function mockProblem(id: string): string | undefined {
  return id === EXAMPLES ? undefined : `The provider 'mock' has no model '${id}': it has mock/${EXAMPLES}.`
}
