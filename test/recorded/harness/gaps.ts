/** What no recording reaches with a success yet. Both lists only get shorter: the test of the recordings fails where one grows. */
export const OPERATIONS_WITHOUT_SUCCESS: readonly string[] = [
  'GET /workflows/revisions/{id}/blame',
  'GET /evaluators/revisions/{id}/blame',
  'GET /testsets/revisions/{id}/blame',
  'GET /environments/revisions/{id}/blame',
  'GET /queries/revisions/{id}/blame',
  'POST /evaluations/{id}/resume',
  'GET /sessions/current',
  'DELETE /sessions/current',
  'GET /traces/{id}',
  'DELETE /traces/{id}',
  'GET /spans/{trace_id}/{span_id}',
  'PUT /git/{family}/{slug}.git',
]

/** Error codes of the interface that no recording reaches. */
export const CODES_WITHOUT: readonly string[] = [
  'document_too_large',
  'query_too_slow', // needs a query that outlasts its time: test/http/traces/endpoints.test.ts sets that time to a moment
  'query_too_broad',
  'limit_exceeded',
  'unknown_session',
  'foreign_origin',
  'span_not_found',
  'embed_too_large',
  'last_admin_key',
  'focus_mismatch',
  'too_many_merge_bases',
  'merge_too_slow',
  'no_parent',
  'locked', // needs another process that holds the lock: test/git/delete-ref.test.ts
  'overloaded', // needs a server that is full at that moment: test/http/server-limits.test.ts
  'too_many_connections',
  'storage_unavailable', // needs a disk that fails: test/traces/trouble.test.ts
  'damaged_repository', // needs an object that is damaged: test/http/browse/files.test.ts
  'unsupported_format', // needs a file that a later server wrote: test/http/git/later-formats.test.ts
  'internal_error', // needs a bug: test/http/app.test.ts brings one in
]
