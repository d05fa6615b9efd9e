import { CannotStart, Refusal } from '../../errors.ts'
import { GitFailure } from '../../git/program.ts'
import { NoAnswer } from './ask-server.ts'
import { systemProblem } from './system-problem.ts'
import { UsageError } from './usage-error.ts'

/** Whether an error is a normal way for a command to end, and not a bug. */
export function isExpected(error: unknown): error is Error {
  return (
    [Refusal, NoAnswer, GitFailure, CannotStart, UsageError].some((kind) => error instanceof kind) ||
    systemProblem(error) !== undefined
  )
}
