import { inspect } from 'node:util'
import type { Command, Shell } from './command/command.ts'
import { isExpected } from './command/is-expected.ts'
import { unknownWord } from './command/read-arguments.ts'
import { textTable } from './command/text-table.ts'
import { UsageError } from './command/usage-error.ts'
import type { VerbName } from './command/verbs.ts'
import { isVerb, VERBS } from './command/verbs.ts'

const WRONG_USE = 2

/** Only the called command is loaded; few commands need the code of the server. */
const LOAD: Readonly<Record<VerbName, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
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
    print,
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
    process.exitCode = command.failed ?? (error instanceof UsageError ? WRONG_USE : 1)
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

function help(): string {
  const verbs = Object.entries(VERBS).map(([name, { words, summary }]) => [
    `  ${[name, words.join('|')].join(' ').trim()}`,
    summary,
  ])
  return `branchpoint COMMAND [ARGUMENTS]: a registry in which every artifact is a git repository.

${textTable(verbs)}

branchpoint COMMAND --help says more of a command. Exit code 0: done; 1: something was found or refused; above 1: wrong use.`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
