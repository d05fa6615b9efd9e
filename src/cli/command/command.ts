import type { Config } from '../../config.ts'
import type { ProgressOutput } from '../progress/show-progress.ts'

/** What a command gets from the shell. */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where the user is. */
  readonly folder: string
  readonly progress: ProgressOutput
  /** Says stop, at Ctrl-C and SIGTERM; only of a command that has `stopped`. */
  readonly signal: AbortSignal
  /** Writes a line to standard output. */
  readonly print: (line: string) => void
}

/** A command of `branchpoint`. */
export interface Command {
  /** What `--help` shows. */
  readonly usage: string
  /** What `--help` shows after a sub-command that has a page of its own. */
  readonly usageOf?: Readonly<Record<string, string>>
  /** Whether it shows its usage where it is called without anything. */
  readonly needsWords?: boolean
  /** What is said after Ctrl-C. A command without it ends at once. */
  readonly stopped?: (args: readonly string[]) => string
  /** The exit code where it could not do its work, for whatever reason; unless given 2 for wrong use, else 1. */
  readonly failed?: number
  /** Answers the exit code: 0 done, 1 something was found. Throws what `isExpected` knows where it refuses. */
  run(args: readonly string[], shell: Shell): Promise<number>
}

/** What a command that opens a store works with. */
export interface Surroundings extends Pick<Shell, 'progress' | 'signal'> {
  readonly config: Config
}
