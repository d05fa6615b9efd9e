import type { Refusal, RefusalCode, RefusalData } from '../errors.ts'
import { boundedText } from '../base/json.ts'
import { boundedProblem, MOST_LISTED } from '../registry/reading.ts'

/** An RFC 9457 problem document in the form of interface 3.1. */
export interface Problem extends RefusalData {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  /** Always 0, because clients may only look at `count`. */
  readonly count: 0
}

/** The codes of refusals, and the one for our own bugs. */
export type ProblemCode = RefusalCode | 'internal_error'

/**
 * The problem document of a refusal. Sentences quote the request, which may be as long as a body, so each is cut here, and a long list of
 * problems is shortened.
 */
export function problemOf({ code, message, data }: Refusal): Problem {
  const { errors } = data
  return {
    ...problem(code, boundedText(message, LONGEST_DETAIL)),
    ...data,
    ...(errors && { errors: errors.slice(0, MOST_LISTED).map(boundedProblem) }),
  }
}

const LONGEST_DETAIL = 40_000

/** The problem document of a bug: only the id under which the log has the details. */
export function internalProblem(requestId: string): Problem {
  return problem(
    'internal_error',
    `The server failed in a way it did not expect. Nothing in the request explains it; ask the operator to look for ` +
      `request ${requestId} in the log.`,
  )
}

/** Status and title of every code (interface 3.3). */
export const PROBLEMS: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = {
  malformed_json: [400, 'The body is not JSON'],
  contradictory_request: [400, 'The request contradicts itself'],
  incomplete_reference: [400, 'The reference identifies nothing'],
  invalid_request: [422, 'The request is not valid'],
  unknown_field: [422, 'The request has a field that nobody reads'],
  invalid_delta: [422, 'The delta cannot be applied'],
  no_provider: [422, 'The secret is not the key of a provider'],
  slug_is_fixed: [422, 'A slug never changes'],
  read_only_field: [422, 'The server makes this field'],
  no_such_key: [422, 'What is to be removed is not there'],
  missing_payload: [400, 'The commit has no payload'],
  body_too_large: [413, 'The body is too large'],
  document_too_large: [413, 'The document is too large'],
  invalid_file: [422, 'The file is not valid'],
  empty_file: [422, 'The file is empty'],
  query_too_slow: [422, 'The query takes too long'],
  empty_query: [422, 'The query has no words'],
  query_too_broad: [422, 'The query finds too much'],
  limit_exceeded: [413, 'A limit is exceeded'],
  unsupported_media_type: [415, 'The media type is not supported'],
  idempotency_key_reused: [422, 'The Idempotency-Key belongs to another request'],
  missing_key: [401, 'No API key was sent'],
  unknown_key: [401, 'The API key is not known'],
  key_expired: [401, 'The API key has expired'],
  unknown_session: [401, 'The session is over'],
  unknown_token: [401, 'The link is used up'],
  foreign_origin: [403, 'The request comes from another page'],
  missing_scope: [403, 'The API key lacks a scope'],
  guarded: [403, 'The environment is guarded'],
  outside_folders: [403, 'The API key is limited to folders'],
  route_not_found: [404, 'There is no such route'],
  method_not_allowed: [405, 'The route does not take this method'],
  smart_protocol_only: [403, 'Only the smart git protocol is spoken'],
  artifact_not_found: [404, 'There is no such artifact'],
  variant_not_found: [404, 'There is no such variant'],
  revision_not_found: [404, 'There is no such revision'],
  file_not_found: [404, 'There is no such file'],
  environment_not_found: [404, 'There is no such environment'],
  deployment_not_found: [404, 'There is no such deployment'],
  testcase_not_found: [404, 'There is no such testcase'],
  key_not_found: [404, 'There is no such API key'],
  session_not_found: [404, 'Nobody is signed in'],
  secret_not_found: [404, 'There is no such secret'],
  webhook_not_found: [404, 'There is no such webhook'],
  delivery_not_found: [404, 'There is no such delivery'],
  evaluation_not_found: [404, 'There is no such evaluation'],
  trace_not_found: [404, 'There is no such trace'],
  annotation_not_found: [404, 'No such annotation'],
  span_not_found: [404, 'There is no such span'],
  template_not_found: [404, 'There is no such template'],
  preset_not_found: [404, 'There is no such preset'],
  type_not_found: [404, 'There is no such type'],
  folder_not_found: [404, 'There is no such folder'],
  embed_not_found: [404, 'An embed points at nothing'],
  embed_path_not_found: [422, 'An embed selects nothing'],
  embed_cycle: [422, 'Embeds go in a circle'],
  embed_limit_exceeded: [422, 'There are too many embeds'],
  embed_depth_exceeded: [422, 'Embeds are nested too deeply'],
  embed_too_large: [422, 'Embeds bring in too much'],
  embed_mixed_entities: [422, 'An embed mixes entities'],
  embed_unsupported_entity: [422, 'An embed refers to what cannot be embedded'],
  embed_incomplete: [422, 'The references of an embed do not suffice'],
  embed_contradictory: [422, 'The references of an embed contradict each other'],
  embed_invalid: [422, 'An embed is not valid'],
  slug_taken: [409, 'The slug is taken'],
  project_exists: [409, 'The name of the project is taken'],
  id_taken: [409, 'The id is taken'],
  ambiguous_variant: [409, 'The variant is ambiguous'],
  last_admin_key: [409, 'It is the last admin key'],
  archived: [409, 'The target is archived'],
  in_use: [409, 'Something refers to it'],
  folder_in_use: [409, 'An API key is limited to the folder'],
  focus_mismatch: [409, 'The saved query is about something else'],
  revision_exists: [409, 'The variant has its first revision'],
  revision_conflict: [409, 'The head has moved'],
  merge_conflict: [409, 'Both sides changed the same'],
  merge_too_slow: [422, 'The merge takes too long'],
  no_such_conflict: [422, 'There is no such conflict'],
  unrelated: [422, 'The sides have nothing in common'],
  too_many_merge_bases: [422, 'The sides have too many merge bases'],
  no_parent: [422, 'The revision is the first one'],
  nothing_to_restore: [422, 'The variant holds that already'],
  precondition_failed: [412, 'The precondition failed'],
  locked: [503, 'The repository is locked'],
  overloaded: [503, 'The server is overloaded'],
  too_many_connections: [429, 'Too many connections'],
  storage_unavailable: [503, 'The storage is not available'],
  damaged_repository: [503, 'The repository is damaged'],
  unsupported_format: [503, 'A later server wrote this'],
  internal_error: [500, 'The server failed'],
}

function problem(code: ProblemCode, detail: string): Problem {
  const [status, title] = PROBLEMS[code]
  return { type: `urn:svc:problem:${code}`, title, status, detail, code, count: 0 }
}
