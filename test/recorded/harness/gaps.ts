/** What no recording reaches: why, and a test of `npm test` that reaches it. */
export interface Gap {
  readonly because: string
  /** Its file, which names the code, or the end of the path. */
  readonly test: string
}

/** Operations that no recording reaches with a success. Both lists only get shorter: the test of the recordings fails where one grows. */
export const OPERATIONS_WITHOUT_SUCCESS: Readonly<Record<string, Gap>> = {
  'GET /testsets/revisions/{id}/blame': {
    because: 'rows are no texts, so that it is always refused',
    test: 'test/http/revisions/blame.test.ts',
  },
  'GET /environments/revisions/{id}/blame': {
    because: 'references are no texts, so that it is always refused',
    test: 'test/http/revisions/blame.test.ts',
  },
  'GET /queries/revisions/{id}/blame': {
    because: 'a query has no texts, so that it is always refused',
    test: 'test/http/revisions/blame.test.ts',
  },
  'POST /evaluations/{id}/resume': {
    because: 'it needs an evaluation that was cut off',
    test: 'test/http/evaluations/evaluations.test.ts',
  },
  'POST /annotations': {
    because: 'no scenario records traces and says something of them',
    test: 'test/http/traces/annotations.test.ts',
  },
  'GET /annotations/{id}': {
    because: 'no scenario records traces and says something of them',
    test: 'test/http/traces/annotations.test.ts',
  },
  'DELETE /annotations/{id}': {
    because: 'no scenario records traces and says something of them',
    test: 'test/http/traces/annotations.test.ts',
  },
  'GET /projects/current/storage': {
    because: 'the sizes of files differ with each run',
    test: 'test/http/browse/storage.test.ts',
  },
  'POST /evaluations/{id}/rerun': {
    because: 'no scenario has a row whose result changes',
    test: 'test/http/evaluations/rerun.test.ts',
  },
  'PUT /git/{family}/{slug}.git': {
    because: 'a bundle has other bytes with each version of git',
    test: 'test/http/git/restored-bundles.test.ts',
  },
}

/** Error codes of the interface that no recording reaches. */
export const CODES_WITHOUT: Readonly<Record<string, Gap>> = {
  query_too_slow: {
    because: 'it needs a query that outlasts its time',
    test: 'test/http/traces/endpoints.test.ts',
  },
  query_too_broad: {
    because: 'it needs a search that outlasts its time',
    test: 'test/feeds/search/too-broad.test.ts',
  },
  embed_too_large: {
    because: 'what is embedded would be larger than a request',
    test: 'test/http/embeds/failures.test.ts',
  },
  key_expired: {
    because: 'it needs a key whose time has passed since it was made',
    test: 'test/http/expiring-keys.test.ts',
  },
  last_admin_key: {
    because: 'the recorded server has a key beside those of projects',
    test: 'test/http/keys.test.ts',
  },
  focus_mismatch: {
    because: 'it needs a query that was kept with another focus',
    test: 'test/http/traces/saved-queries.test.ts',
  },
  too_many_merge_bases: {
    because: 'it needs a history of very many crossing merges',
    test: 'test/http/merge/criss-cross.test.ts',
  },
  merge_too_slow: {
    because: 'it needs a merge that outlasts its time',
    test: 'test/registry/merge/write-merge.test.ts',
  },
  outside_folders: {
    because: 'it needs a key that is limited to folders',
    test: 'test/http/folders/limited-keys.test.ts',
  },
  locked: {
    because: 'it needs another process that holds the lock',
    test: 'test/git/delete-ref.test.ts',
  },
  overloaded: {
    because: 'it needs a server that is full at that moment',
    test: 'test/http/server-limits.test.ts',
  },
  too_many_connections: {
    because: 'it needs connections that stay open',
    test: 'test/http/events/connections.test.ts',
  },
  storage_unavailable: {
    because: 'it needs a disk that fails',
    test: 'test/feeds/traces/trouble.test.ts',
  },
  damaged_repository: {
    because: 'it needs an object that is damaged',
    test: 'test/http/browse/files.test.ts',
  },
  unsupported_format: {
    because: 'it needs a file that a later server wrote',
    test: 'test/http/git/later-formats.test.ts',
  },
  internal_error: {
    because: 'it needs a fault of ours, which the test brings in',
    test: 'test/http/app.test.ts',
  },
}
