import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path/posix'

/**
 * Checks the floors of the house (`npm run check`): imports go down only, and what touches the disk or git's formats stays in
 * `git/`. Prints every import that does not, and exits 1.
 */

/** Which rooms a room may import from, beside itself. The order is the way a request takes. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  '.': [
    'http',
    'evaluations',
    'invocation',
    'handlers',
    'models',
    'sandbox',
    'secrets',
    'traces',
    'webhooks',
    'outgoing',
    'access',
    'resources',
    'embeds',
    'versioning',
    'git',
    'json',
    '.',
  ],
  http: [
    'evaluations',
    'invocation',
    'handlers',
    'traces',
    'webhooks',
    'secrets',
    'access',
    'resources',
    'embeds',
    'versioning',
    'git',
    'json',
    '.',
  ],
  evaluations: ['invocation', 'handlers', 'traces', 'resources', 'versioning', 'git', 'json', '.'],
  invocation: ['handlers', 'models', 'sandbox', 'traces', 'embeds', 'resources', 'versioning', 'json', '.'],
  handlers: ['prompts', 'models', 'sandbox', 'outgoing', 'traces', 'resources', 'embeds', 'json', '.'],
  prompts: ['models', 'embeds', 'json', '.'],
  models: ['outgoing', 'traces', 'json', '.'],
  sandbox: ['json', '.'],
  secrets: ['git', 'json', '.'],
  traces: ['resources', 'versioning', 'git', 'json', '.'],
  webhooks: ['outgoing', 'versioning', 'git', 'json', '.'],
  outgoing: ['.'],
  access: ['git', 'json', '.'],
  resources: ['versioning', 'git', 'json', '.'],
  embeds: ['versioning', 'json', '.'],
  versioning: ['git', 'json', '.'],
  git: ['json', '.'],
  json: ['.'],
}

/** Files at the top that a room below may import; the others (main, start, config) are above everything. */
const SHARED = [
  'errors.ts',
  'counts.ts',
  'time-slice.ts',
  'give-back-memory.ts',
  'bounded-cache.ts',
  'own-bytes.ts',
  'at-rest.ts',
  'fair-queue.ts',
  'nearest-name.ts',
  'near-names.ts',
  'helpful-refusal.ts',
]

/** Packages that only the named rooms may import. */
const CONFINED: Readonly<Record<string, readonly string[]>> = {
  // sandbox: of the one pipe that an interpreter has, without returning to the event loop
  'node:fs': ['git', 'sandbox'],
  'node:fs/promises': ['git'],
  memfs: ['git'],
  'isomorphic-git': ['git'],
  koa: ['http'],
  '@koa/router': ['http'],
  'koa-body': ['http'],
  'node:http': ['http', 'outgoing', '.'],
  'node:https': ['outgoing'],
  'ipaddr.js': ['outgoing'],
  libsql: ['traces'],
  'prom-client': ['http', '.'],
  '@ai-sdk/openai-compatible': ['models'],
  '@ai-sdk/anthropic': ['models'],
  '@ai-sdk/google': ['models'],
  pyodide: ['sandbox'],
  'quickjs-emscripten': ['sandbox'],
  '@swc/wasm-typescript': ['sandbox'],
  mustache: ['prompts'],
  '@huggingface/jinja': ['prompts'],
}

const ROOT = 'src'
const problems: string[] = []
let files = 0
let imports = 0

for (const file of sourceFiles(ROOT)) {
  files++
  for (const target of importsOf(file)) {
    imports++
    const problem = target.startsWith('.') ? wrongFloor(file, target) : notConfined(file, target)
    if (problem) problems.push(`${file}: ${problem}`)
  }
}

process.stdout.write(
  problems.length > 0
    ? `${problems.join('\n')}\n`
    : `floors: ${imports} imports in ${files} files, all of them downwards\n`,
)
process.exitCode = problems.length > 0 ? 1 : 0

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourceFiles(path)
    return entry.name.endsWith('.ts') ? [path] : []
  })
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [
    ...text.matchAll(/^\s*(?:import|export)\b[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm),
  ].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
}

function wrongFloor(file: string, target: string): string | undefined {
  const path = normalize(join(dirname(file), target))
  const [from, to] = [roomOf(file), roomOf(path)]
  if (to === '.' && from !== '.' && !SHARED.includes(relative(ROOT, path)))
    return `imports ${target}, which is above it`
  if (from === to || FLOORS[from]?.includes(to)) return undefined
  return `${from} must not import from ${to} (${target})`
}

function notConfined(file: string, target: string): string | undefined {
  const rooms = CONFINED[target]
  if (!rooms || rooms.includes(roomOf(file))) return undefined
  return `${target} may be imported only in ${rooms.join(', ')}`
}

/** The room of a file: the folder right below src, or `.` for src itself. */
function roomOf(path: string): string {
  const [first = '', ...rest] = relative(ROOT, path).split('/')
  return rest.length === 0 ? '.' : first
}
