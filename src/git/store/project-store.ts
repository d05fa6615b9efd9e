import { basename, dirname } from 'node:path/posix'
import {
  CacheFile,
  createDurableFolder,
  type Fs,
  type FileStat,
  isDead,
  parseIdentity,
  type BeforeTakeOver,
  holdingLock,
} from '../../storage/files.ts'
import { type NewRepository, buildFolder, createRepository, BUILD_PREFIX } from './create-repository.ts'
import { PackCache } from '../packs/pack-cache.ts'
import { StreamingPackWriter } from '../packs/streaming-pack-writer.ts'
import type { SavedRefs } from '../refs/ref-store.ts'
import { areRefsAt, repositoryStamps } from '../refs/ref-store.ts'
import { repositoryPath } from './repository-path.ts'
import { ProjectFilling } from './project-filling.ts'
import { Repository } from './repository.ts'
import {
  type Arbiter,
  type Decision,
  DECIDED_BY_RENAME,
  NameClaimed,
  type DecidedMove,
  type DecidedWrite,
  type NameClaim,
} from '../transactions/arbiter.ts'
import { TRASH_FOLDER } from '../trash/folder-move.ts'
import { TrashFolder } from '../trash/trash-folder.ts'
import type { AllRefs } from '../refs/list-refs.ts'
import { journalsOf } from '../journal/journal-record.ts'
import { DatabaseAway } from '../../errors.ts'

/** The number of attempts to claim names that another server claimed meanwhile. */
const CLAIMS = 5

/** A folder in which a new repository is prepared. */
export interface NewFolder {
  readonly path: string
  packBuilder(): StreamingPackWriter
  derived(name: string): CacheFile
  /** Removes it, unless a repository was made of it. */
  discard(): void
}

/** The repositories of one project, and how the server processes that serve it notify each other of writes. */
export class ProjectStore {
  readonly fs: Fs
  readonly folder: string
  /** Whether the folder is a copy of a shared log, and may not have every repository yet. */
  readonly isCopy: boolean
  /** The project's removed repositories. */
  readonly trash: TrashFolder
  readonly #packs: PackCache
  readonly #claims: SlugClaims
  readonly #arbiter: Arbiter
  readonly #names: RepositoryNames
  /** The families' folders that exist and are synced. */
  readonly #families = new Map<string, Promise<void>>()

  constructor(fs: Fs, folder: string, packs: PackCache, arbiter: Arbiter) {
    this.#arbiter = arbiter
    this.isCopy = arbiter.elsewhere !== undefined
    this.fs = fs
    this.folder = folder
    this.#packs = packs
    this.#names = new RepositoryNames(fs, folder)
    this.#claims = new SlugClaims(fs, folder, arbiter.shared?.finishFor)
    this.trash = new TrashFolder(fs, folder, packs, arbiter)
  }

  /** Absent if every repository is here. */
  get filling(): ProjectFilling | undefined {
    const filling = this.#arbiter.elsewhere?.filling
    return filling && new ProjectFilling(filling, basename(this.folder))
  }

  /** Whether the repository is missing here because it may not have been copied yet. */
  isToCome(family: string, slug: string): boolean {
    return this.#arbiter.elsewhere?.filling !== undefined && !this.exists(family, slug)
  }

