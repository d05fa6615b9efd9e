import type { Json, JsonObject } from '../json/json.ts'
import type { Models } from '../models/models.ts'
import type { OutgoingPolicy } from '../outgoing/outgoing-policy.ts'
import type { HandlerInterface } from '../resources/workflows/workflow-data.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { OpenSpan } from '../traces/recording/open-span.ts'
import type { CatalogPreset, HandlerTemplate } from './catalog/catalog-template.ts'

/** All that there is to say of a handler. A new one is a file with its definition, and a line of `handlerDefinitions`. */
export interface HandlerDefinition extends HandlerInterface {
  /** Absent where workflows are only kept here, and run elsewhere or never. */
  readonly run?: Handler
  /** How the catalog offers it; absent where nobody is meant to begin from it. */
  readonly template?: HandlerTemplate
  readonly presets?: readonly CatalogPreset[]
  /** A request that it answers by itself; the page on handlers shows it with what comes of it. */
  readonly example?: Partial<Pick<HandlerRequest, 'parameters' | 'inputs' | 'outputs'>>
}

/**
 * What runs a workflow (interface 11.1): makes outputs of a request. Throws a `HandlerFailure` for what the request, its
 * configuration or something behind us has wrong; anything else that it throws is a bug of ours.
 */
export type Handler = (
  request: HandlerRequest,
  context: HandlerContext,
) => HandlerResult | Promise<HandlerResult>

/** Outputs, whole or piece by piece; or a verdict with its reason. */
export type HandlerResult = Json | StreamedOutputs | ReasonedVerdict

/** What a handler is given: the `data` of the request, and that of the revision which runs. Null in a request is absent here. */
export interface HandlerRequest {
  /** The effective configuration, embeds resolved; `{}` when there is none. */
  readonly parameters: JsonObject
  readonly inputs: JsonObject | undefined
  /** What an evaluator scores. */
  readonly outputs: Json | undefined
  readonly trace: JsonObject | undefined
  readonly testcase: JsonObject | undefined
  /** The revision's data, for its script, runtime, url and headers; `{}` when none runs. */
  readonly data: JsonObject
  readonly flags: JsonObject
  /** Whether it runs as an evaluator: what a script answers is then a verdict, else it is the outputs as it is. */
  readonly judges: boolean
  /** Whether whoever asked would rather have the outputs piece by piece. A handler that cannot answers them whole. */
  readonly wantsStream: boolean
}

/** What a handler may reach beside its request. */
export interface HandlerContext {
  /** Whose project runs it; what is kept warm for one project never serves another. */
  readonly project: string
  /** The signal that is aborted when nobody waits for the outputs any more; made when it is first asked for. */
  readonly untilGone: () => AbortSignal
  /** Whether it rather waits for long than is refused because many wait already. */
  readonly isPatient: boolean
  /** The span of the run, for what happens inside. */
  readonly span: OpenSpan
  /** The value of a secret of the project. */
  readonly secret: (name: string) => Promise<string | undefined>
  readonly models: Models
  readonly sandbox: Sandbox
  readonly outgoing: OutgoingSettings
}

/** How requests to addresses that users chose are made. */
export interface OutgoingSettings {
  readonly policy: OutgoingPolicy
  /** Largest answer that is read, in bytes. */
  readonly maxAnswerBytes: number
}

/**
 * The outputs of an evaluator, and a sentence that says why. The span always says it; the outputs do, as `reason`, where their schema
 * has room for it: the schema of an evaluator that was stored earlier may have none.
 */
export class ReasonedVerdict {
  readonly outputs: JsonObject
  readonly reason: string

  constructor(outputs: JsonObject, reason: string) {
    this.outputs = outputs
    this.reason = reason
  }
}

/** Outputs that come piece by piece, `{type, data}` each (interface 12.5). */
export class StreamedOutputs {
  readonly pieces: AsyncIterable<JsonObject>
  /** The outputs as a whole, to be asked for once the last piece was taken. */
  readonly whole: () => Json

  constructor(pieces: AsyncIterable<JsonObject>, whole: () => Json) {
    this.pieces = pieces
    this.whole = whole
  }
}
