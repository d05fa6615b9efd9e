/** The result of a command. */
export interface Report {
  /** For standard output. */
  readonly lines: readonly string[]
  /** What failed while the rest went on, one line each: for standard error, and exit code 1. */
  readonly failures: readonly string[]
}
