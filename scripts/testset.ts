import { ConfigError, readConfig } from '../src/config.ts'
import { Refusal } from '../src/errors.ts'
import { EXPORT_USAGE, exportCommand } from './testset/export-command.ts'
import { IMPORT_USAGE, importCommand } from './testset/import-command.ts'
import { systemProblem } from './command/system-problem.ts'
import { UsageError } from './command/usage-error.ts'

const USAGE = `Files of rows into testsets, and out of them, past the server.

${IMPORT_USAGE}

${EXPORT_USAGE}`

const stop = new AbortController()
/** 128 and the signal's number, as shells have it. */
let stopCode = 0

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(code)
    stopCode = code
    stop.abort()
  })
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  process.exitCode = report(error)
}

async function run([command, ...args]: readonly string[]): Promise<void> {
  const asksHelp = args.includes('--help') || args.includes('-h')
  if (command === undefined || command === '--help' || command === '-h') return print(USAGE)
  if (command !== 'import' && command !== 'export')
    throw new UsageError(`There is no command "${command}".`, USAGE)
  if (asksHelp) return print(command === 'import' ? IMPORT_USAGE : EXPORT_USAGE)
  const around = { config: readConfig(process.env), progress: process.stderr, signal: stop.signal }
  if (command === 'import') return print(await importCommand(args, around))
  const { line, toStandardOutput } = await exportCommand(args, around)
  if (toStandardOutput) process.stderr.write(`${line}\n`)
  else print(line)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Says what went wrong, in one sentence if it was to be expected, and answers the exit code. */
function report(error: unknown): number {
  if (stop.signal.aborted && error instanceof Error && error.name === 'AbortError') {
    process.stderr.write(process.argv[2] === 'import' ? 'Stopped; nothing was stored.\n' : 'Stopped.\n')
    return stopCode
  }
  const isRefused = error instanceof Refusal || error instanceof ConfigError || error instanceof UsageError
  if (isRefused) process.stderr.write(`${error.message}\n`)
  else if (systemProblem(error) === undefined) throw error
  // Whoever read standard output has enough of it, and wants no sentence.
  else if ((error as NodeJS.ErrnoException).code !== 'EPIPE')
    process.stderr.write(`${(error as Error).message}\n`)
  return 1
}
