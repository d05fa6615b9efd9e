/** Files that list others beside their kind: what only one of these imports stays a file. */
export const TABLES: readonly string[] = [
  'src/run/handlers/built-in-handlers.ts', // handlers
  'src/run/catalog/types/catalog-types.ts', // types of the catalog
  'src/http/endpoints/all-endpoints.ts', // routes
  'src/http/endpoints/invocation-endpoints.ts', // routes
  'src/server/compose-endpoints.ts', // routes that need more than the registry
  'src/registry/families/surfaces.ts', // families
  'src/registry/testsets/files/read-file.ts', // importers
  'src/cli/run-command-line.ts', // commands
  'src/http/mcp/mcp-server.ts', // groups of tools, prompts and resources
  'src/cluster/postgres/migrate.ts', // migrations
  'src/web/routes.tsx', // pages
]

/** Files that stay files though one other file of their room imports them and they would fit into it, each with the reason. At most thirty. */
export const UNFOLDED: Readonly<Record<string, string>> = {
  'src/settings.ts': 'is what a developer adds a variable to, and what the page of variables is made from',
  'src/registry/embeds/query-json-path.ts': 'changes a library for all who use it, once, as it is loaded',
  'src/run/handlers/worker/long-job-thread.ts': 'is the program of a thread',
  'src/run/handlers/worker/schema-job.ts': 'is loaded by a thread that needs it',
  'src/registry/testsets/files/xlsx-thread.ts': 'is the program of a thread',
  'src/run/sandbox/inside/seal.ts': 'takes away what a script must not have, before anything else is loaded',
  'src/run/sandbox/inside/strip-types.ts': 'is loaded where a script has types',
  'src/http/docs/request-text.ts':
    'is tested where there is no browser, and its importer is a program of one',
  'src/http/mcp/mcp-server.ts': 'is loaded when an agent first asks',
  'src/cluster/postgres/document-sql.ts': 'is the SQL of one table, used as a namespace',
  'src/server/compose.ts': 'is loaded while the disk syncs what a crash has left',
  'src/run/handlers/prompts/parameter-problems.ts': 'reads parameters as the handlers beside it do',
  'src/web/routes.tsx': 'is the table of pages',
  'src/web/parts/editor/code-mirror.tsx': 'is loaded when an editor is opened',
  'src/web/parts/naming/naming-dialogs.tsx': 'is loaded when a dialog is opened',
  'src/web/parts/undo/undo-sheet.tsx': 'is loaded when a dialog is opened',
}

/** So that the list stays one of exceptions. */
export const MOST_UNFOLDED = 30
