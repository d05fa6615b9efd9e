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

  /** The text of server-sent events, until it is closed. Refuses with `overloaded` one more than may follow. */
  async *follow(registry: Registry, following: Following): AsyncGenerator<string> {
    const release = this.#isClosed ? undefined : this.#permits.tryAcquire()
    if (!release) throw this.#refusal()
    try {
      yield* this.#of(registry).follow(following)
    } finally {
      release()
    }
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
