/**
 * The codes of refusals, which are stable. Domain code throws a `Refusal`; only http/problem.ts knows the status of a code. The message is
 * a whole sentence that names the field, the value and the remedy.
 */
export type RefusalCode =
  // the request itself
  | 'malformed_json'
  | 'contradictory_request'
  | 'incomplete_reference'
  | 'invalid_request'
  | 'unknown_field'
  | 'invalid_delta'
  | 'no_provider'
  | 'no_such_key'
  | 'slug_is_fixed'
  | 'read_only_field'
  | 'missing_payload'
  | 'body_too_large'
  | 'document_too_large'
  | 'invalid_file'
  | 'empty_file'
  | 'query_too_slow'
  | 'empty_query'
  | 'query_too_broad'
  | 'limit_exceeded'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  // the caller
  | 'missing_key'
  | 'unknown_key'
  | 'key_expired'
  | 'unknown_session'
  | 'unknown_token'
  | 'foreign_origin'
  | 'missing_scope'
  | 'guarded'
  | 'outside_folders'
  // the requested thing
  | 'route_not_found'
  | 'method_not_allowed'
  | 'smart_protocol_only'
  | 'artifact_not_found'
  | 'variant_not_found'
  | 'revision_not_found'
  | 'file_not_found'
  | 'environment_not_found'
  | 'deployment_not_found'
  | 'testcase_not_found'
  | 'webhook_not_found'
  | 'delivery_not_found'
  | 'evaluation_not_found'
  | 'key_not_found'
  | 'session_not_found'
  | 'secret_not_found'
  | 'trace_not_found'
  | 'span_not_found'
  | 'annotation_not_found'
  | 'template_not_found'
  | 'preset_not_found'
  | 'type_not_found'
  | 'folder_not_found'
  // its embeds
  | 'embed_not_found'
  | 'embed_path_not_found'
  | 'embed_cycle'
  | 'embed_limit_exceeded'
  | 'embed_depth_exceeded'
  | 'embed_too_large'
  | 'embed_mixed_entities'
  | 'embed_unsupported_entity'
  | 'embed_incomplete'
  | 'embed_contradictory'
  | 'embed_invalid'
  // the state of the requested thing
  | 'slug_taken'
  | 'project_exists'
  | 'id_taken'
  | 'ambiguous_variant'
  | 'archived'
  | 'in_use'
  | 'folder_in_use'
  | 'last_admin_key'
  | 'focus_mismatch'
  | 'revision_exists'
  | 'revision_conflict'
  | 'merge_conflict'
  | 'merge_too_slow'
  | 'no_such_conflict'
  | 'unrelated'
  | 'too_many_merge_bases'
  | 'no_parent'
  | 'nothing_to_restore'
  | 'precondition_failed'
  // the machine
  | 'locked'
  | 'overloaded'
  | 'too_many_connections'
  | 'storage_unavailable'
  | 'damaged_repository'
  | 'unsupported_format'

/** A problem at one place of the request; `loc` is the path to it (`["body","workflow","slug"]`). */
export interface FieldProblem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

/** The data of a refusal beside its sentence; http/problem.ts copies it into the problem document unchanged. */
export interface RefusalData {
  readonly errors?: readonly FieldProblem[]
  readonly conflict?: Readonly<Record<string, unknown>>
  readonly details?: Readonly<Record<string, unknown>>
  /** What uses the thing that was to be removed … */
  readonly users?: readonly object[]
  /** The API keys that name a folder which was to be moved. */
  readonly keys?: readonly object[]
  /** The conflicts of a merge. */
  readonly conflicts?: readonly object[]
  readonly truncated?: true
  /** The number of all conflicts, if not all are listed. */
  readonly total?: number
  /** … when the requested thing was removed, and until when it can be restored. */
  readonly trashed_at?: string
  readonly until?: string
}

/** An expected refusal: nothing was stored; the message says why, what is affected and what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly data: RefusalData

  constructor(code: RefusalCode, message: string, data: RefusalData = {}) {
    super(message)
    this.code = code
    this.data = data
  }
}

/**
 * The shared database did not answer in time. Requests that wait behind this one are refused with it (see `behind`), instead of each
 * waiting for the same result.
 */
export class DatabaseAway extends Refusal {
  readonly #why: string | undefined
  readonly #wasSent: boolean

  /** `why` is the last attempt's message. If the request was sent, it is unknown whether it was carried out. */
  constructor(why: string | undefined, wasSent = true) {
    const outcome = wasSent ? 'Nothing was stored, or it is not known whether it was' : 'Nothing was stored'
    const reason = why === undefined ? '' : ` (${why})`
    super('storage_unavailable', `The database is away${reason}. ${outcome}; try again in a moment.`)
    this.#why = why
    this.#wasSent = wasSent
  }

  /** The same for a client without a key, because `why` may contain the database's address. */
  withoutWhy(): DatabaseAway {
    return new DatabaseAway(undefined, this.#wasSent)
  }

  /** The refusal of a request that was not sent. */
  behind(): DatabaseAway {
    return new DatabaseAway(this.#why, false)
  }
}

/** A 422 for one field: `invalid(["body","workflow","slug"], "a slug …", "invalid_slug")`. */
export function invalid(loc: readonly (string | number)[], msg: string, type = 'value_error'): Refusal {
  return new Refusal('invalid_request', `${loc.join('.')}: ${msg}`, { errors: [{ loc, msg, type }] })
}

/** The server cannot start. The message says why and what to do; the operator sees only this message. */
export class CannotStart extends Error {
  override readonly name: string = 'CannotStart'
}
