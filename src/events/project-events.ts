import type { ProjectEvaluations } from '../evaluations/project-evaluations.ts'
import type { Registry } from '../versioning/registry.ts'
import { ChangeTeller } from './change-teller.ts'
import { EventLog } from './event-log.ts'
import { Follower } from './follower.ts'
import { RunningEvaluations } from './running-evaluations.ts'

/** How often it is looked for what other servers did, and for evaluations, in milliseconds. */
const LOOK_EVERY = 500
/** How often a follower that nothing happens for is told that the connection is alive, in milliseconds (interface 13.8). */
const REMIND_EVERY = 15_000
/** So long what happens is kept after the last follower has gone, in milliseconds: it may be about to come back. */
const LINGER = 60_000

const REMINDER = ': still here\n\n'

/** How somebody follows a project. */
export interface Following {
  /** The id of the last event that it has, where it followed before. */
  readonly lastId: string | undefined
  /** Whether it may still be told. */
  readonly isStillIn: () => boolean
  /** Comes when it has left. */
  readonly gone: AbortSignal
}

/**
 * Tells those who follow a project what happens in it. While nobody does, and a minute after the last one has gone, nothing is noted, and
 * nothing costs anything.
 */
export class ProjectEvents {
  readonly #registry: Registry
  readonly #evaluations: ProjectEvaluations
  readonly #followers = new Set<Follower>()
  #log: EventLog | undefined
  #stop: () => void = () => undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(registry: Registry, evaluations: ProjectEvaluations) {
    this.#registry = registry
    this.#evaluations = evaluations
  }

  /**
   * What happens from now on, as the text of server-sent events, with what was missed since the event of `lastId`. Ends when whoever follows may
   * not be told any more, does not read, or leaves.
   */
  async *follow({ lastId, isStillIn, gone }: Following): AsyncGenerator<string> {
    clearTimeout(this.#lingering)
    const log = (this.#log ??= this.#begin())
    const follower = new Follower(isStillIn)
    follower.push(log.greeting(lastId))
    this.#followers.add(follower)
    // Whoever waits for the next piece hears of nothing else.
    gone.addEventListener('abort', () => follower.end(), { once: true })
    if (gone.aborted) follower.end()
    try {
      yield* follower.pieces()
    } finally {
      this.#followers.delete(follower)
      if (this.#followers.size === 0) this.#lingering = setTimeout(() => this.#end(), LINGER).unref()
    }
  }

  /** Ends everybody's connection. */
  close(): void {
    for (const follower of this.#followers) follower.end()
    clearTimeout(this.#lingering)
    this.#end()
  }

  #begin(): EventLog {
    const log = new EventLog()
    const send = (text: string): void => this.#followers.forEach((it) => it.push(text))
    const teller = new ChangeTeller(this.#registry, {
      event: (event) => send(log.add(event)),
      reset: () => send(log.addReset()),
    })
    const evaluations = new RunningEvaluations(this.#registry, this.#evaluations)
    let isLooking = false
    const look = async (): Promise<void> => {
      if (isLooking) return
      isLooking = true
      try {
        for (const event of await evaluations.look()) send(log.add(event))
        await this.#registry.index.heed()
      } catch {
        // The disk fails, and fails the requests that need it too: they say so, and the next look tries again.
      } finally {
        isLooking = false
      }
    }
    void look()
    const looking = setInterval(() => void look(), LOOK_EVERY).unref()
    const reminding = setInterval(
      () => this.#followers.forEach((it) => it.remind(REMINDER)),
      REMIND_EVERY,
    ).unref()
    this.#stop = () => {
      teller.stop()
      clearInterval(looking)
      clearInterval(reminding)
    }
    return log
  }

  #end(): void {
    this.#stop()
    this.#stop = () => undefined
    this.#log = undefined
  }
}
