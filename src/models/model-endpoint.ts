import { COMMAND } from '../command-name.ts'
import { type OutgoingFetchSettings, outgoingFetch } from '../outgoing/outgoing-fetch.ts'
import {
  keyVariable,
  MODEL_PROVIDERS,
  type ModelProvider,
  unknownProvider,
  urlVariable,
} from './model-providers.ts'
import {
  type ChatCall,
  type Credential,
  type CredentialSource,
  ModelFailure,
  type ModelProblem,
} from './models.ts'
import { mockProblem } from './mock/mock-model.ts'
import { type ModelName, parseModelName } from './parse-model-name.ts'

/** Where a model is, and how to get there. */
export interface ModelEndpoint {
  readonly provider: ModelProvider
  /** What its provider calls it. */
  readonly id: string
  readonly baseUrl: string
  /** Without white space around it; empty when the provider asks for none. */
  readonly apiKey: string
  readonly fetch: typeof fetch
}

/** With which keys models are reached, and how. */
export interface ReachSettings extends OutgoingFetchSettings {
  readonly credentials: CredentialSource
}

/**
 * Finds the credential for a model (interface 11.19): the connection's when it names one, else its provider's usual one. Throws
 * `ModelFailure`: `credential` when there is none, `connection` when none has that name, `mismatch` when it is for another provider than
 * the model is of; `request` for a name that would lead elsewhere on the provider's host. What the source of credentials throws comes
 * through.
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
 * What keeps a model from being asked: what `modelEndpoint` would fail with, or a name that nobody here is known by, which would go to
 * OpenAI, whole, whose models have other names. Whoever has set another address for OpenAI may have any models there, and so may a
 * connection.
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
    // The failure of a call lists the project's connections, which are for those who may run something.
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

/** A connection to someone unknown may have any models, and says where it leads: its key goes to nobody else. */
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

/** Some protocols have the model's name in the path of the address: it must not end the path, or climb out of it. */
const LEADS_ASTRAY = /[\x00-\x1f\x7f?#%\\]|(?:^|\/)\.{1,2}(?:\/|$)/

function astray(id: string): string {
  return `The model '${id.slice(0, 200)}' cannot be asked: a name holds none of ? # % \\, no control character, and no . or .. between slashes.`
}

function noKey(model: string, { name }: ModelProvider): ModelFailure {
  const variable = keyVariable(name)
  return new ModelFailure(
    'credential',
    `No API key found for model '${model}'. Set ${variable} in the configuration of the server, or store the secret of the project with \`${COMMAND} secrets set ${variable}\`.`,
  )
}

function unknownConnection(connection: string, names: readonly string[]): ModelFailure {
  const known = names.length > 0 ? `known are ${names.map((it) => `'${it}'`).join(', ')}` : 'none is stored'
  return new ModelFailure('connection', `There is no connection '${connection}': ${known}.`)
}
