/** Options of a command, in the form of node's `parseArgs`. */
export type OptionTable = Readonly<
  Record<
    string,
    { readonly type: 'string' | 'boolean'; readonly multiple?: boolean; readonly short?: string }
  >
>

/** A command: what the help, the completion and the parsing of the command line need. */
export interface Verb {
  readonly summary: string
  /** Its sub-commands. */
  readonly words: readonly string[]
  readonly options: OptionTable
}

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const

const STORE = { store: TEXT } as const
const PROJECT = { project: TEXT } as const
const STATE = { state: FLAG } as const
const SERVER = { url: TEXT, key: TEXT } as const
/** For commands that work on a server or on a store. */
const PLACE = { ...STORE, ...SERVER, ...PROJECT } as const
/** For commands that print records. */
const JSON_LINES = { json: FLAG, jsonl: FLAG } as const
/** For commands that ask a server; `--store` is there to be refused with the reason. */
const AT_SERVER = { json: FLAG, ...PLACE } as const

const MESSAGE = { type: 'string', short: 'm' } as const
/** For commands that merge. */
const MERGING = { message: MESSAGE, take: TEXT, 'dry-run': FLAG, ...AT_SERVER } as const

/** The options of `testsets import`. */
export const IMPORT_OPTIONS = {
  ...{ slug: TEXT, name: TEXT, message: TEXT, infer: FLAG, type: TEXT },
  ...{ delimiter: TEXT, sheet: TEXT, 'allow-empty': FLAG, 'if-changed': FLAG },
  ...PLACE,
} as const

/** The options of `testsets export`. */
export const EXPORT_OPTIONS = {
  ...{ to: TEXT, force: FLAG, type: TEXT, variant: TEXT, version: TEXT, revision: TEXT },
  ...{ 'escape-formulas': FLAG, bom: FLAG },
  ...PLACE,
} as const

/** Every command, in the order of the help. Has no code, so that only the called command is loaded. */
export const VERBS = {
  serve: { summary: 'start a server', words: [], options: { memory: FLAG, port: TEXT, json: FLAG } },
  demo: { summary: "show a prompt's life on a server of its own", words: [], options: {} },
  login: {
    summary: 'store the address of a server and a key',
    words: [],
    options: { 'with-token': FLAG, insecure: FLAG, ...SERVER },
  },
  logout: { summary: 'forget the key for a server', words: [], options: { url: TEXT } },
  get: {
    summary: 'print a prompt, or another artifact',
    words: [],
    options: { message: TEXT, ...AT_SERVER },
  },
  list: {
    summary: 'list prompts and other artifacts',
    words: ['prompts', 'evaluators', 'testsets', 'environments', 'queries'],
    options: { limit: TEXT, archived: FLAG, ...AT_SERVER },
  },
  show: { summary: 'print the record of an artifact', words: [], options: AT_SERVER },
  log: { summary: 'list the versions of a variant', words: [], options: { limit: TEXT, ...AT_SERVER } },
  diff: { summary: 'print what changed between two versions', words: [], options: AT_SERVER },
  commit: {
    summary: 'commit a new version, or create a prompt',
    words: [],
    options: {
      ...{ message: MESSAGE, set: { ...TEXT, multiple: true }, file: TEXT, edit: FLAG },
      ...{ 'if-changed': FLAG, create: FLAG, template: TEXT, ...AT_SERVER },
    },
  },
  fork: { summary: 'make a variant that begins at a version', words: [], options: AT_SERVER },
  merge: { summary: 'merge a variant into another', words: [], options: MERGING },
  revert: { summary: 'undo what a version changed', words: [], options: MERGING },
  deploy: {
    summary: 'make an environment run a version',
    words: [],
    options: { message: MESSAGE, ...AT_SERVER },
  },
  rollback: {
    summary: 'deploy again what an environment ran before',
    words: [],
    options: { message: MESSAGE, ...AT_SERVER },
  },
  run: {
    summary: 'run a prompt, and print what it answers',
    words: [],
    options: { input: { ...TEXT, multiple: true }, inputs: TEXT, outputs: TEXT, ...AT_SERVER },
  },
  traces: {
    summary: 'list runs, and show how one went',
    words: ['list', 'show'],
    options: { failed: FLAG, limit: TEXT, ...AT_SERVER },
  },
  keys: {
    summary: 'make, list and revoke API keys',
    words: ['create', 'list', 'revoke', 'signing'],
    options: {
      ...{ name: TEXT, email: TEXT, scopes: TEXT, folders: TEXT, expires: TEXT, id: TEXT },
      ...PLACE,
      ...JSON_LINES,
    },
  },
  open: {
    summary: 'print a link that opens the page, signed in',
    words: [],
    options: { name: TEXT, id: TEXT, ...PLACE },
  },
  secrets: {
    summary: 'set, list and remove the secrets of a project',
    words: ['set', 'list', 'remove'],
    options: { provider: TEXT, 'base-url': TEXT, ...PLACE, ...JSON_LINES },
  },
  testsets: {
    summary: 'bring files of rows into testsets, and out of them',
    words: ['import', 'export'],
    options: { ...IMPORT_OPTIONS, ...EXPORT_OPTIONS },
  },
  evaluate: {
    summary: 'run a testset through an application and evaluators',
    words: [],
    options: {
      ...{ testset: TEXT, application: TEXT, evaluator: { ...TEXT, multiple: true }, commit: TEXT },
      ...{ concurrency: TEXT, threshold: TEXT, metric: TEXT, resume: TEXT, ...AT_SERVER },
    },
  },
  search: {
    summary: 'find artifacts, revisions and rows by their words',
    words: [],
    options: {
      kind: { ...TEXT, multiple: true },
      folder: TEXT,
      history: FLAG,
      archived: FLAG,
      limit: TEXT,
      ...PLACE,
      ...JSON_LINES,
    },
  },
  blame: {
    summary: 'print a text of a prompt, each line with who wrote it',
    words: [],
    options: { variant: TEXT, version: TEXT, ...PLACE, ...JSON_LINES },
  },
  mcp: {
    summary: 'let an agent use a server, over standard input and output (MCP)',
    words: [],
    options: { tools: TEXT, ...SERVER },
  },
  backup: {
    summary: 'mirror a store, or a server, into a folder',
    words: [],
    options: { to: TEXT, from: TEXT, ...STORE, ...SERVER, ...PROJECT, ...STATE },
  },
  restore: {
    summary: 'bring a backup into a store, or to a server',
    words: [],
    options: { from: TEXT, to: TEXT, ...STORE, ...SERVER, ...PROJECT, ...STATE },
  },
  verify: {
    summary: 'read a whole store and say what is wrong',
    words: [],
    options: { from: TEXT, repair: FLAG, 'second-reader': FLAG, ...STORE, ...PROJECT, ...JSON_LINES },
  },
  maintain: { summary: 'repack the repositories of a store', words: [], options: { ...STORE } },
  canonicalise: {
    summary: 'write the JSON files of a clone as the service does',
    words: [],
    options: {},
  },
  trash: {
    summary: 'remove artifacts, see what was removed, bring it back',
    words: ['list', 'delete', 'undelete', 'purge'],
    options: { kind: TEXT, ...PLACE, ...JSON_LINES },
  },
  completion: {
    summary: 'print what completes a command line in a shell',
    words: ['bash', 'zsh', 'fish'],
    options: {},
  },
} as const satisfies Readonly<Record<string, Verb>>

export type VerbName = keyof typeof VERBS

export function isVerb(name: string): name is VerbName {
  return Object.hasOwn(VERBS, name)
}
