import { type Logger, pino } from 'pino'

/** pino's levels, and `silent` for no log at all. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** The log of a process, and how to empty its buffer before the process ends. */
export interface Log {
  readonly logger: Logger
  /** Writes out what is buffered, at once. */
  flush(): void
  /** Resolves once what was said is written out: never where nobody reads it. */
  flushed(): Promise<void>
}

/**
 * A structured log (one JSON object a line, its `time` in milliseconds since 1970) to `target`: a file descriptor, standard output unless
 * given. Lines are buffered, so that no request waits for the log, and written at the latest after half a second or at exit.
 */
export function openLogger(level: LogLevel, target: number | string = 1): Log {
  const destination = pino.destination({ dest: target, sync: false, minLength: 16_000, periodicFlush: 500 })
  const logger = pino({ level, base: null, serializers: { err: plainError } }, destination)
  return {
    logger,
    flush: () => destination.flushSync(),
    // Not at once: a pipe that nobody reads would hold up the whole process.
    flushed: () => new Promise((resolve) => destination.flush(() => resolve())),
  }
}

/**
 * What the log has of an error. Nothing else of it: node hangs the bytes of a request that it cannot parse on the error, and the
 * key is among them.
 */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { name, message, stack, code, syscall, cause } = error as NodeJS.ErrnoException // fields that node's own errors have
  return {
    type: name,
    message,
    code,
    syscall,
    stack,
    ...(cause === undefined ? {} : { cause: plainError(cause) }),
  }
}
