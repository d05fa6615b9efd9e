/**
 * A room of the source: a folder right below `src`. The files right in it are its doors, which are all that other rooms may import; what lies in
 * its folders is inside.
 */
export interface Room {
  /** The rooms it may import from, besides the files at the root that every room may. */
  readonly uses: readonly string[]
  /** Its folders from the top down, as far as they have an order: a folder may import from those beside and below it. Those that are not named lie below all others. */
  readonly layers?: readonly (readonly string[])[]
}

export const MAX_ROOMS = 12
/** Doors of one room. */
export const MAX_DOORS = 12

const BELOW_REGISTRY = ['git', 'storage', 'base']
const BELOW_RUN = ['feeds', 'registry', ...BELOW_REGISTRY]

/** The rooms, from the way in of a request to the disk: a room is above all that it uses. The page, `web`, has rules of its own (`web-rules.ts`). */
export const ROOMS: Readonly<Record<string, Room>> = {
  cli: { uses: ['server', 'http', 'cluster', 'run', 'access', ...BELOW_RUN] },
  server: { uses: ['http', 'cluster', 'run', 'access', ...BELOW_RUN] },
  http: { uses: ['run', 'access', ...BELOW_RUN] },
  run: {
    uses: BELOW_RUN,
    layers: [['evaluations'], ['invocation'], ['handlers', 'catalog'], ['templates'], ['models', 'sandbox']],
  },
  // What several servers over one database need: only a start loads it.
  cluster: { uses: ['feeds', 'git', 'storage', 'base'] },
  feeds: { uses: ['registry', ...BELOW_REGISTRY], layers: [['search', 'traces', 'webhooks'], ['outgoing']] },
  access: { uses: BELOW_REGISTRY },
  registry: {
    uses: BELOW_REGISTRY,
    layers: [['embeds'], ['families', 'workflows', 'testsets', 'documents']],
  },
  git: { uses: ['storage', 'base'] },
  storage: { uses: ['base'] },
  base: { uses: [], layers: [['diff'], ['json', 'suggestions'], ['scheduling']] },
}

/** Which rooms may import a file at the root of `src`; where none is named, every one. */
export const AT_THE_ROOT: Readonly<Record<string, readonly string[] | undefined>> = {
  errors: undefined,
  'command-name': undefined,
  config: ['cli', 'server'],
}

/** Packages and modules of node that only files in these folders of `src` may import; `.` is the root of `src` itself. */
export const CONFINED: Readonly<Record<string, readonly string[]>> = {
  // sandbox: of the one pipe that an interpreter has, without returning to the event loop; cli: users' own files, never the store's; the
  // root: whether this is a checkout
  'node:fs': ['storage', 'git', 'cluster/following', 'run/sandbox', 'cli', '.'],
  'node:fs/promises': ['storage', 'cli'],
  'node:child_process': ['git', 'run/sandbox', 'storage', 'cli'],
  // switches of V8 that are set while it runs may crash it
  'node:v8': [],
  'node:vm': ['base/scheduling'],
  tinypool: ['run/handlers', 'base/scheduling'],
  'hucre/xlsx': ['registry/testsets', 'registry/families', 'registry/documents', 'registry/workflows'],
  memfs: ['storage'],
  'isomorphic-git': ['git', 'cluster/following', 'registry'],
  koa: ['http'],
  '@koa/router': ['http'],
  'koa-body': ['http'],
  'node:http': ['http', 'feeds/outgoing', 'server', 'cli'],
  'node:https': ['feeds/outgoing', 'cli'],
  'ipaddr.js': ['feeds/outgoing'],
  libsql: ['storage'],
  pg: ['cluster/postgres'],
  'prom-client': ['http', 'server'],
  '@ai-sdk/openai-compatible': ['run/models'],
  '@ai-sdk/anthropic': ['run/models'],
  '@ai-sdk/google': ['run/models'],
  pyodide: ['run/sandbox'],
  'quickjs-emscripten': ['run/sandbox'],
  '@swc/wasm-typescript': ['run/sandbox'],
  mustache: ['run/templates'],
  '@modelcontextprotocol/server': ['http/mcp', 'cli/commands'],
  '@modelcontextprotocol/server/stdio': ['cli/commands'],
}
