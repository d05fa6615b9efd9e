/** A room of the source: a folder right below `src`. */
export interface Room {
  /** The rooms it may import from, besides the files at the root that every room may. */
  readonly uses: readonly string[]
  /** The files that other rooms may import, without their ending; `folder/*` is every file right in that folder. */
  readonly surface: readonly string[]
}

/** The rooms, from the way in of a request to the disk: a room is above all that it uses. */
export const ROOMS: Readonly<Record<string, Room>> = {
  cli: {
    uses: [
      ...['server', 'http', 'secrets', 'access', 'handlers', 'resources', 'versioning', 'git', 'json'],
      ...['evaluations', 'webhooks'],
      ...['postgres', 'storage', 'scheduling', 'suggestions'],
    ],
    surface: ['run-command-line'],
  },
  server: {
    uses: [
      ...['http', 'events', 'evaluations', 'invocation', 'handlers', 'models', 'sandbox', 'traces'],
      ...['search', 'webhooks', 'secrets', 'postgres'],
      ...['outgoing', 'access', 'resources', 'versioning', 'git', 'storage', 'scheduling', 'metrics'],
    ],
    surface: ['start', 'resource-settings', 'signing-settings'],
  },
  http: {
    uses: [
      ...['evaluations', 'invocation', 'handlers', 'traces', 'webhooks', 'secrets', 'access', 'resources'],
      ...['search', 'events'],
      ...['embeds', 'versioning', 'git', 'json', 'storage', 'scheduling', 'cache', 'metrics', 'suggestions'],
    ],
    surface: [
      ...['app', 'surface-context', 'body/*', 'endpoints/*', 'endpoints/traces/*', 'endpoints/removal/*'],
      ...['request', 'git/*', 'metrics/*', 'openapi/openapi', 'public-routes/health'],
      ...['routing/*', 'server/*', 'sessions/sign-in-link'],
    ],
  },
  events: {
    uses: ['evaluations', 'webhooks', 'versioning', 'json', 'scheduling'],
    surface: ['open-events'],
  },
  evaluations: {
    uses: [
      ...[
        'invocation',
        'handlers',
        'traces',
        'resources',
        'versioning',
        'git',
        'json',
        'storage',
        'scheduling',
        'cache',
      ],
    ],
    surface: ['evaluation', 'log-lines', 'evaluation-services', 'project-evaluations', 'running-evaluation'],
  },
  invocation: {
    uses: ['handlers', 'traces', 'embeds', 'resources', 'versioning', 'json'],
    surface: ['find-runnable', 'inspect', 'invocation-request', 'invoke', 'effective'],
  },
  handlers: {
    uses: ['prompts', 'models', 'sandbox', 'outgoing', 'traces', 'resources', 'json', 'scheduling'],
    surface: [
      ...[
        'handler',
        'handler-failure',
        'built-in-handlers',
        'workflows',
        'catalog/*',
        'catalog/types/catalog-types',
      ],
      ...['prompts/parameter-problems', 'worker/check-schema', 'worker/long-jobs'],
    ],
  },
  prompts: {
    uses: ['models', 'embeds', 'json', 'scheduling'],
    surface: [
      ...['prompt-object', 'render-prompt'],
      ...[
        'templates/render-budget',
        'templates/render-template',
        'templates/resolve-path',
        'templates/template-format',
      ],
    ],
  },
  models: {
    uses: ['outgoing', 'traces', 'json'],
    surface: ['models', 'model-endpoint', 'create-models', 'call-policies'],
  },
  sandbox: { uses: ['json', 'scheduling'], surface: ['sandbox', 'open-sandbox', 'sandbox-limits'] },
  traces: {
    uses: ['resources', 'versioning', 'json', 'storage', 'cache'],
    surface: [
      ...['span', 'span-time', 'trace-ids', 'open-traces', 'project-traces', 'export/otlp-exporter'],
      ...['query/*', 'query/filter/span-hint', 'recording/open-span'],
      ...['recording/span-record', 'shared/shared-traces', 'shared/span-table'],
    ],
  },
  search: {
    uses: ['resources', 'embeds', 'versioning', 'git', 'json', 'storage', 'scheduling'],
    surface: ['project-search', 'index/find-documents', 'texts-of', 'words/parse-search'],
  },
  webhooks: {
    uses: ['outgoing', 'versioning', 'git', 'json', 'storage', 'scheduling'],
    surface: [
      ...['open-webhooks', 'project-webhooks', 'webhook', 'webhook-actions', 'deliveries/delivery-store'],
      ...['registry-event', 'events-between', 'cursor-log'],
    ],
  },
  secrets: {
    uses: ['json', 'storage'],
    surface: ['open-secrets', 'project-secrets', 'secret-file', 'secrets-key'],
  },
  outgoing: {
    uses: [],
    surface: [
      'outgoing-failure',
      'outgoing-fetch',
      'outgoing-policy',
      'outgoing-url-problem',
      'post-outgoing',
    ],
  },
  access: {
    uses: ['git', 'json', 'storage', 'scheduling'],
    surface: [
      ...['api-keys', 'authenticator', 'caller', 'scope', 'key-file', 'key-uses'],
      ...['intents', 'intent-file', 'key-author', 'project-name', 'sessions/*'],
    ],
  },
  resources: {
    uses: ['versioning', 'git', 'json', 'storage', 'scheduling', 'cache', 'suggestions'],
    surface: [
      ...['surface', 'surfaces', 'documents/*', 'environments/seed-environments'],
      ...['queries/query-family', 'queries/query-filtering'],
      ...[
        'testsets/present-testset',
        'testsets/testcase',
        'testsets/testset-payload',
        'testsets/testset-tree',
      ],
      ...['testsets/testset-family', 'testsets/dedup/folder-keys', 'testsets/dedup/row-keys'],
      ...['testsets/dedup/repeated-dedup-ids'],
      ...['testsets/rows/*', 'testsets/import/collect-file', 'testsets/import/row-collector'],
      ...[
        'testsets/import/files/csv-rows',
        'testsets/import/files/file-type',
        'testsets/import/files/read-file',
      ],
      ...['testsets/import/upload-testset', 'testsets/export/download-testset'],
      ...['workflows/workflow-data', 'workflows/workflow-family', 'workflows/workflow-texts'],
      'workflows/workflow-surfaces',
      ...['workflows/schemas/*'],
    ],
  },
  embeds: {
    uses: ['versioning', 'json', 'scheduling'],
    surface: [
      ...['resolve-embeds', 'resolution-log', 'dependents', 'dangling-references', 'embed-budget'],
      ...['embed-refusal', 'syntax/find-embeds', 'targets/registry-targets', 'values/select-value'],
    ],
  },
  versioning: {
    uses: ['git', 'json', 'storage', 'scheduling', 'cache', 'metrics', 'suggestions'],
    surface: [
      ...['open-registry', 'slugs/claim-slugs', 'slugs/shadowed-slugs', 'verify/*', 'notes/*'],
      ...['registry', 'registries', 'ids', 'pagination', 'reference', 'write-context', 'not-found'],
      ...[
        'artifacts/*',
        'browse/*',
        'environments/*',
        'family/*',
        'merge/*',
        'revisions/*',
        'slugs/slug',
        'texts/*',
        'trash/*',
        'variants/*',
      ],
      ...['index/damaged-repositories', 'index/index-entry', 'index/index-tables'],
      ...['index/database/index-file', 'index/database/index-database'],
      ...['push/accept-push', 'push/check-pushed-objects', 'push/check-ref-command', 'push/ref-command'],
      ...['push/push-notes', 'revisions/diff/diff-revisions'],
    ],
  },
  postgres: { uses: ['traces', 'git', 'storage'], surface: ['open-postgres', 'stored-repositories'] },
  suggestions: { uses: ['scheduling'], surface: ['helpful-refusal', 'near-names', 'nearest-name'] },
  git: {
    uses: ['storage', 'scheduling', 'cache', 'metrics'],
    surface: [
      ...[
        'repository',
        ...['store', 'project-store', 'project-filling'],
        'create-repository',
        'repository-format',
        'repository-path',
        'isomorphic-fs',
        'refuse-copy',
      ],
      ...['objects/*', 'history/*', 'signing/*', 'process/*', 'refs/*', 'maintenance/*'],
      ...['transactions/transaction', 'packs/pack-writer'],
      ...['packs/sequential-pack-reader', 'packs/streaming-pack-writer'],
      ...['receive/incoming-objects', 'receive/index-pack', 'transactions/arbiter'],
      ...[
        'following/shared-log',
        'following/open-following',
        'following/folder/compare-copy',
        'following/folder/index-bytes',
        'trash/folder-move',
      ],
    ],
  },
  json: {
    uses: ['scheduling'],
    surface: [
      ...['bounded-json', 'canonical-json', 'count-values', 'is-light', 'json', 'json-stream'],
      ...['json-text-error', 'json-values', 'parse-json', 'print-json', 'remove-paths'],
      ...['stringify-json', 'diff/*'],
    ],
  },
  storage: {
    uses: ['json', 'scheduling'],
    surface: [
      ...['fs', 'node-fs', 'memory-fs', 'store-guard', 'lock-file', 'cache-file', 'change-feed'],
      ...['durable-folder', 'process-identity', 'json-record-file'],
      ...['sqlite/*', 'documents/*'],
    ],
  },
  scheduling: { uses: [], surface: ['cooperative', 'run-aside', 'run-within', 'semaphore', 'turns'] },
  cache: { uses: [], surface: ['recently-used'] },
  metrics: { uses: [], surface: ['counters'] },
}

