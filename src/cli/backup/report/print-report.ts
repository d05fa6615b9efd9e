import type { Shell } from '../../command/command.ts'
import type { Report } from './backup-report.ts'

/** Prints the result, and failures to standard error; answers the exit code, 1 if there are failures. */
export function printReport({ lines, failures }: Report, { print }: Pick<Shell, 'print'>): number {
  for (const line of lines) print(printable(line))
  process.stderr.write(failures.map((line) => `failed: ${printable(line)}\n`).join(''))
  return failures.length > 0 ? 1 : 0
}

/** Replaces control characters, because the terminal would obey those in a server's message. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, '?')
}
