import { Refusal } from '../../errors.ts'
import { FairQueue } from '../../scheduling/fair-queue.ts'
import type { Spools } from '../body/spool.ts'

/** How many of a project wait for each place there is. */
const WAITING_PER_PLACE = 4

/**
 * Room for so many at once, and a short queue before it: git programs take memory and processor time, and more of them than the
 * machine can run only make each other slower. Projects take turns, and one alone never has the last place: its clients may read what
 * they asked for as slowly as they like.
 */
export class Places {
  readonly #most: number
  readonly #mostOfOne: number
  readonly #waiting = new FairQueue<Waiting>()
  /** How many places each project has. */
  readonly #taken = new Map<string, number>()
  #running = 0

  constructor(most: number) {
    this.#most = most
    this.#mostOfOne = Math.max(1, most - 1)
  }

  /** How many are at work, and how many wait. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length }
  }

  /**
   * Resolves with what gives the place back (calling it again does nothing). Refuses with `overloaded` when too many of the project
   * wait, and rejects when the signal comes first.
   */
  async take(project: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#waiting.lengthOf(project) >= this.#most * WAITING_PER_PLACE) {
      throw new Refusal(
        'overloaded',
        'So many clones, fetches and pushes of this project are under way that this one would wait long. Try again in a moment.',
      )
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.remove(waiting)
        reject(signal.reason as Error) // an AbortController's own
      }
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiting = { owner: project, enter }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(waiting)
      this.#letIn()
    })
    let isHeld = true
    return () => {
      if (isHeld) this.#giveBack(project)
      isHeld = false
    }
  }

  #giveBack(project: string): void {
    this.#running--
    const left = this.#takenBy(project) - 1
    if (left > 0) this.#taken.set(project, left)
    else this.#taken.delete(project)
    this.#letIn()
  }

  /** Those whose turn it is, while there is room for them. */
  #letIn(): void {
    while (this.#running < this.#most) {
      const next = this.#waiting.take((project) => this.#takenBy(project) < this.#mostOfOne)
      if (!next) return
      this.#running++
      this.#taken.set(next.owner, this.#takenBy(next.owner) + 1)
      next.enter()
    }
  }

  #takenBy(project: string): number {
    return this.#taken.get(project) ?? 0
  }
}

interface Waiting {
  /** The project. */
  readonly owner: string
  readonly enter: () => void
}

/** What a request to git takes while it is worked on. */
export interface GitRoom {
  /** Where what the client sends is kept until all of it is there: one who sends slowly, or never, has no place meanwhile. */
  readonly spools: Spools
  /** See `Places.take`. */
  readonly place: (signal: AbortSignal) => Promise<() => void>
}
