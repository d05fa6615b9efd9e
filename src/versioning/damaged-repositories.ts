import type { Refusal } from '../errors.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { Family } from './family.ts'

/** A repository that is in the store and not served, and why. */
export interface RepositoryProblem {
  readonly repository: string
  readonly reason: string
}

/** A repository of this registry's making that cannot be read now. */
export interface DamagedRepository {
  readonly repository: string
  readonly family: Family
  /** As it was when it could be read; undefined if that was in another process. */
  readonly last: ArtifactView | undefined
  readonly reason: Refusal
}

/**
 * The repositories of a project that are not served. Those that cannot be read may hold what somebody looks for, so nobody is told that
 * it is not there.
 */
export class DamagedRepositories {
  readonly #problems = new Map<string, RepositoryProblem>()
  readonly #damaged = new Map<string, DamagedRepository>()

  /** All that are not served. */
  problems(): RepositoryProblem[] {
    return [...this.#problems.values()]
  }

  /** The repositories (`<family>/<slug>`) that are not served. */
  paths(): Iterable<string> {
    return this.#problems.keys()
  }

  /** What is known of one that cannot be read. */
  get(repository: string): DamagedRepository | undefined {
    return this.#damaged.get(repository)
  }

  /** One that is not served and holds nothing that has an id of this registry. */
  setAside(problem: RepositoryProblem): void {
    this.#problems.set(problem.repository, problem)
  }

  /** One that cannot be read. */
  add(damaged: DamagedRepository): void {
    this.setAside({ repository: damaged.repository, reason: damaged.reason.message })
    this.#damaged.set(damaged.repository, damaged)
  }

  /** One that is served again, or gone. */
  forget(repository: string): void {
    this.#problems.delete(repository)
    this.#damaged.delete(repository)
  }

  /** Refuses with `damaged_repository` if what was not found may lie in a repository that cannot be read. */
  assertNotIn(mayHold: (damaged: DamagedRepository) => boolean): void {
    for (const damaged of this.#damaged.values()) if (mayHold(damaged)) throw damaged.reason
  }
}
