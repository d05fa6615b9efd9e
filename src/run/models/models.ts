import type { JsonObject } from '../../base/json.ts'
import type { ModelUsage, OpenSpan } from '../../feeds/traces.ts'

/** The language models that handlers call (interface 11.19). Every call is a child span of `span`. */
export interface Models {
  /** One reply. Throws a `ModelFailure`. */
  chat(call: ChatCall, span: OpenSpan): Promise<ChatReply>
  /** The same as a stream: pieces of text, then the reply. Throws a `ModelFailure`, also between pieces. */
  streamChat(call: ChatCall, span: OpenSpan): AsyncGenerator<string, ChatReply, undefined>
  /** One vector per text. Throws a `ModelFailure`. */
  embed(call: EmbeddingCall, span: OpenSpan): Promise<readonly (readonly number[])[]>
  /** Why every call of the model would fail; undefined if it would not. Does not contact the provider. */
  problemOf(call: Pick<ChatCall, 'model' | 'connection'>): Promise<ModelProblem | undefined>
}

/** Why a model cannot be called: no provider for it, no key, or an unusable connection. */
export interface ModelProblem {
  readonly code: 'unknown_model' | 'missing_api_key' | 'unknown_connection' | 'unusable_connection'
  /** A sentence that says what to do. It names no connection except the requested one. */
  readonly message: string
}

/** A call of a chat model. Undefined members are not sent. */
export interface ChatCall {
  /** As in `llm_config.model`: `gpt-4o-mini`, `anthropic/claude-…`. */
  readonly model: string
  /** The name of a stored credential, instead of the provider's default one. */
  readonly connection?: string | undefined
  /** Rendered messages in the chat-completions format. */
  readonly messages: readonly JsonObject[]
  readonly temperature?: number | undefined
  readonly maxTokens?: number | undefined
  readonly topP?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly reasoningEffort?: string | undefined
  readonly chatTemplateKwargs?: JsonObject | undefined
  /** `{type: "text" | "json_object" | "json_schema", json_schema?}`. */
  readonly responseFormat?: JsonObject | undefined
  readonly tools?: readonly JsonObject[] | undefined
  readonly toolChoice?: string | JsonObject | undefined
  readonly signal: AbortSignal
}

/** A model's reply. */
export interface ChatReply {
  /** `{role, content?, refusal?, tool_calls?}`, without nulls. */
  readonly message: JsonObject
  /** Tokens as counted by the provider, 0 if it counted none. Costs only if it counted them and the catalog has the price. */
  readonly usage: ModelUsage
  readonly finishReason: string
}

/** A call of an embedding model. */
export interface EmbeddingCall {
  readonly model: string
  readonly texts: readonly string[]
  readonly signal: AbortSignal
}

/** The credential for a provider. */
export interface Credential {
  /** Empty for a provider that needs none. */
  readonly apiKey: string
  readonly baseUrl?: string | undefined
  /** Whether the operator chose the base URL, so that it may be a private address. */
  readonly mayBePrivate?: boolean | undefined
}

/** The source of credentials: the project's secrets, then the configuration. */
export interface CredentialSource {
  /** The default one of a provider (`openai`, `anthropic`, …). */
  ofProvider(provider: string): Promise<Credential | undefined>
  /** The stored one with this name, and its provider. */
  named(name: string): Promise<(Credential & { readonly provider: string }) | undefined>
  /** The names of the stored ones. */
  names(): Promise<readonly string[]>
}

/**
 * Why a call failed, in words for the client. `kind` decides whether the call is retried or uses a fallback
 * (interface 11.20): `availability` timeouts, network, 5xx; `capacity` 429; `transient` 409 and 423; `access`
 * 401, 403; `context` the prompt is too long for the model; `request` any other refusal; `credential` there
 * is no key; `connection` and `mismatch` the named credential is unknown or for another provider; `answer`
 * the reply is unreadable.
 */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  readonly kind: ModelFailureKind
  /** The provider's HTTP status, if it answered. */
  readonly upstreamStatus: number | undefined
  /** The name of the secret that is missing. */
  readonly secret: string | undefined

  constructor(kind: ModelFailureKind, message: string, upstreamStatus?: number, secret?: string) {
    super(message)
    this.kind = kind
    this.upstreamStatus = upstreamStatus
    this.secret = secret
  }
}

/** See `ModelFailure`. */
export type ModelFailureKind =
  | 'availability'
  | 'capacity'
  | 'transient'
  | 'access'
  | 'context'
  | 'request'
  | 'credential'
  | 'connection'
  | 'mismatch'
  | 'answer'
