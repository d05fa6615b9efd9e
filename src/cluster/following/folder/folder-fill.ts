import { setTimeout as pause } from 'node:timers/promises'
import type { Filling, FillProgress } from '../../../git/transactions.ts'
import { type Copy, placeOf } from './copy.ts'
import { type Repaired, repositoriesIn, takeStates } from './repair.ts'

const MAX_REPOSITORIES_PER_STEP = 16
const MAX_STEP_MS = 50

/** Up to this many repositories, the copy is completed before the server starts to serve; that takes a few seconds. */
const MAX_REPOSITORIES_BEFORE_SERVING = 1000

const MS_BEFORE_RETRY = 1000

/** The dependencies of a fill. */
interface FillParts {
  readonly copy: Copy
  /** Runs work while nothing else changes the folder. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>
  /** Called with the repositories that were added. */
  readonly onTaken: (repaired: Repaired) => void
}

/**
 * Copies the repositories of a log into a folder in the background, while the server serves and follows those already there. Goes in the
 * order of names; a repository that a request names comes first.
 */
export class FolderFill implements Filling {
  readonly whole: Promise<void>
  readonly #parts: FillParts
  #isWhole: () => void = () => undefined
  #last: string
  #there = 0
  #of = 0
  #problem: string | undefined
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined

  /** Starts after `last`: the folder already has all repositories up to that name. */
  constructor(parts: FillParts, last: string) {
    this.#parts = parts
    this.#last = last
    this.whole = new Promise((resolve) => (this.#isWhole = resolve))
  }

  /** The folder has all repositories up to this name. */
  get last(): string {
    return this.#last
  }

  progress(): FillProgress {
    return { there: Math.min(this.#there, this.#of), of: this.#of, problem: this.#problem }
  }

  /** Resolves when the copy is complete, or, with many repositories, when the background copy has started. */
  async begin(): Promise<void> {
    const { copy, alone } = this.#parts
    this.#of = await copy.log.count()
    this.#there = this.#last === '' ? 0 : repositoriesIn(copy).length
    if (this.#of > MAX_REPOSITORIES_BEFORE_SERVING) this.#running = this.#run()
    else while (!(await alone(() => this.#step())));
  }

  async bring(project: string, name: string): Promise<readonly string[]> {
    const { copy, alone, onTaken } = this.#parts
    const named = await copy.log.named(project, name)
    const lacking = (): string[] => named.filter((it) => placeOf(copy, it) === undefined)
    if (lacking().length > 0)
      await alone(async () => onTaken(await takeStates(copy, await copy.log.states(lacking()))))
    return named
  }

  /** Whether the fill has yet to add this repository, in its then current state. */
  isToCome(repository: string): boolean {
    const isBehind = Buffer.compare(Buffer.from(repository), Buffer.from(this.#last)) > 0
    return isBehind && placeOf(this.#parts.copy, repository) === undefined
  }

  /** Starts over, because repositories may have been replaced or removed. Those already in the folder are skipped. */
  beginAgain(): void {
    this.#last = ''
    this.#there = 0
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        if (await this.#parts.alone(() => this.#step())) return
        this.#problem = undefined
      } catch (error) {
        this.#problem = error instanceof Error ? error.message : String(error)
        await pause(MS_BEFORE_RETRY, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /**
   * Adds the next few repositories; true when none is left. Nothing else changes the folder meanwhile, so later decisions are applied after
   * the states that are read here.
   */
  async #step(): Promise<boolean> {
    const { copy, onTaken } = this.#parts
    const began = performance.now()
    const states = await copy.log.statesBehind(this.#last, MAX_REPOSITORIES_PER_STEP)
    for (const [repository, state] of states) {
      if (placeOf(copy, repository) === undefined)
        onTaken(await takeStates(copy, new Map([[repository, state]])))
      this.#there++
      this.#last = repository
      // End the step after a large repository.
      if (performance.now() - began > MAX_STEP_MS) return false
    }
    if (states.size > 0) return false
    this.#isWhole()
    return true
  }
}