/** Which rooms may import a file at the root of `src`; where none is named, every one. */
export const AT_THE_ROOT: Readonly<Record<string, readonly string[] | undefined>> = {
  errors: undefined,
  'command-name': undefined,
  config: ['cli', 'server'],
}

/** Packages and modules of node that only these rooms may import; `.` is the root of `src`. */
export const CONFINED: Readonly<Record<string, readonly string[]>> = {
  // sandbox: of the one pipe that an interpreter has, without returning to the event loop; cli: users' own files, never the store's; the
  // root: whether this is a checkout
  'node:fs': ['storage', 'git', 'sandbox', 'cli', '.'],
  'node:fs/promises': ['storage', 'cli'],
  'node:child_process': ['git', 'sandbox', 'storage', 'cli'],
  // switches of V8 that are set while it runs may crash it
  'node:v8': [],
  'node:vm': ['scheduling'],
  tinypool: ['handlers', 'scheduling'],
  'hucre/xlsx': ['resources'],
  memfs: ['storage'],
  'isomorphic-git': ['git', 'versioning'],
  koa: ['http'],
  '@koa/router': ['http'],
  'koa-body': ['http'],
  'node:http': ['http', 'outgoing', 'server', 'cli'],
  'node:https': ['outgoing'],
  'ipaddr.js': ['outgoing'],
  libsql: ['storage'],
  pg: ['postgres'],
  'prom-client': ['http', 'server'],
  '@ai-sdk/openai-compatible': ['models'],
  '@ai-sdk/anthropic': ['models'],
  '@ai-sdk/google': ['models'],
  pyodide: ['sandbox'],
  'quickjs-emscripten': ['sandbox'],
  '@swc/wasm-typescript': ['sandbox'],
  mustache: ['prompts'],
}
