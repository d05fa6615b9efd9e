import { basename } from 'node:path/posix'
import { CacheFile } from '../storage/cache-file.ts'
import { createDurableFolder } from '../storage/durable-folder.ts'
import type { Fs } from '../storage/fs.ts'
import type { NewRepository } from './create-repository.ts'
import { buildFolder, createRepository } from './create-repository.ts'
import { PackCache } from './packs/pack-cache.ts'
import { StreamingPackWriter } from './packs/streaming-pack-writer.ts'
import type { SavedRefs } from './refs/ref-store.ts'
import { areRefsAt, repositoryStamps } from './refs/ref-stamps.ts'
import { RepositoryNames } from './repository-names.ts'
import { repositoryPath } from './repository-path.ts'
import { ProjectFilling } from './project-filling.ts'
import { Repository } from './repository.ts'
import { SlugClaims } from './slug-claims.ts'
import { type AdmittedRepository, admittedWrite } from './admitted-repository.ts'
import { type Arbiter, type Decision, NameClaimed } from './transactions/arbiter.ts'
import { TRASH_FOLDER } from './trash/folder-move.ts'
import { TrashFolder } from './trash/trash-folder.ts'

/** How often it is looked again whether names are free that another server has claimed meanwhile. */
const CLAIMS = 5

/** A folder in which a new repository is prepared. */
export interface NewFolder {
  readonly path: string
  packBuilder(): StreamingPackWriter
  derived(name: string): CacheFile
  /** Removes it, if no repository was made of it. */
  discard(): void
}

/** The repositories of one project, and how the server processes that serve it tell each other what they wrote. */
export class ProjectStore {
  readonly fs: Fs
  readonly folder: string
  /** What was removed of it. */
  readonly trash: TrashFolder
  readonly #packs: PackCache
  readonly #claims: SlugClaims
  readonly #arbiter: Arbiter
  readonly #names: RepositoryNames
  /** The folders of families that are there and on the disk. */
  readonly #families = new Map<string, Promise<void>>()

  constructor(fs: Fs, folder: string, packs: PackCache, arbiter: Arbiter) {
    this.#arbiter = arbiter
    this.fs = fs
    this.folder = folder
    this.#packs = packs
    this.#names = new RepositoryNames(fs, folder)
    this.#claims = new SlugClaims(fs, folder, (dead) => arbiter.finishFor(dead))
    this.trash = new TrashFolder(fs, folder, packs, arbiter)
  }

  /** Absent where every repository is here. */
  get filling(): ProjectFilling | undefined {
    const { filling } = this.#arbiter
    return filling && new ProjectFilling(filling, basename(this.folder))
  }

  /** Whether a repository is not here, and may come yet. */
  isToCome(family: string, slug: string): boolean {
    return this.#arbiter.filling !== undefined && !this.exists(family, slug)
  }

  /** The same as `slugs` of what lies in the trash. */
  trashedSlugs(family: string): readonly string[] {
    return this.slugs(`${TRASH_FOLDER}/${family}`)
  }

  /** See RepositoryNames.slugs. */
  slugs(family: string): readonly string[] {
    return this.#names.slugs(family)
  }

  repository(family: string, slug: string, saved?: SavedRefs): Repository {
    const path = repositoryPath(this.folder, family, slug)
    return new Repository(this.fs, path, this.#packs, this.#arbiter, saved)
  }

  /** See repositoryStamps. */
  stamps(family: string, slug: string): string | undefined {
    return repositoryStamps(this.fs, repositoryPath(this.folder, family, slug))
  }

  /** See areRefsAt. */
  areRefsAt(family: string, slug: string, stamps: string): boolean {
    return areRefsAt(this.fs, repositoryPath(this.folder, family, slug), stamps)
  }

  /**
   * A repository that was built aside, to be looked at before it gets its name. What is kept of it in memory goes when `close` is
   * called, before it is renamed or removed.
   */
  openAside(path: string): { readonly repository: Repository; readonly close: () => void } {
    const packs = new PackCache()
    return { repository: new Repository(this.fs, path, packs, this.#arbiter), close: () => packs.close() }
  }

  exists(family: string, slug: string): boolean {
    return this.fs.stat(repositoryPath(this.folder, family, slug)) !== undefined
  }

  /** Makes a repository in one step, and answers it; see createRepository. To be called while claiming slugs. */
  async create(family: string, slug: string, content: NewRepository, aside?: NewFolder): Promise<Repository> {
    const name = basename(repositoryPath(this.folder, family, slug))
    const folder = await this.#familyFolder(family)
    await createRepository(this.#arbiter, this.fs, folder, name, content, aside?.path)
    const repository = this.repository(family, slug)
    repository.objects.remember(content.objects)
    return repository
  }

  /**
   * To be called before a repository that was built aside, and is on the disk, gets its name: in the place of none, or of one that holds
   * `there`. Then it has happened for servers elsewhere, too; see Arbiter.admit. To be called while claiming slugs.
   */
  async admit(family: string, slug: string, aside: string, admitted: AdmittedRepository): Promise<Decision> {
    const gitdir = repositoryPath(this.folder, family, slug)
    const names = (this.fs.readDir(`${aside}/objects/pack`) ?? []).filter((name) => name.endsWith('.pack'))
    const packs = names.map((name) => ({ name: name.slice(0, -5), path: `${aside}/objects/pack/${name}` }))
    const large = await this.#arbiter.stageLarge(packs)
    return this.#arbiter.admit({ gitdir, large, ...admittedWrite(admitted) })
  }

  /** Where a large new repository is built: its packs are staged there before `create` is called with it. */
  async prepare(family: string): Promise<NewFolder> {
    const path = buildFolder(this.fs, await this.#familyFolder(family))
    return {
      path,
      packBuilder: () => new StreamingPackWriter(this.fs, path),
      derived: (name) => new CacheFile(this.fs, `${path}/${name}`),
      discard: () => this.fs.removeTree(path),
    }
  }

  async #familyFolder(family: string): Promise<string> {
    const folder = `${this.folder}/${family}`
    let ready = this.#families.get(family)
    if (!ready) {
      ready = createDurableFolder(this.fs, folder)
      this.#families.set(family, ready)
      // A failure is told to those who wait; the next one tries again.
      ready.catch(() => this.#families.delete(family))
    }
    await ready
    return folder
  }

  /** Resolves once the names of a family's repositories are on the disk. */
  syncNames(family: string): Promise<void> {
    return this.fs.syncDir(`${this.folder}/${family}`)
  }

  /**
   * Runs `work` while no other writer, in this or another process, can claim one of these names in this project; without names, any
   * slug. What a dead one decided while it claimed one is in place before.
   */
  claimingSlugs<T>(work: () => Promise<T>, names?: readonly string[]): Promise<T> {
    return this.#claims.run(async () => {
      for (let claimed = 1; ; claimed++) {
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof NameClaimed) || claimed === CLAIMS) throw error
          await this.#arbiter.fresh()
        }
      }
    }, names)
  }
}
