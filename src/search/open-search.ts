import { DatabaseThread } from '../storage/sqlite/database-thread.ts'
import type { Registry } from '../versioning/registry.ts'
import type { SearchWork } from './index/search-work.ts'
import { ProjectSearch } from './project-search.ts'

/** The searches of all projects that a process serves, on one thread, which starts with the first. */
export class OpenSearch {
  // The name that the compiler gives the file beside this one.
  readonly #thread = new DatabaseThread<SearchWork>(new URL('./index/search-thread.js', import.meta.url))
  readonly #projects = new Map<Registry, ProjectSearch>()

  /** The search of a project; the first call begins to take in what is there. */
  of(registry: Registry): ProjectSearch {
    let search = this.#projects.get(registry)
    if (!search) this.#projects.set(registry, (search = new ProjectSearch(registry, this.#thread)))
    return search
  }

  async close(): Promise<void> {
    for (const search of this.#projects.values()) await search.close()
    await this.#thread.stop(new Error('the search is closed'))
  }
}
