import type { Json } from '../../../base/json.ts'
import { SandboxFailure, type SandboxJob } from '../../sandbox/sandbox.ts'
import type { HandlerContext } from '../handler.ts'
import { type FailureId, HandlerFailure } from '../handler-failure.ts'
import { givenResult, normaliseResult, ResultProblem, type ResultVersion } from './normalise-result.ts'

/** A run of a user's script. */
export interface ScriptRun {
  readonly runtime: SandboxJob['runtime']
  readonly script: string
  readonly args: readonly Json[]
  readonly version: ResultVersion
  readonly threshold: number
  /** Whether the result is a verdict; otherwise it becomes the outputs unchanged. */
  readonly judges: boolean
  /** The id of the failure if the script fails or its result is invalid. */
  readonly failure: FailureId
}

/** Runs the script's `evaluate` and returns its outputs. Throws a `HandlerFailure` if the script fails. */
export async function runScript(run: ScriptRun, context: HandlerContext): Promise<Json> {
  const { runtime, script, args, version, threshold, judges, failure } = run
  const { project: owner, untilGone, sandbox } = context
  try {
    const result = await sandbox.run({
      runtime,
      script,
      entryPoint: 'evaluate',
      args,
      owner,
      signal: untilGone(),
    })
    return judges ? normaliseResult(result, version, threshold) : givenResult(result)
  } catch (error) {
    if (error instanceof SandboxFailure) throw new HandlerFailure(failure, error.message, error.stacktrace)
    if (error instanceof ResultProblem) throw new HandlerFailure(failure, error.message)
    throw error
  }
}
