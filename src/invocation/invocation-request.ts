import type { Json, JsonObject } from '../json/json.ts'
import type { SpanLink } from '../traces/span.ts'
import type { Reference } from '../versioning/reference.ts'

/** What somebody wants run (interface 12.2). Null in a request is absent here. */
export interface InvocationRequest {
  /** The handler's key, where the address names one; the workflow's uri decides otherwise. */
  readonly key?: string | undefined
  /** The revision that a `data.url` is bound to (interface 7.4). */
  readonly revisionId?: string | undefined
  /** A workflow that the request brings itself. */
  readonly inline?: InlineRevision | undefined
  /** Where the data of that workflow stands in the request, for what is wrong with it; `data.revision.data` of the body unless given. */
  readonly inlineLoc?: readonly string[] | undefined
  /** Whether it is to run as an evaluator; where nothing is said, the references, the roles of what runs and the outputs decide. */
  readonly judges?: boolean | undefined
  /** `application_revision`, `environment` …: what runs, and what else the trace is to name. */
  readonly references?: ReadonlyMap<string, Reference> | undefined
  /** Under which key of an environment it is deployed. */
  readonly selectorKey?: string | undefined
  readonly inputs?: JsonObject | undefined
  readonly parameters?: JsonObject | undefined
  readonly outputs?: Json | undefined
  readonly trace?: JsonObject | undefined
  readonly testcase?: JsonObject | undefined
  /** `resolve` and `stream` are commands, all others are labels. */
  readonly flags?: JsonObject | undefined
  readonly links?: ReadonlyMap<string, SpanLink> | undefined
  readonly wantsStream: boolean
  readonly sessionId?: string | undefined
  /** Where the trace goes on that the caller began. */
  readonly parent?: SpanLink | undefined
  /** The ids that the run's own span gets; new ones where none are given. */
  readonly spanIds?: SpanLink | undefined
  readonly caller: InvocationCaller
  /** The signal that is aborted when nobody waits for the answer any more, always the same one; made when it is first asked for. */
  readonly untilGone: () => AbortSignal
  /** Whether it rather waits for long than is refused because many wait already; false unless given. */
  readonly isPatient?: boolean
}

/** A workflow that is not stored. */
export interface InlineRevision {
  readonly data: JsonObject
  readonly id?: string | undefined
  readonly slug?: string | undefined
  readonly version?: number | undefined
}

/** What the key of whoever asks may do beside invoking. */
export interface InvocationCaller {
  /** See what is stored: without it, nothing that the request itself brings is filled with what it points at. */
  readonly mayRead: boolean
  /** Store workflows: without it, no workflow that the request itself brings gets at secrets. */
  readonly mayWrite: boolean
}