  /** The same as `slugs`, for the trash. */
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
   * Opens a repository that was built in a temporary folder, to check it before it gets its name. `close` drops its data in memory; call it
   * before the repository is renamed or removed.
   */
  openAside(path: string): { readonly repository: Repository; readonly close: () => void } {
    const packs = new PackCache()
    return { repository: new Repository(this.fs, path, packs, this.#arbiter), close: () => packs.close() }
  }

  exists(family: string, slug: string): boolean {
    return this.fs.stat(repositoryPath(this.folder, family, slug)) !== undefined
  }

  /** Creates a repository atomically, and answers it; see createRepository. Call it while claiming slugs. */
  async create(family: string, slug: string, content: NewRepository, aside?: NewFolder): Promise<Repository> {
    const name = basename(repositoryPath(this.folder, family, slug))
    const folder = await this.#familyFolder(family)
    await createRepository(this.#arbiter, this.fs, folder, name, content, aside?.path)
    const repository = this.repository(family, slug)
    repository.objects.remember(content.objects)
    return repository
  }

  /**
   * Call this before a repository that was built in a temporary folder and synced gets its name. It takes the place of nothing, or of a
   * repository with the refs `there`. For other servers it then exists; see DecidedElsewhere.admit. Call it while claiming slugs.
   */
  async admit(family: string, slug: string, aside: string, admitted: AdmittedRepository): Promise<Decision> {
    const { elsewhere } = this.#arbiter
    if (!elsewhere) return DECIDED_BY_RENAME
    const gitdir = repositoryPath(this.folder, family, slug)
    const names = (this.fs.readDir(`${aside}/objects/pack`) ?? []).filter((name) => name.endsWith('.pack'))
    const packs = names.map((name) => ({ name: name.slice(0, -5), path: `${aside}/objects/pack/${name}` }))
    const large = await elsewhere.stageLarge(packs)
    return elsewhere.admit({ gitdir, large, ...admittedWrite(admitted) })
  }

  /** Prepares a folder for a large new repository: its packs are staged there, then `create` is called with it. */
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
      // Waiting callers get the failure; the next call tries again.
      ready.catch(() => this.#families.delete(family))
    }
    await ready
    return folder
  }

  /** Resolves once the names of a family's repositories are synced. */
  syncNames(family: string): Promise<void> {
    return this.fs.syncDir(`${this.folder}/${family}`)
  }

  /**
   * Runs `work` while no other writer, in this or another process, can claim one of these names in this project; without names, any slug.
   * Before that, the decided writes of dead claimants are published.
   */
  claimingSlugs<T>(work: () => Promise<T>, names?: readonly string[]): Promise<T> {
    return this.#claims.run(async () => {
      for (let claimed = 1; ; claimed++) {
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof NameClaimed) || claimed === CLAIMS) throw error
          await this.#arbiter.elsewhere?.fresh()
        }
      }
    }, names)
  }
}

/** A repository that was built in a temporary folder and is about to get its name. */
interface AdmittedRepository {
  readonly refs: AllRefs
  /** The refs of the repository in its place; absent if there is none. */
  readonly there: AllRefs | undefined
  /** The names that it claims in its project. */
  readonly claims: readonly NameClaim[]
}

/** The admission as a write: the refs move from their present values, or the repository begins with them. */
function admittedWrite({
  refs,
  there,
  claims,
}: AdmittedRepository): Pick<DecidedWrite, 'moves' | 'created' | 'claims'> {
  const names = [...new Set([...(there?.refs.keys() ?? []), ...refs.refs.keys()])]
  const moves: DecidedMove[] = names.map((ref) => ({
    ref,
    expected: there?.refs.get(ref),
    target: refs.refs.get(ref),
  }))
  if (!there) return { moves, claims, created: { build: 0, head: refs.head.replace('ref: refs/heads/', '') } }
  return { moves: [...moves, { ref: 'HEAD', expected: there.head, target: refs.head }], claims }
}

/** The slugs in a folder at a modification time. */
interface ListedFolder extends Pick<FileStat, 'modified' | 'inode'> {
  readonly slugs: readonly string[]
}

const NO_SLUGS: readonly string[] = []

/**
 * If a folder's last change is older than this (milliseconds), its time will show the next change: file systems store times as coarsely as
 * two seconds.
 */
const SETTLED = 2100

/** The names of a project's repositories, by family. */
class RepositoryNames {
  readonly #fs: Fs
  readonly #folder: string
  /** The last listing of each family's folder. */
  readonly #listed = new Map<string, ListedFolder>()

  constructor(fs: Fs, folder: string) {
    this.#fs = fs
    this.#folder = folder
  }

