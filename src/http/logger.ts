import { type Logger, pino } from 'pino'

/** pino's levels, and `silent` for no log at all. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** The log of a process, with ways to empty its buffer before the process ends. */
export interface Log {
  readonly logger: Logger
  /** Writes the buffer synchronously. */
  flush(): void
  /** Resolves once the buffer is written; never if nothing reads the log. */
  flushed(): Promise<void>
}

/**
 * Opens a structured log (one JSON object per line, `time` in milliseconds since 1970) to `target`: a file
 * descriptor or path, by default standard output. Lines are buffered so that no request waits for the log,
 * and written within half a second or at exit.
 */
export function openLogger(level: LogLevel, target: number | string = 1): Log {
  const destination = pino.destination({ dest: target, sync: false, minLength: 16_000, periodicFlush: 500 })
  const logger = pino({ level, base: null, serializers: { err: plainError } }, destination)
  return {
    logger,
    flush: () => destination.flushSync(),
    // Not synchronous: a pipe that nothing reads would block the whole process.
    flushed: () => new Promise((resolve) => destination.flush(() => resolve())),
  }
}

/**
 * The logged part of an error. Nothing else is logged: node attaches the bytes of an unparsable request,
 * which include the key, to its error.
 */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { name, message, stack, code, syscall, cause } = error as NodeJS.ErrnoException // node's own errors have these fields
  return {
    type: name,
    message,
    code,
    syscall,
    stack,
    ...(cause === undefined ? {} : { cause: plainError(cause) }),
  }
}
