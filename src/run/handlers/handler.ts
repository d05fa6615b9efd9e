import type { Json, JsonObject } from '../../base/json.ts'
import type { Models } from '../models/models.ts'
import type { OutgoingPolicy } from '../../feeds/outgoing.ts'
import type { HandlerInterface } from '../../registry/workflows.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { OpenSpan } from '../../feeds/traces.ts'
import type { CatalogPreset, HandlerTemplate } from '../catalog/catalog-template.ts'

/**
 * The definition of a handler. To add one, write a file with its definition and a line in
 * `handlerDefinitions`.
 */
export interface HandlerDefinition extends HandlerInterface {
  /** Absent if the service only stores such workflows and does not run them. */
  readonly run?: Handler
  /** The catalog's template; absent if the catalog does not offer the handler. */
  readonly template?: HandlerTemplate
  readonly presets?: readonly CatalogPreset[]
  /** A self-contained example request; the page on handlers shows it with its answer. */
  readonly example?: Partial<Pick<HandlerRequest, 'parameters' | 'inputs' | 'outputs'>>
}

/**
 * Runs a workflow (interface 11.1). Throws a `HandlerFailure` for a faulty request or configuration, or for a
 * failed dependency; any other error is a bug.
 */
export type Handler = (
  request: HandlerRequest,
  context: HandlerContext,
) => HandlerResult | Promise<HandlerResult>

/** Outputs, whole or streamed, or a verdict with a reason. */
export type HandlerResult = Json | StreamedOutputs | ReasonedVerdict

/**
 * The input of a handler: the `data` of the request and of the running revision. A null in a request is
 * absent here.
 */
export interface HandlerRequest {
  /** The effective configuration, embeds resolved; `{}` when there is none. */
  readonly parameters: JsonObject
  readonly inputs: JsonObject | undefined
  /** What an evaluator scores. */
  readonly outputs: Json | undefined
  readonly trace: JsonObject | undefined
  readonly testcase: JsonObject | undefined
  /** The revision's data, which holds its script, runtime, url and headers; `{}` without a revision. */
  readonly data: JsonObject
  readonly flags: JsonObject
  /** Whether it runs as an evaluator. A script's answer is then a verdict; otherwise it is the outputs. */
  readonly judges: boolean
  /** Whether the caller prefers streamed outputs. A handler that cannot stream returns them whole. */
  readonly wantsStream: boolean
}

/** What a handler can use besides its request. */
export interface HandlerContext {
  /** The project that runs it; warm state of one project never serves another. */
  readonly project: string
  /** The signal that is aborted when the caller is gone; created on the first call. */
  readonly untilGone: () => AbortSignal
  /** Whether it waits for a long time instead of being refused when many already wait. */
  readonly isPatient: boolean
  /** The span of the run, parent of inner spans. */
  readonly span: OpenSpan
  /** The value of a secret of the project. */
  readonly secret: (name: string) => Promise<string | undefined>
  readonly models: Models
  readonly sandbox: Sandbox
  readonly outgoing: OutgoingSettings
}

/** How requests to addresses chosen by users are made. */
export interface OutgoingSettings {
  readonly policy: OutgoingPolicy
  /** Maximum size of an answer in bytes. */
  readonly maxAnswerBytes: number
}

/**
 * An evaluator's outputs with a sentence of explanation. The span always records the reason. The outputs
 * contain it as `reason` only if their schema allows it, because schemas stored earlier may not.
 */
export class ReasonedVerdict {
  readonly outputs: JsonObject
  readonly reason: string

  constructor(outputs: JsonObject, reason: string) {
    this.outputs = outputs
    this.reason = reason
  }
}

/** Outputs that arrive in pieces, `{type, data}` each (interface 12.5). */
export class StreamedOutputs {
  readonly pieces: AsyncIterable<JsonObject>
  /** The complete outputs; call it after the last piece. */
  readonly whole: () => Json

  constructor(pieces: AsyncIterable<JsonObject>, whole: () => Json) {
    this.pieces = pieces
    this.whole = whole
  }
}
