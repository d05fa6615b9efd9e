import type { Json } from '../../json/json.ts'
import { SandboxFailure, type SandboxJob } from '../../sandbox/sandbox.ts'
import type { HandlerContext } from '../handler.ts'
import { type FailureId, HandlerFailure } from '../handler-failure.ts'
import { givenResult, normaliseResult, ResultProblem, type ResultVersion } from './normalise-result.ts'

/** A run of a script of the user's. */
export interface ScriptRun {
  readonly runtime: SandboxJob['runtime']
  readonly script: string
  readonly args: readonly Json[]
  readonly version: ResultVersion
  readonly threshold: number
  /** Whether what is returned is a verdict; else it is the outputs as it is. */
  readonly judges: boolean
  /** What it is called if the script fails, or returns what is of no use. */
  readonly failure: FailureId
}

/** The outputs that what the script's `evaluate` returns stands for. A script that fails is a `HandlerFailure`. */
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
