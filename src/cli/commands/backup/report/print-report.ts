import type { Shell } from '../../../command/command.ts'
import type { Report } from './backup-report.ts'

/** Prints what was done, and to standard error what could not be; answers the exit code, 1 if there is any of that. */
export function printReport({ lines, failures }: Report, { print }: Pick<Shell, 'print'>): number {
  for (const line of lines) print(printable(line))
  process.stderr.write(failures.map((line) => `failed: ${printable(line)}\n`).join(''))
  return failures.length > 0 ? 1 : 0
}

/** A terminal obeys what a server put into a sentence. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, '?')
}
