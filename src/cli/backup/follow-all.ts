import { Refusal } from '../../errors.ts'
import { GitFailure } from '../../git/program.ts'
import { availableParallelism } from 'node:os'
import { systemProblem } from '../command/system-problem.ts'
import { showProgress, type ProgressOutput } from '../command/show-progress.ts'
import { type RepositoryName, nameOf } from './repository-name.ts'

export interface Followed<T extends RepositoryName> {
  readonly repositories: readonly T[]
  /** The family whose repositories are finished before any other begins. */
  readonly first: string
  readonly progress: ProgressOutput
  readonly signal: AbortSignal
  /** Handles one repository; answers whether something was changed. */
  readonly work: (repository: T) => Promise<boolean>
}

/**
 * Runs the work for every repository, several at once, and shows the progress. Failures are answered as sentences while the rest goes on.
 * Rejects with an AbortError when the signal is aborted.
 */
export async function followAll<T extends RepositoryName>(followed: Followed<T>): Promise<string[]> {
  const { repositories, first, progress, signal, work } = followed
  const failures: string[] = []
  let done = 0
  let changed = 0
  const stopShowing = showProgress(progress, () => repositoriesLine(done, repositories.length, changed))
  const one = async (repository: T): Promise<void> => {
    signal.throwIfAborted()
    try {
      if (await work(repository)) changed++
    } catch (error) {
      if (signal.aborted) throw signal.reason
      failures.push(`${nameOf(repository)}: ${sentenceOf(error)}`)
    }
    done++
  }
  try {
    await inParallel(
      repositories.filter(({ family }) => family === first),
      REPOSITORIES_AT_ONCE,
      one,
    )
    await inParallel(
      repositories.filter(({ family }) => family !== first),
      REPOSITORIES_AT_ONCE,
      one,
    )
  } finally {
    stopShowing()
  }
  return failures
}

/** Each fetch is several processes, which mostly wait for each other. */
const REPOSITORIES_AT_ONCE = Math.max(2, Math.min(4, availableParallelism()))

/** `[####......]  42 %  120 of 285 repositories  3 changed`. */
export function repositoriesLine(done: number, total: number, changed: number): string {
  const share = total === 0 ? 1 : done / total
  const filled = Math.floor(share * BAR)
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
  return `${bar}  ${done.toLocaleString('en')} of ${total.toLocaleString('en')} repositories  ${changed.toLocaleString('en')} changed`
}

const BAR = 10

/** The message of an error that concerns one repository; throws any other error again. */
function sentenceOf(error: unknown): string {
  if (error instanceof Refusal || error instanceof GitFailure) return error.message
  const problem = systemProblem(error)
  if (problem === undefined) throw error
  return (error as Error).message
}

/** Runs the work for all items, at most `atOnce` together, in order. After a failure it starts no more and throws the first error. */
async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  let hasFailed = false
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (hasFailed) return
      try {
        await work(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  const failed = ended.find((it) => it.status === 'rejected')
  if (failed) throw failed.reason
}
