import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { FamilyList } from './family-list.ts'
import type { ArtifactChange, RestoredArtifact, ViewCache } from './index-entry.ts'
import { IndexEntry, isOriginal, pathOf } from './index-entry.ts'
import { SlugTable } from './slug-table.ts'
import type { RepositoryProblem } from './unserved-repositories.ts'
import { UnservedRepositories } from './unserved-repositories.ts'

/**
 * What the index knows, without a look at the disk: artifacts by place, id and slug, the lists of families, and the repositories that
 * are not served. A start and every later look fill it by the same `apply`.
 */
export class IndexTables {
  readonly slugs = new SlugTable()
  readonly damaged: UnservedRepositories
  readonly #lists: ReadonlyMap<Family, FamilyList>
  readonly #entries = new Map<string, IndexEntry>()
  readonly #byDigits = new Map<string, IndexEntry>()
  readonly #views: ViewCache
  readonly #watchers = new Set<(change: ArtifactChange) => void>()
  #generation = 0

  readonly #onChange: (path: string) => void

  /** `sweepOnce` looks at every repository of a family; `onChange` is told of each place where something is another now, or gone. */
  constructor(
    families: readonly Family[],
    sweepOnce: (family: Family, isUrgent: () => boolean) => Promise<void>,
    onChange: (path: string) => void,
    onProblem: ((problem: RepositoryProblem) => void) | undefined,
    views: ViewCache,
  ) {
    this.#views = views
    this.#onChange = onChange
    this.damaged = new UnservedRepositories(onProblem)
    this.#lists = new Map(
      families.map((family) => [family, new FamilyList((isUrgent) => sweepOnce(family, isUrgent))]),
    )
  }

  /** Whether each family was looked through at least once. */
  get isComplete(): boolean {
    return [...this.#lists.values()].every(({ hasBegun }) => hasBegun)
  }

  /** How old a list may be, in milliseconds, where that is more than STALE; else 0. */
  get age(): number {
    return [...this.#lists.values()].reduce((oldest, { age }) => Math.max(oldest, age), 0)
  }

  get size(): number {
    return this.#entries.size
  }

  /** A number that is another one after anything has changed. */
  get generation(): number {
    return this.#generation
  }

  /** Calls `watcher` with every change, within the call; answers how to end that. */
  watch(watcher: (change: ArtifactChange) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** The artifact at this place, `<family>/<slug>`. */
  at(path: string): IndexEntry | undefined {
    return this.#entries.get(path)
  }

  /** The artifact whose id ends in these 12 digits. */
  withDigits(digits: string): IndexEntry | undefined {
    return this.#byDigits.get(digits)
  }

  /** All artifacts, in no order. */
  entries(): Iterable<IndexEntry> {
    return this.#entries.values()
  }

  /** The artifacts of a family, in no order. */
  *entriesOf(family: Family): Generator<IndexEntry> {
    for (const entry of this.#entries.values()) if (entry.family === family) yield entry
  }

  listOf(family: Family): FamilyList {
    const list = this.#lists.get(family)
    if (!list) throw new Error(`the registry does not serve ${family.folder}`)
    return list
  }

  /** Takes in what was seen of a repository. Of two with one artifact id the copy is set aside. */
  apply(view: ArtifactView): void {
    const { family, slug, digits } = view
    const path = pathOf(family, slug)
    const rival = this.#rivalOf(path, digits)
    if (rival) {
      // A copy within the project (`cp -r`): the one whose folder has the name it was made with is the original.
      const [original, copy] = isOriginal(view, rival.view) ? [path, rival.path] : [rival.path, path]
      if (copy !== path) this.drop(rival)
      this.damaged.setAside({
        repository: copy,
        reason: `${copy} has the same artifact id as ${original}. Give it a new id, or remove it.`,
      })
      if (copy === path) return
    }
    this.#generation++
    this.damaged.forget(path)
    const before = this.#entries.get(path)
    const last = before?.asNow()
    if (before) {
      this.slugs.remove(before)
      // Another artifact may have been put in its place.
      if (before.digits !== digits) this.#byDigits.delete(before.digits)
      before.view = view
      this.listOf(family).changed()
      this.#byDigits.set(digits, before)
      this.slugs.add(before)
    } else this.#add(new IndexEntry(family, slug, view, this.#views))
    this.#onChange(path)
    this.#tell({ family, slug, id: view.id, view, before: last })
  }

  /** Another repository that has the same artifact id; one that is gone by now, because it was renamed, is forgotten. */
  #rivalOf(path: string, digits: string): IndexEntry | undefined {
    const rival = this.#byDigits.get(digits)
    if (!rival || rival.path === path) return undefined
    const { fs, path: gitdir } = rival.repository
    if (fs.stat(gitdir)) return rival
    this.drop(rival)
    return undefined
  }

  /** Takes in what a process of before saw of a repository that nobody has looked at yet, unless another one has the same id. */
  restore(family: Family, slug: string, artifact: RestoredArtifact): void {
    const entry = new IndexEntry(family, slug, artifact, this.#views)
    if (!this.#byDigits.has(entry.digits)) this.#add(entry)
  }

  #add(entry: IndexEntry): void {
    this.listOf(entry.family).add(entry)
    this.#entries.set(entry.path, entry)
    this.#byDigits.set(entry.digits, entry)
    this.slugs.add(entry)
  }

  /** Forgets an artifact that is gone, or cannot be read any more. */
  drop(entry: IndexEntry): void {
    this.#generation++
    this.damaged.forget(entry.path)
    this.#entries.delete(entry.path)
    this.#views.delete(entry)
    if (this.#byDigits.get(entry.digits) === entry) this.#byDigits.delete(entry.digits)
    this.slugs.remove(entry)
    this.listOf(entry.family).remove(entry)
    this.#onChange(entry.path)
    const { family, slug, id } = entry
    this.#tell({ family, slug, id, view: undefined, before: entry.asNow() })
  }

  #tell(change: ArtifactChange): void {
    for (const watcher of this.#watchers) watcher(change)
  }
}
