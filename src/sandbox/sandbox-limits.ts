/** How much a sandbox gives to scripts. */
export interface SandboxLimits {
  /** How long one call may take, in milliseconds. */
  readonly timeoutMs: number
  /** The memory of one interpreter with the script in it, in bytes. */
  readonly memoryBytes: number
  /** The longest JSON text that a call may answer with, in bytes. */
  readonly resultBytes: number
  /** How many calls go on at once. */
  readonly atOnce: number
  /** How many interpreters are kept that have served a script and wait for the next call of it. */
  readonly warm: number
  /** How many calls of one owner may wait. */
  readonly queue: number
  /** How long an interpreter is kept without a call, in milliseconds. */
  readonly idleMs: number
}

/** What is given where nothing else is said. */
export const SANDBOX_LIMITS: SandboxLimits = {
  timeoutMs: 10_000,
  memoryBytes: 256 * 1024 ** 2,
  resultBytes: 8 * 1024 ** 2,
  atOnce: 2,
  warm: 4,
  queue: 1000,
  idleMs: 5 * 60_000,
}
