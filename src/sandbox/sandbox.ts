import type { Json } from '../json/json.ts'

/** Runs scripts that users wrote where they reach nothing: no file, no network, no environment, no other project's script. */
export interface Sandbox {
  /**
   * Calls the script's `entryPoint` with `args` and answers what it returns; undefined for nothing (None, undefined). Throws a
   * `SandboxFailure`.
   */
  run(job: SandboxJob): Promise<Json | undefined>
  /** Resolves once nothing runs any more. */
  close(): Promise<void>
}

export interface SandboxJob {
  readonly runtime: 'python' | 'javascript' | 'typescript'
  readonly script: string
  readonly entryPoint: string
  readonly args: readonly Json[]
  /** Interpreters are kept warm for a script of an owner, and never shared between owners. */
  readonly owner: string
  readonly signal: AbortSignal
}

/** Why a script gave no answer; the message says so in words that may be shown to whoever asked. */
export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure'
  readonly kind: SandboxFailureKind
  /** Where it happened in the script, a line each. */
  readonly stacktrace: readonly string[] | undefined

  constructor(kind: SandboxFailureKind, message: string, stacktrace?: readonly string[]) {
    super(message)
    this.kind = kind
    this.stacktrace = stacktrace
  }
}

/** `entry` there is no such function; `result` what it returned is no JSON; `overloaded` too many scripts wait; `aborted` nobody waits. */
export type SandboxFailureKind =
  'syntax' | 'entry' | 'exception' | 'result' | 'timeout' | 'memory' | 'output' | 'overloaded' | 'aborted'
