/** Files that list others beside their kind: what only one of these imports stays a file. */
export const TABLES: readonly string[] = [
  'src/handlers/built-in-handlers.ts', // handlers
  'src/handlers/catalog/types/catalog-types.ts', // types of the catalog
  'src/http/endpoints/all-endpoints.ts', // routes
  'src/http/endpoints/invocation-endpoints.ts', // routes
  'src/server/compose-endpoints.ts', // routes that need more than the registry
  'src/resources/surfaces.ts', // families
  'src/resources/testsets/import/files/read-file.ts', // importers
  'src/cli/run-command-line.ts', // commands
  'src/postgres/migrate.ts', // migrations
  'src/web/routes.tsx', // pages
]

/** Files that stay files though one other file of their room imports them and they would fit into it, each with the reason. At most thirty. */
export const UNFOLDED: Readonly<Record<string, string>> = {
  'src/settings.ts': 'is what a developer adds a variable to, and what the page of variables is made from',
  'src/embeds/values/query-json-path.ts': 'changes a library for all who use it, once, as it is loaded',
  'src/handlers/worker/long-job-thread.ts': 'is the program of a thread',
  'src/handlers/worker/schema-job.ts': 'is loaded by a thread that needs it',
  'src/resources/testsets/import/files/xlsx-thread.ts': 'is the program of a thread',
  'src/sandbox/inside/seal.ts': 'takes away what a script must not have, before anything else is loaded',
  'src/sandbox/inside/strip-types.ts': 'is loaded where a script has types',
  'src/http/docs/viewer.ts': 'is the page of the interface, of which the app needs an address',
  'src/http/docs/request-text.ts':
    'is tested where there is no browser, and its importer is a program of one',
  'src/http/public-routes/service-record.ts': 'finds package.json from where it lies',
  'src/postgres/documents/document-sql.ts': 'is the SQL of one table, used as a namespace',
  'src/prompts/templates/curly-tags.ts': 'is what the page takes of the server',
  'src/web/routes.tsx': 'is the table of pages',
  'src/web/parts/editor/code-mirror.tsx': 'is loaded when an editor is opened',
}

/** So that the list stays one of exceptions. */
export const MOST_UNFOLDED = 30
