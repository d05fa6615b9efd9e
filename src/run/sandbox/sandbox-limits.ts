/** The limits for scripts. */
export interface SandboxLimits {
  /** The time limit of a call, in milliseconds. */
  readonly timeoutMs: number
  /** The memory of an interpreter with its script, in bytes. */
  readonly memoryBytes: number
  /** The maximum JSON text of a result, in bytes. */
  readonly resultBytes: number
  /** How many calls run at once. */
  readonly atOnce: number
  /** How many idle interpreters are kept for further calls of their scripts. */
  readonly warm: number
  /** How many calls of one owner may wait. */
  readonly queue: number
  /** How long an idle interpreter is kept, in milliseconds. */
  readonly idleMs: number
}

/** The defaults. */
export const SANDBOX_LIMITS: SandboxLimits = {
  timeoutMs: 10_000,
  memoryBytes: 256 * 1024 ** 2,
  resultBytes: 8 * 1024 ** 2,
  atOnce: 2,
  warm: 4,
  queue: 1000,
  idleMs: 5 * 60_000,
}
