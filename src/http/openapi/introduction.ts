/** The document's introduction in Markdown: authentication, and what holds for every route. */
export const INTRODUCTION = `A registry in which every artifact is a git repository: variants are branches, revisions are commits.

## Authentication

Everything but the group *service* needs an API key, sent as \`Authorization: ApiKey <key>\`; \`Authorization: Bearer <key>\` and
\`X-API-Key: <key>\` are taken, too. The first start of a server prints one. Whoever runs the server makes more, in its folder:
\`npm run --silent keys -- create --name me --scopes read,write,invoke\`.

A key has one or more of the scopes \`read\`, \`write\`, \`deploy\`, \`invoke\` and \`admin\`; each route names those of which it needs one. To try
routes on this page, choose **Authorize** and paste the key. In a shell, put the server into \`BRANCHPOINT_URL\` and the key into
\`BRANCHPOINT_KEY\`: the curl commands on this page use both.

In a browser, a session stands for a key: \`POST /sessions\` sets its cookie.

A key without \`read\` is answered with ids, slugs, versions, dates and addresses only (\`WithheldAnswer\`), and with what a run puts out where it
may invoke.

## Every route

- Every path also answers under \`/api\`, but those of the group *clients of others*, which answer as they are written; a slash at the end is
optional.
- A refusal is a \`Problem\` (RFC 9457) with a stable \`code\`. A refused request stores nothing.
- A write with \`Prefer: return=minimal\` is answered with ids, slugs and versions.
- Where servers share a database, the answer to a read says how fresh it is: \`Svc-Freshness: primary; age=<ms>\`. A list of very many artifacts says so, too.
- Answers of a kilobyte and more are compressed for clients that take gzip or Brotli.
- The words workflow, application and evaluator stand for each other in the names of members on these three surfaces, and ids of parents may be
called plainly \`artifact_id\`, \`variant_id\` and \`revision_id\`. The document shows one name of each.`

/**
 * The groups of routes, ordered by use: versioned items, then runs, then the server; routes for older clients
 * last.
 */
export const TAGS = Object.entries({
  'simple applications': 'Applications as one flat record each: begin here.',
  applications: 'Prompts and programs, with their variants and revisions.',
  'simple testsets': 'Testsets as one flat record each; upload and download rows.',
  testsets: 'Rows to test with, with variants and revisions.',
  testcases: 'Single rows of testsets.',
  'simple environments': 'Environments as one flat record each; guard them.',
  environments: 'Which revision runs where.',
  'simple evaluators': 'Evaluators as one flat record each.',
  evaluators: 'What judges an output, with variants and revisions.',
  evaluations: 'Run an application and evaluators over the rows of a testset.',
  services: 'Run one workflow.',
  search: 'Find things by their words.',
  traces: 'What runs did.',
  annotations: 'What people and programs say of traces: thumbs, notes, and what evaluators have schemas for.',
  'simple queries': 'Saved filters of traces as one flat record each.',
  queries: 'Saved filters of traces, with variants and revisions.',
  catalog: 'Templates and presets to make applications and evaluators from.',
  git: 'Clone, fetch and push.',
  webhooks: 'Have events sent to a URL.',
  events: 'Follow what happens.',
  keys: 'API keys of the project.',
  sessions: 'Signing browsers in and out.',
  secrets: 'Values that handlers use and no answer shows.',
  folders: 'Where artifacts lie in the project, and moving them.',
  projects: 'What the project of a key holds, and making projects.',
  trash: 'What was removed and can be brought back.',
  'clients of others': 'Prompts as SDKs of other products read them.',
  service: 'The server itself. Needs no key, save for metrics.',
  'simple workflows': 'Applications and evaluators together, as one flat record each.',
  workflows: 'Applications and evaluators together, under the name they share.',
  legacy: 'What only older clients use.',
}).map(([name, description]) => ({ name, description }))
