import { basename } from 'node:path'
import type { Store } from '../../git/store.ts'
import type { FillProgress } from '../../git/transactions.ts'
import { damageOf } from '../index/damaged-repositories.ts'
import type { Family } from '../payload/family.ts'
import { limitRegistry } from './limited-registry.ts'
import type { OpenRegistry } from './open-registry.ts'
import { openRegistry } from './open-registry.ts'
import type { Registry, RegistrySettings } from './registry.ts'

/** The loading progress of the store's projects, and their problems. */
export interface ProjectsReadiness {
  readonly ready: boolean
  /** The progress of filling the server's folder from the database, if that is not done. */
  readonly filling?: FillProgress | undefined
  readonly artifacts: number
  /** The possible age of lists in milliseconds, if that is more than two seconds; else 0. */
  readonly listAge: number
  /** Repositories that cannot be served. */
  readonly problems: readonly {
    readonly project: string
    readonly repository: string
    readonly reason: string
  }[]
}

/** The folders to which a key is limited, if it is. */
interface SeenBy {
  readonly project: string
  readonly key: { readonly folders?: readonly string[] | undefined }
}

/** The registries of all projects of a store: existing projects are opened at the start, new ones on first request. */
export class Registries {
  readonly #store: Store
  readonly #families: readonly Family[]
  readonly #settings: RegistrySettings
  readonly #prepare: (registry: Registry) => Promise<void>
  readonly #opening = new Map<string, Promise<OpenRegistry>>()
  readonly #open: OpenRegistry[] = []
  readonly #ready = new Map<string, Registry>()
  /** Projects that could not be opened at the start, with the reasons. */
  readonly #closed = new Map<string, string>()
  #started = false

  /** `prepare` gives a project its initial content before the first request. */
  constructor(
    store: Store,
    families: readonly Family[],
    settings: RegistrySettings,
    prepare: (registry: Registry) => Promise<void>,
  ) {
    this.#store = store
    this.#families = families
    this.#settings = settings
    this.#prepare = prepare
  }

  /** Opens every project of the store. While the folder is being filled, opens those that exist; call it again when it is full. */
  async start(): Promise<void> {
    const { filling } = this.#store
    await Promise.all(this.#store.projects().map((project) => this.#openAtStart(project)))
    this.#started = filling === undefined
  }

  /** A project that cannot be opened now does not keep others from being served; the next request for it tries again. */
  async #openAtStart(project: string): Promise<void> {
    try {
      await this.of(project)
    } catch (error) {
      const reason = damageOf(error, project)
      if (!reason) throw error
      this.#closed.set(project, reason.message)
      this.#settings.onProblem?.(project, { repository: '', reason: reason.message })
    }
  }

  /** The part of a project that a key may see. Requests with a key use this, and never `of`. */
  async seenBy({ project, key: { folders } }: SeenBy): Promise<Registry> {
    const registry = await this.of(project)
    return folders ? limitRegistry(registry, folders) : registry
  }

  /** The project's registry, or a promise of it while it is opened. */
  of(project: string): Registry | Promise<Registry> {
    return this.#ready.get(project) ?? this.#opened(project)
  }

  async #opened(project: string): Promise<Registry> {
    let opening = this.#opening.get(project)
    if (!opening) {
      opening = this.#openProject(project)
      this.#opening.set(project, opening)
      // Waiting requests get the failure; the next request tries again.
      opening.catch(() => this.#opening.delete(project))
    }
    return (await opening).registry
  }

  /** For /ready: the number of served artifacts, and what is not served and why. */
  readiness(): ProjectsReadiness {
    const registries = this.#open.map(({ registry }) => registry)
    return {
      ready: this.#started,
      filling: this.#store.filling?.progress(),
      artifacts: registries.reduce((sum, { index }) => sum + index.size, 0),
      listAge: Math.round(registries.reduce((oldest, { index }) => Math.max(oldest, index.age), 0)),
      problems: [
        ...[...this.#closed].map(([project, reason]) => ({ project, repository: '', reason })),
        ...registries.flatMap(({ index, store }) =>
          index.problems().map((problem) => ({ project: basename(store.folder), ...problem })),
        ),
      ],
    }
  }

  /** Removes, at low priority, files of dead servers from the repositories. */
  sweepLeftovers(): void {
    for (const open of this.#open) void open.sweepLeftovers()
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((registry) => registry.close()))
  }

  async #openProject(project: string): Promise<OpenRegistry> {
    const open = await openRegistry(await this.#store.project(project), this.#families, this.#settings)
    try {
      await this.#prepare(open.registry)
    } catch (error) {
      await open.close() // the next request opens another one
      throw error
    }
    this.#open.push(open)
    this.#ready.set(project, open.registry)
    this.#closed.delete(project)
    void open.sweepLeftovers()
    return open
  }
}
