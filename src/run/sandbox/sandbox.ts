import type { Json } from '../../base/json.ts'

/** Runs users' scripts in isolation: without files, network, environment, or scripts of other projects. */
export interface Sandbox {
  /**
   * Calls the script's `entryPoint` with `args` and answers its result; undefined for nothing (None, undefined). Throws a `SandboxFailure`.
   */
  run(job: SandboxJob): Promise<Json | undefined>
  /** Resolves when no script runs any more. */
  close(): Promise<void>
}

export interface SandboxJob {
  readonly runtime: 'python' | 'javascript' | 'typescript'
  readonly script: string
  readonly entryPoint: string
  readonly args: readonly Json[]
  /** Interpreters are kept for the owner's scripts, and never shared between owners. */
  readonly owner: string
  readonly signal: AbortSignal
}

/** Why a script gave no result; the message may be shown to the caller. */
export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure'
  readonly kind: SandboxFailureKind
  /** The stack trace in the script, one line each. */
  readonly stacktrace: readonly string[] | undefined

  constructor(kind: SandboxFailureKind, message: string, stacktrace?: readonly string[]) {
    super(message)
    this.kind = kind
    this.stacktrace = stacktrace
  }
}

/**
 * `entry`: there is no such function. `result`: the result is not JSON. `overloaded`: too many scripts wait. `aborted`: the call was aborted.
 */
export type SandboxFailureKind =
  'syntax' | 'entry' | 'exception' | 'result' | 'timeout' | 'memory' | 'output' | 'overloaded' | 'aborted'
