import type { JsonObject } from '../json/json.ts'
import type { OpenSpan } from '../traces/recording/open-span.ts'

/** The language models that handlers call (interface 11.19). Every call is a child span of `span`. */
export interface Models {
  /** One reply. Throws a `ModelFailure`. */
  chat(call: ChatCall, span: OpenSpan): Promise<ChatReply>
  /** The same, told while it is made: pieces of text, then the reply. Throws a `ModelFailure`, also between pieces. */
  streamChat(call: ChatCall, span: OpenSpan): AsyncGenerator<string, ChatReply, undefined>
  /** One vector a text. Throws a `ModelFailure`. */
  embed(call: EmbeddingCall, span: OpenSpan): Promise<readonly (readonly number[])[]>
  /** What keeps a call of the model from being made, whatever is asked; undefined where nothing does. No provider is asked. */
  problemOf(call: Pick<ChatCall, 'model' | 'connection'>): Promise<ModelProblem | undefined>
}

/** Why a model cannot be asked: no provider can have it, there is no key for it, or its connection does not lead to it. */
export interface ModelProblem {
  readonly code: 'unknown_model' | 'missing_api_key' | 'unknown_connection' | 'unusable_connection'
  /** A sentence that says what to do. It names no connection but the one that was asked for. */
  readonly message: string
}

/** One call of a chat model. What is undefined is not sent. */
export interface ChatCall {
  /** As `llm_config.model` has it: `gpt-4o-mini`, `anthropic/claude-…`. */
  readonly model: string
  /** The name of a stored credential, instead of the provider's usual one. */
  readonly connection?: string | undefined
  /** In the form of the chat-completions protocol, rendered already. */
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

/** What a model replied. */
export interface ChatReply {
  /** `{role, content?, refusal?, tool_calls?}`, without nulls. */
  readonly message: JsonObject
  readonly usage: TokenUsage
  readonly finishReason: string
}

/** Tokens of a call, as the provider counted them; 0 where it did not. */
export interface TokenUsage {
  readonly prompt: number
  readonly completion: number
  readonly total: number
}

/** One call of an embedding model. */
export interface EmbeddingCall {
  readonly model: string
  readonly texts: readonly string[]
  readonly signal: AbortSignal
}

/** What is needed to reach a provider. */
export interface Credential {
  /** Empty for a provider that asks for none. */
  readonly apiKey: string
  readonly baseUrl?: string | undefined
  /** Whether whoever runs the service chose the base URL, so that it may lead to a private address. */
  readonly mayBePrivate?: boolean | undefined
}

/** Where credentials come from: the project's secrets, then the configuration. */
export interface CredentialSource {
  /** The usual one of a provider (`openai`, `anthropic`, …). */
  ofProvider(provider: string): Promise<Credential | undefined>
  /** The stored one of this name, with the provider it is for. */
  named(name: string): Promise<(Credential & { readonly provider: string }) | undefined>
  /** The names of those stored. */
  names(): Promise<readonly string[]>
}

/**
 * Why a call failed, in words that may be shown to the client. `kind` decides whether the call is repeated or goes to a fallback (interface 11.20):
 * `availability` timeouts, network, 5xx; `capacity` 429; `transient` 409 and 423; `access` 401, 403; `context` a prompt too long for
 * the model; `request` any other refusal; `credential` there is no key; `connection` and `mismatch` the named credential is unknown or
 * for another provider; `answer` the reply cannot be read.
 */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  readonly kind: ModelFailureKind
  /** The provider's HTTP status, if it answered. */
  readonly upstreamStatus: number | undefined

  constructor(kind: ModelFailureKind, message: string, upstreamStatus?: number) {
    super(message)
    this.kind = kind
    this.upstreamStatus = upstreamStatus
  }
}

/** Why a call failed; see `ModelFailure`. */
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
