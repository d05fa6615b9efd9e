import { setTimeout as pause } from 'node:timers/promises'
import type { Filling, FillProgress } from '../../transactions/arbiter.ts'
import { type Copy, placeOf } from './copy.ts'
import { type Repaired, repositoriesIn, takeStates } from './repair.ts'

/** So many repositories are taken in at most, and for so long (milliseconds), before other work on the folder gets its turn. */
const STEP = 16
const STEP_MS = 50

/** With no more repositories than so many a folder is filled before it is served: that takes some seconds. */
const FEW = 1000

/** How long (milliseconds) after a failure it is tried again. */
const AFTER_FAILURE = 1000

/** What the fill of a folder stands on. */
interface FillParts {
  readonly copy: Copy
  /** Does some work while nothing else is put into the folder. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>
  /** Is told what was taken in. */
  readonly onTaken: (repaired: Repaired) => void
}

/**
 * Takes what a log holds into a folder that has nothing of it, or a part, while what is there is served and followed: one repository after
 * the other in the order of their names, and whatever is asked for by a name before its turn.
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

  /** All repositories up to `last`, in the order of their names, are in the folder already. */
  constructor(parts: FillParts, last: string) {
    this.#parts = parts
    this.#last = last
    this.whole = new Promise((resolve) => (this.#isWhole = resolve))
  }

  /** All repositories up to this one are in the folder. */
  get last(): string {
    return this.#last
  }

  progress(): FillProgress {
    return { there: Math.min(this.#there, this.#of), of: this.#of, problem: this.#problem }
  }

  /** Resolves when the folder is whole; that of many repositories fills on while it is served. */
  async begin(): Promise<void> {
    const { copy, alone } = this.#parts
    this.#of = await copy.log.count()
    this.#there = this.#last === '' ? 0 : repositoriesIn(copy).length
    if (this.#of > FEW) this.#running = this.#run()
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

  /** Whether a repository that is not in the folder comes with the fill, as it is then. */
  isToCome(repository: string): boolean {
    const isBehind = Buffer.compare(Buffer.from(repository), Buffer.from(this.#last)) > 0
    return isBehind && placeOf(this.#parts.copy, repository) === undefined
  }

  /** Goes through all again: what there was before may be another one now, and some of it may be gone. What is there is passed by. */
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
        await pause(AFTER_FAILURE, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /**
   * Takes in the next few. Their states are read while nothing else is put into the folder: what is decided later is followed later.
   * Whether there were none any more.
   */
  async #step(): Promise<boolean> {
    const { copy, onTaken } = this.#parts
    const began = performance.now()
    const states = await copy.log.statesBehind(this.#last, STEP)
    for (const [repository, state] of states) {
      if (placeOf(copy, repository) === undefined)
        onTaken(await takeStates(copy, new Map([[repository, state]])))
      this.#there++
      this.#last = repository
      // A large one is not followed by others.
      if (performance.now() - began > STEP_MS) return false
    }
    if (states.size > 0) return false
    this.#isWhole()
    return true
  }
}
