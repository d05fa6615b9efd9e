import { Refusal, type RefusalCode } from '../../errors.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'

/** A repository that is in the store and not served, and why. */
export interface RepositoryProblem {
  readonly repository: string
  readonly reason: string
}

/** A repository of this registry's making that cannot be read now. */
export interface UnservedRepository {
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
export class UnservedRepositories {
  readonly #problems = new Map<string, RepositoryProblem>()
  readonly #damaged = new Map<string, UnservedRepository>()
  /** Those that are served, and left out of lists that something of them cannot be read for. */
  readonly #leftOut = new Map<string, RepositoryProblem>()
  readonly #onProblem: (problem: RepositoryProblem) => void

  /** `onProblem` is told of each that is new, and of each new reason. */
  constructor(onProblem: (problem: RepositoryProblem) => void = () => undefined) {
    this.#onProblem = onProblem
  }

  /** All that are not served, or left out of lists. */
  problems(): RepositoryProblem[] {
    const leftOut = [...this.#leftOut.values()].filter(({ repository }) => !this.#problems.has(repository))
    return [...this.#problems.values(), ...leftOut]
  }

  /** The repositories (`<family>/<slug>`) that are not served. */
  paths(): Iterable<string> {
    return this.#problems.keys()
  }

  /** What is known of one that cannot be read. */
  get(repository: string): UnservedRepository | undefined {
    return this.#damaged.get(repository)
  }

  /** One that is not served and holds nothing that has an id of this registry. */
  setAside(problem: RepositoryProblem): void {
    this.#note(this.#problems, problem)
  }

  /** One that is served, and has something that cannot be read. */
  leaveOut(problem: RepositoryProblem): void {
    this.#note(this.#leftOut, problem)
  }

  /** One that cannot be read. */
  add(damaged: UnservedRepository): void {
    this.setAside({ repository: damaged.repository, reason: damaged.reason.message })
    this.#damaged.set(damaged.repository, damaged)
  }

  /** One that is served again, or gone. */
  forget(repository: string): void {
    this.#problems.delete(repository)
    this.#damaged.delete(repository)
    this.#leftOut.delete(repository)
  }

  /** Refuses with `damaged_repository` if what was not found may lie in a repository that cannot be read. */
  assertNotIn(mayHold: (damaged: UnservedRepository) => boolean): void {
    for (const damaged of this.#damaged.values()) if (mayHold(damaged)) throw damaged.reason
  }

  #note(problems: Map<string, RepositoryProblem>, problem: RepositoryProblem): void {
    const isKnown = problems.get(problem.repository)?.reason === problem.reason
    problems.set(problem.repository, problem)
    if (!isKnown) this.#onProblem(problem)
  }
}

/** What a whole machine lacks, rather than one repository. */
const OF_THE_MACHINE = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC'])

const UNREADABLE = new Set<RefusalCode>(['damaged_repository', 'unsupported_format'])

/**
 * The refusal to serve one repository for what was thrown when it was read: it is damaged, or the disk lets nobody read it. Undefined for
 * anything else, which is no reason to go on without it.
 */
export function damageOf(error: unknown, repository: string): Refusal | undefined {
  if (error instanceof Refusal) return UNREADABLE.has(error.code) ? error : undefined
  const { code, syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException> // anything may be thrown
  if (code === undefined || syscall === undefined || OF_THE_MACHINE.has(code)) return undefined
  return new Refusal(
    'damaged_repository',
    `${repository} cannot be read: the disk says ${code} (${syscall}). See to it that the server's user may read and write all of it.`,
  )
}

/**
 * What `read` reads of an artifact for a list; undefined where its repository is damaged: one must not hide the others. The log and
 * /ready tell of it.
 */
export async function unlessDamaged<T>(
  { index }: { readonly index: { leftOut(artifact: ArtifactView, reason: Refusal): void } },
  artifact: ArtifactView,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    const reason = damageOf(error, `${artifact.family.folder}/${artifact.slug}`)
    if (!reason) throw error
    index.leftOut(artifact, reason)
    return undefined
  }
}
