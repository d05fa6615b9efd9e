import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { UsageError } from '../../../src/cli/command/usage-error.ts'
import { systemProblem } from '../../../src/cli/command/system-problem.ts'
import { figure } from './figure.ts'
import { machine } from '../machine.ts'

/** What `--json` keeps of a run and `--compare` reads. */
export const report = z.object({ machine, figures: z.array(figure) })

export type Report = z.infer<typeof report>

/** The report in a file. Throws a UsageError that says why it is none. */
export function readReport(file: string, usage: string): Report {
  try {
    return report.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new UsageError(
      `${file} cannot be compared with: ${problemOf(error)}. Name a file that --json wrote.`,
      usage,
    )
  }
}

function problemOf(error: unknown): string {
  const problem = systemProblem(error)
  if (problem !== undefined) return problem
  if (!(error instanceof z.ZodError)) return 'it is not JSON'
  const [issue] = error.issues
  return `it is no report of a bench (${issue?.path.join('.') || 'the whole'}: ${issue?.message})`
}
