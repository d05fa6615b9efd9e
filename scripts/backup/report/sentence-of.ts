import { Refusal } from '../../../src/errors.ts'
import { GitFailure } from '../../../src/git/process/git-process.ts'
import { systemProblem } from '../../command/system-problem.ts'

/** What kept one repository from being done, in a sentence; any other error is none of that, and is thrown on. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Refusal || error instanceof GitFailure) return error.message
  const problem = systemProblem(error)
  if (problem === undefined) throw error
  return (error as Error).message
}
