import { inspect } from 'node:util'
import type { Command, Shell } from './command/command.ts'
import { NoAnswer } from './command/ask-server.ts'
import { isExpected } from './command/is-expected.ts'
import { unknownWord } from './command/read-arguments.ts'
import { textTable } from './command/text-table.ts'
import { page, type Terminal, terminalOf } from './command/terminal.ts'
import { UsageError } from './command/usage-error.ts'
import type { VerbName } from './command/verbs.ts'
import { isVerb, VERBS } from './command/verbs.ts'
import { versions } from './command/versions.ts'

const WRONG_USE = 2
const NO_ANSWER = 128

/** Only the called command is loaded; few commands need the code of the server. */
const LOAD: Readonly<Record<VerbName, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
  login: async () => (await import('./commands/login.ts')).loginCommand,
  logout: async () => (await import('./commands/login.ts')).logoutCommand,
  get: async () => (await import('./commands/get.ts')).getCommand,
  list: async () => (await import('./commands/list.ts')).listCommand,
  show: async () => (await import('./commands/show.ts')).showCommand,
  log: async () => (await import('./commands/log.ts')).logCommand,
  diff: async () => (await import('./commands/diff.ts')).diffCommand,
  commit: async () => (await import('./commands/commit.ts')).commitCommand,
  fork: async () => (await import('./commands/fork.ts')).forkCommand,
  merge: async () => (await import('./commands/merge.ts')).mergeCommand,
  revert: async () => (await import('./commands/merge.ts')).revertCommand,
  deploy: async () => (await import('./commands/deploy.ts')).deployCommand,
  rollback: async () => (await import('./commands/deploy.ts')).rollbackCommand,
  run: async () => (await import('./commands/run.ts')).runCommand,
  traces: async () => (await import('./commands/traces.ts')).tracesCommand,
  keys: async () => (await import('./commands/keys.ts')).keysCommand,
  open: async () => (await import('./commands/open.ts')).openCommand,
  secrets: async () => (await import('./commands/secrets.ts')).secretsCommand,
  testsets: async () => (await import('./commands/testsets.ts')).testsetsCommand,
  evaluate: async () => (await import('./commands/evaluate.ts')).evaluateCommand,
  search: async () => (await import('./commands/search.ts')).searchCommand,
  blame: async () => (await import('./commands/blame.ts')).blameCommand,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
  backup: async () => (await import('./commands/backup.ts')).backupCommand,
  restore: async () => (await import('./commands/restore.ts')).restoreCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  maintain: async () => (await import('./commands/maintain.ts')).maintainCommand,
  canonicalise: async () => (await import('./commands/canonicalise.ts')).canonicaliseCommand,
  trash: async () => (await import('./commands/trash.ts')).trashCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
}

/** Runs `branchpoint` with these arguments, and sets the exit code of the process if it is not 0. */
export async function runCommandLine([verb, ...args]: readonly string[]): Promise<void> {
  if (verb === undefined || isHelp(verb)) return print(help())
  if (verb === '--version') return print(await versions(process.env))
  if (isVerb(verb)) return runCommand(await LOAD[verb](), args)
  process.stderr.write(`${unknownWord(verb, Object.keys(VERBS), help()).message}\n`)
  process.exitCode = WRONG_USE
}

async function runCommand(command: Command, args: readonly string[]): Promise<void> {
  if (args.some(isHelp)) return print(command.usageOf?.[args[0] ?? ''] ?? command.usage)
  if (args.length === 0 && command.needsWords) return print(command.usage)
  const stop = new AbortController()
  const stopCode = command.stopped ? abortOnSignals(stop) : () => 0
  const shell: Shell = {
    environment: process.env,
    folder: process.cwd(),
    progress: process.stderr,
    signal: stop.signal,
    get terminal() {
      return terminalOf(standardOutput(), process.env)
    },
    print,
    show: (text) => show(text, terminalOf(standardOutput(), process.env)),
  }
  try {
    const code = await command.run(args, shell)
    if (code !== 0) process.exitCode = code
  } catch (error) {
    if (stop.signal.aborted && error instanceof Error && error.name === 'AbortError') {
      process.stderr.write(`${command.stopped?.(args) ?? ''}\n`)
      process.exitCode = stopCode()
      return
    }
    if (!isExpected(error) && command.failed === undefined) throw error
    // EPIPE: the reader of standard output has ended, so no message is needed.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE'))
      process.stderr.write(`${isExpected(error) ? error.message : inspect(error)}\n`)
    process.exitCode =
      command.failed ?? (error instanceof UsageError ? WRONG_USE : error instanceof NoAnswer ? NO_ANSWER : 1)
  }
}

/** The first signal aborts, a second one ends the process. Answers the exit code: 128 plus the signal's number, as in shells. */
function abortOnSignals(stop: AbortController): () => number {
  let code = 0
  for (const [signal, its] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(its)
      code = its
      stop.abort()
    })
  }
  return () => code
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h'
}

/** Shown beside a command; more would make the list too wide. */
const MOST_WORDS = 4

function help(): string {
  const verbs = Object.entries(VERBS).map(([name, { words, summary }]) => [
    `  ${name} ${words.length > MOST_WORDS ? '' : words.join('|')}`.trimEnd(),
    summary,
  ])
  return `branchpoint COMMAND [ARGUMENTS]: a registry in which every artifact is a git repository.

${textTable(verbs)}

branchpoint COMMAND --help says more of a command. Exit code 0: done; 1: something was found or refused; 2: wrong use; 128: no
answer from the server. branchpoint --version prints the versions of program and server.`
}

function print(text: string): void {
  standardOutput().write(`${text}\n`)
}

/**
 * Opened when a command first needs it: a server writes its log to the same file descriptor, and could not end while nobody reads the log if
 * node had made that blocking. A reader that has ended, such as head, wants no more: what is left is not written, and the command goes on.
 */
function standardOutput(): NodeJS.WriteStream {
  const { stdout } = process
  if (stdout.listenerCount('error') === 0) stdout.on('error', throwUnlessClosed)
  return stdout
}

async function show(text: string, { pager, rows = 0 }: Terminal): Promise<void> {
  if (pager === undefined || text.split('\n').length < rows) print(text)
  else await page(pager, `${text}\n`, process.env)
}

function throwUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
