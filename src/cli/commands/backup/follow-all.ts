import { Refusal } from '../../../errors.ts'
import { GitFailure } from '../../../git/process/git-process.ts'
import { availableParallelism } from 'node:os'
import { systemProblem } from '../../command/system-problem.ts'
import { showProgress, type ProgressOutput } from '../../progress/show-progress.ts'
import { type RepositoryName, nameOf } from './repository-name.ts'

export interface Followed<T extends RepositoryName> {
  readonly repositories: readonly T[]
  /** Repositories of this family are all done before any other is begun. */
  readonly first: string
  readonly progress: ProgressOutput
  readonly signal: AbortSignal
  /** What is done with each; true if there was anything to do. */
  readonly work: (repository: T) => Promise<boolean>
}

/**
 * Does something with every repository, some at once, and shows how far it is; what fails is answered as sentences, while the others go
 * on. Rejects with an AbortError once somebody says stop.
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
      AT_ONCE,
      one,
    )
    await inParallel(
      repositories.filter(({ family }) => family !== first),
      AT_ONCE,
      one,
    )
  } finally {
    stopShowing()
  }
  return failures
}

/** A fetch is several processes, which mostly wait for each other. */
const AT_ONCE = Math.max(2, Math.min(4, availableParallelism()))

/** `[####......]  42 %  120 of 285 repositories  3 changed`. */
export function repositoriesLine(done: number, total: number, changed: number): string {
  const share = total === 0 ? 1 : done / total
  const filled = Math.floor(share * BAR)
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
  return `${bar}  ${done.toLocaleString('en')} of ${total.toLocaleString('en')} repositories  ${changed.toLocaleString('en')} changed`
}

const BAR = 10

/** What kept one repository from being done, in a sentence; any other error is none of that, and is thrown on. */
function sentenceOf(error: unknown): string {
  if (error instanceof Refusal || error instanceof GitFailure) return error.message
  const problem = systemProblem(error)
  if (problem === undefined) throw error
  return (error as Error).message
}

/** Does the work for every item, so many at once, beginning them in order; fails as the first that fails, and begins no more then. */
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
