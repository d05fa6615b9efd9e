import type { GitConfig } from './git-environment.ts'
import { gitEnvironment } from './git-environment.ts'
import { runGit } from './git-child.ts'

/** The git program said no; the message is its own last word. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null) {
    super(message)
    this.exitCode = exitCode
  }
}

export interface GitCommand {
  readonly gitdir: string
  /** Goes to its standard input. */
  readonly input?: string
  /** Settings for this run, which no list of processes shows. */
  readonly config?: GitConfig
  /** Once aborted, git is stopped and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Runs the git program in a repository. Rejects with a GitFailure unless it ends with exit code 0. */
export async function gitCommand(
  args: readonly string[],
  { gitdir, input, config, signal }: GitCommand,
): Promise<void> {
  const { code, complaint } = await runGit({
    args: [`--git-dir=${gitdir}`, ...args],
    env: gitEnvironment(config),
    input: input === undefined ? undefined : [input],
    signal,
  }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new GitFailure('There is no git program on the PATH.', null) : error
  })
  if (code !== 0) throw new GitFailure(lastWord(complaint) || `git ended with ${code}`, code)
}

function lastWord(complaint: string): string {
  const lines = complaint.split('\n').filter((line) => line.trim() !== '')
  const last = lines.findLast((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1) ?? ''
  return last.replace(/^(?:fatal|error): /, '')
}
