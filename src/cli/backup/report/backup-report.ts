/** The result of a command. */
export interface Report {
  /** For standard output. */
  readonly lines: readonly string[]
  /** Failures, one line each, for standard error and exit code 1; the rest of the work was done. */
  readonly failures: readonly string[]
}
