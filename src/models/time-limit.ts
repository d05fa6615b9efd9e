/** What ends a call: nobody waits any more, or its time is over. */
export interface TimeLimit {
  /** The caller's. */
  readonly signal: AbortSignal
  readonly timeout: AbortSignal
  readonly timeoutMs: number
  /** Aborted by either. */
  readonly either: AbortSignal
}

/** Starts the clock of a call. */
export function timeLimit(signal: AbortSignal, timeoutMs: number): TimeLimit {
  const timeout = AbortSignal.timeout(timeoutMs)
  return { signal, timeout, timeoutMs, either: AbortSignal.any([signal, timeout]) }
}
