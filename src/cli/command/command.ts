import type { Config } from '../../config.ts'
import type { ProgressOutput } from './show-progress.ts'
import type { Terminal } from './terminal.ts'

/** The shell as a command sees it. */
export interface Shell {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The working directory. */
  readonly folder: string
  readonly progress: ProgressOutput
  /** Aborted at Ctrl-C and SIGTERM, for commands that have `stopped`. */
  readonly signal: AbortSignal
  /** Standard output. */
  readonly terminal: Terminal
  /** Writes a line to standard output. */
  readonly print: (line: string) => void
  /** Writes lines to standard output, on a terminal with the pager if they do not fit. */
  readonly show: (text: string) => Promise<void>
}

/** A command of `branchpoint`. */
export interface Command {
  /** Shown by `--help`. */
  readonly usage: string
  /** Shown by `--help` after a sub-command that has a page of its own. */
  readonly usageOf?: Readonly<Record<string, string>>
  /** Whether a call without arguments shows the usage. */
  readonly needsWords?: boolean
  /** The message after Ctrl-C. A command without it ends at once. */
  readonly stopped?: (args: readonly string[]) => string
  /** The exit code of a failure of any kind. By default 2 for wrong use, else 1. */
  readonly failed?: number
  /** Answers the exit code: 0 done, 1 something was found. Throws errors that `isExpected` accepts to refuse. */
  run(args: readonly string[], shell: Shell): Promise<number>
}

export interface Surroundings extends Pick<Shell, 'progress' | 'signal'> {
  readonly config: Config
}
