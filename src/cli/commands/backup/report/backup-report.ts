/** What a command did. */
export interface Report {
  /** For standard output. */
  readonly lines: readonly string[]
  /** What could not be done while the rest went on, each by name: for standard error, and exit code 1. */
  readonly failures: readonly string[]
}
