import { Refusal } from '../errors.ts'
import type { ProjectEvaluations } from '../evaluations/project-evaluations.ts'
import { Semaphore } from '../scheduling/semaphore.ts'
import type { Registry } from '../versioning/registry.ts'
import { type Following, ProjectEvents } from './project-events.ts'

/** Tells those who follow what happens in the projects that a process serves. */
export class OpenEvents {
  readonly #evaluationsOf: (registry: Registry) => ProjectEvaluations
  readonly #projects = new Map<Registry, ProjectEvents>()
  readonly #permits: Semaphore
  /** How many follow a project, and how many with one key. */
  readonly #followersOf = new Map<Registry | string, number>()
  #isClosed = false

  /** `most` may follow at a time. */
  constructor(evaluationsOf: (registry: Registry) => ProjectEvaluations, most: number) {
    this.#evaluationsOf = evaluationsOf
    this.#permits = new Semaphore(most)
  }

  /** How many follow. */
  get followers(): number {
    return this.#permits.load.running
  }

  /**
   * The text of server-sent events, until it is closed. Refuses with `overloaded` one more than may follow, and with `too_many_connections`
   * one more of a project than half of that, or of the key with this id than a quarter: no client takes all of them.
   */
  async *follow(registry: Registry, keyId: string, following: Following): AsyncGenerator<string> {
    const { capacity } = this.#permits
    this.#assertRoom(keyId, Math.ceil(capacity / 4), 'key')
    this.#assertRoom(registry, Math.ceil(capacity / 2), 'project')
    const release = this.#isClosed ? undefined : this.#permits.tryAcquire()
    if (!release) throw this.#refusal()
    for (const owner of [keyId, registry]) this.#count(owner, 1)
    try {
      yield* this.#of(registry).follow(following)
    } finally {
      for (const owner of [keyId, registry]) this.#count(owner, -1)
      release()
    }
  }

  #assertRoom(owner: Registry | string, most: number, what: string): void {
    if ((this.#followersOf.get(owner) ?? 0) < most) return
    throw new Refusal(
      'too_many_connections',
      `This ${what} has ${most} connections to /events, the most that one ${what} may have. Close one, or share one between several readers.`,
    )
  }

  #count(owner: Registry | string, change: number): void {
    const count = (this.#followersOf.get(owner) ?? 0) + change
    if (count > 0) this.#followersOf.set(owner, count)
    else this.#followersOf.delete(owner)
  }

  #refusal(): Refusal {
    return new Refusal(
      'overloaded',
      this.#isClosed
        ? 'This server is about to stop. Ask again once it has started.'
        : `This server tells ${this.#permits.capacity} clients already what happens, the most that it takes at once. Close one of yours, or have the operator ` +
            'raise EVENTS_AT_ONCE.',
    )
  }

  /** Ends every connection. */
  close(): void {
    this.#isClosed = true
    for (const project of this.#projects.values()) project.close()
  }

  #of(registry: Registry): ProjectEvents {
    let project = this.#projects.get(registry)
    if (!project) {
      project = new ProjectEvents(registry, this.#evaluationsOf(registry))
      this.#projects.set(registry, project)
    }
    return project
  }
}