  /**
   * The names `<slug>.git` in a family's folder, as slugs: the same array as long as none is added or removed. Removes builds of dead
   * processes.
   */
  slugs(family: string): readonly string[] {
    const folder = `${this.#folder}/${family}`
    const stat = this.#fs.stat(folder)
    if (!stat) return NO_SLUGS
    const known = this.#listed.get(family)
    if (known && known.modified === stat.modified && known.inode === stat.inode) return known.slugs
    const slugs = this.#namesIn(folder)
    // The time of a folder that changed just now may not show its next change; the time of a link to another disk never does.
    if (stat.kind === 'folder' && Date.now() - stat.modified > SETTLED)
      this.#listed.set(family, { slugs, ...stat })
    else this.#listed.delete(family)
    return slugs
  }

  #namesIn(folder: string): readonly string[] {
    const slugs = []
    for (const name of this.#fs.readDir(folder) ?? []) {
      if (name.endsWith('.git') && !name.startsWith('.')) slugs.push(name.slice(0, -'.git'.length))
      else if (name.startsWith(BUILD_PREFIX)) this.#removeIfDead(folder, name)
    }
    return slugs
  }

  #removeIfDead(folder: string, name: string): void {
    const owner = parseIdentity(name.slice(BUILD_PREFIX.length))
    // If its journal names the folder, it was decided, and must get its name first.
    if (owner && isDead(owner, folder) && journalsOf(this.#fs, dirname(this.#folder), owner).length === 0)
      this.#fs.removeTree(`${folder}/${name}`)
  }
}

/** After this many claims, other servers get their turn. */
const MAX_CLAIMS_PER_TURN = 64

/**
 * Serializes claims of slugs in a project among all server processes, by the lock `slugs` of its folder. Claims of this process that wait
 * when it gets the lock share it, and run concurrently unless they claim the same names. If the database that decides is unavailable,
 * claims that wait for a refused one are refused with it.
 */
class SlugClaims {
  readonly #fs: Fs
  readonly #folder: string
  readonly #finish: BeforeTakeOver | undefined
  #waiting: Claim[] = []
  #isAtWork = false

  constructor(fs: Fs, folder: string, finish?: BeforeTakeOver) {
    this.#fs = fs
    this.#folder = folder
    this.#finish = finish
  }

  /** Runs `work` while no other caller claims any of these names; without names, while there is no other claim at all. */
  run<T>(work: () => Promise<T>, names?: readonly string[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ names, work: async () => resolve(await work()), reject })
      if (!this.#isAtWork) void this.#workOff()
    })
  }

  async #workOff(): Promise<void> {
    this.#isAtWork = true
    while (this.#waiting.length > 0) {
      const claims = this.#waiting.splice(0, MAX_CLAIMS_PER_TURN)
      try {
        await holdingLock(this.#fs, this.#folder, 'slugs', () => runTogether(claims), this.#finish)
      } catch (error) {
        const behind = error instanceof DatabaseAway ? this.#waiting.splice(0) : []
        // Claims whose work has already ended have their answer.
        for (const { reject } of [...claims, ...behind])
          reject(error instanceof DatabaseAway ? error.behind() : error)
      }
    }
    this.#isAtWork = false
  }
}

interface Claim {
  readonly names: readonly string[] | undefined
  readonly work: () => Promise<void>
  readonly reject: (error: unknown) => void
}

/** Each waits for earlier ones that claim one of its names, or all names. Throws a DatabaseAway that one of them threw. */
async function runTogether(claims: readonly Claim[]): Promise<void> {
  const latest = new Map<string, Promise<void>>()
  let begun: Promise<void>[] = []
  let alone: Promise<void> = Promise.resolve()
  let away: DatabaseAway | undefined
  const run = async ({ work, reject }: Claim): Promise<void> => {
    try {
      if (away) throw away.behind()
      await work()
    } catch (error) {
      if (error instanceof DatabaseAway) away = error
      reject(error)
    }
  }
  for (const claim of claims) {
    const { names } = claim
    const before = names ? [alone, ...names.flatMap((name) => latest.get(name) ?? [])] : [alone, ...begun]
    const over = Promise.all(before).then(() => run(claim))
    begun.push(over)
    for (const name of names ?? []) latest.set(name, over)
    if (names) continue
    alone = over
    begun = [over]
  }
  await Promise.all(begun)
  if (away) throw away
}
