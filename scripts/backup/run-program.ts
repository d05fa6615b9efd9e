import { readConfig } from '../../src/config.ts'
import { isExpected } from '../command/is-expected.ts'
import type { Report } from './report/backup-report.ts'
import type { Surroundings } from './surroundings.ts'

export interface Program {
  readonly usage: string
  /** What is said after Ctrl-C. */
  readonly stopped: string
  readonly command: (args: readonly string[], around: Surroundings) => Promise<Report>
}

/** Runs a command as a program: its report to standard output, failures to standard error, exit code 1 if there are any. */
export async function runProgram({ usage, stopped, command }: Program): Promise<void> {
  const args = process.argv.slice(2)
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`)
    return
  }
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
    const { env: environment, stderr: progress } = process
    const around = { config: readConfig(environment), environment, progress, signal: stop.signal }
    const { lines, failures } = await command(args, around)
    process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''))
    process.stderr.write(failures.map((line) => `failed: ${printable(line)}\n`).join(''))
    if (failures.length > 0) process.exitCode = 1
  } catch (error) {
    if (stop.signal.aborted && error instanceof Error && error.name === 'AbortError') {
      process.stderr.write(`${stopped}\n`)
      process.exitCode = stopCode
      return
    }
    if (!isExpected(error)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

/** A terminal obeys what a server put into a sentence. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, '?')
}
