import { dirname } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import { BUILD_PREFIX } from '../store/create-repository.ts'
import { fencing } from './fence.ts'
import { moveFolder, purgeMark, STAMP_FILE, TRASH_FOLDER } from './folder-move.ts'
import { type Fs, createDurableFolder, syncTree, identityName, thisProcess } from '../../storage/files.ts'
import { RefMoved } from '../refs/ref-move.ts'
import type { Arbiter, Seen } from '../transactions/arbiter.ts'
import type { PackCache } from '../packs/pack-cache.ts'
import { Repository } from '../store/repository.ts'
import { repositoryPath } from '../store/repository-path.ts'

const MAX_ATTEMPTS = 20

/**
 * A project's removed repositories, each complete, in `<project>/.trash`. A journal record decides a move to or from the trash, and a rename
 * makes it. If the process dies in between, another one makes the move. All methods except reads require the project's lock `slugs`.
 */
export class TrashFolder {
  readonly #fs: Fs
  readonly #project: string
  readonly #packs: PackCache
  readonly #arbiter: Arbiter

  constructor(fs: Fs, project: string, packs: PackCache, arbiter: Arbiter) {
    this.#fs = fs
    this.#project = project
    this.#packs = packs
    this.#arbiter = arbiter
  }

  repository(family: string, slug: string): Repository {
    return new Repository(this.#fs, this.#pathOf(family, slug), this.#packs, this.#arbiter)
  }

  /** The stamp of the removal; undefined if nothing is there. */
  stamp(family: string, slug: string): string | undefined {
    return this.#fs.readFile(`${this.#pathOf(family, slug)}/${STAMP_FILE}`)?.toString('utf8')
  }

  /**
   * Moves a repository to the trash while it, and those at the paths `others`, are fenced. `check` is called under the fence, and its
   * rejection cancels the move. `stamp` must be unique.
   */
  async put(
    family: string,
    slug: string,
    stamp: string,
    { others, check }: { readonly others: readonly string[]; readonly check: () => Promise<void> },
  ): Promise<void> {
    const [from, to] = [repositoryPath(this.#project, family, slug), this.#pathOf(family, slug)]
    await createDurableFolder(this.#fs, dirname(to))
    if (this.#fs.stat(to)) throw taken(slug, 'lies in the trash already')
    await this.#arbiter.shared?.untilSettled(from)
    // Syncs most of the data while others can still write.
    await this.#arbiter.checkpoint()
    await this.#unlessMoved(slug, async () => {
      const seen = await this.#arbiter.elsewhere?.seen([from, ...others])
      await fencing(this.#fs, [from, ...others], this.#arbiter.shared?.finishFor, async () => {
        await check()
        // First the journal syncs its own writes again. If the sync below failed first for their bytes, the journal's next sync would
        // succeed although they are lost, and it would drop the writes.
        await this.#arbiter.checkpoint()
        const path = `${from}/${STAMP_FILE}`
        this.#fs.remove(path)
        await this.#fs.createSynced(path, Buffer.from(stamp))
        await syncTree(this.#fs, from)
        await this.#move({ from, to, stamp }, seen)
      })
    })
  }

  /** Repeats the work if another server, with a separate folder that the fence does not cover, was faster. */
  async #unlessMoved(slug: string, work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof RefMoved)) throw error
        await this.#arbiter.elsewhere?.fresh()
      }
    }
    throw new Refusal(
      'locked',
      `"${slug}" is written to at other servers all the time. Try again in a moment.`,
    )
  }

  /** Moves a repository back. Refuses with `slug_taken` if another one is at its path. */
  async takeBack(family: string, slug: string): Promise<void> {
    const [from, to] = [this.#pathOf(family, slug), repositoryPath(this.#project, family, slug)]
    // An earlier server or git may have created a folder here while the repository was removed.
    if (this.#fs.stat(`${to}/HEAD`)) throw taken(slug, 'is there again')
    this.#fs.removeTree(to)
    await createDurableFolder(this.#fs, dirname(to))
    const stamp = this.stamp(family, slug)
    if (stamp === undefined) {
      throw new Refusal(
        'damaged_repository',
        `${from} has no ${STAMP_FILE}, so nobody trashed it here. Move it back by hand.`,
      )
    }
    await this.#move({ from, to, stamp }, await this.#arbiter.elsewhere?.seen([to]))
  }

  /** Whether a repository with this slug was purged and remembered. */
  async wasPurged(family: string, slug: string): Promise<boolean> {
    const path = this.#pathOf(family, slug)
    return (
      this.#fs.stat(purgeMark(path)) !== undefined ||
      (await this.#arbiter.elsewhere?.wasPurged(path)) === true
    )
  }

  /** Purges a repository: a rename, then the removal of its files. With `isRemembered`, the purge is recorded. */
  async purge(family: string, slug: string, isRemembered = false): Promise<void> {
    const path = this.#pathOf(family, slug)
    const decided = await this.#arbiter.decide([], { purged: { gitdir: path, isRemembered } })
    if (isRemembered && !this.#fs.stat(purgeMark(path)))
      await this.#fs.createSynced(purgeMark(path), Buffer.alloc(0))
    // If this process dies, the name is recognised and removed.
    const aside = `${dirname(path)}/${BUILD_PREFIX}${identityName(thisProcess())}.purged-${slug}`
    this.#fs.rename(path, aside)
    await this.#fs.syncDir(dirname(path))
    this.#packs.drop(path)
    this.#fs.removeTree(aside)
    decided.complete()
  }

  async #move({ from, to, stamp }: { from: string; to: string; stamp: string }, seen?: Seen): Promise<void> {
    const store = dirname(this.#project)
    const move = { from: from.slice(store.length + 1), to: to.slice(store.length + 1), stamp }
    const decided = await this.#arbiter.decide([], { moved: move, seen })
    try {
      await moveFolder(this.#fs, store, move)
    } catch (error) {
      if (this.#fs.stat(from)) await decided.withdraw()
      throw error
    } finally {
      decided.complete()
    }
    // Current readers can still use open packs, but new readers do not find them.
    this.#packs.drop(from)
  }

  #pathOf(family: string, slug: string): string {
    return repositoryPath(`${this.#project}/${TRASH_FOLDER}`, family, slug)
  }
}

function taken(slug: string, why: string): Refusal {
  return new Refusal('slug_taken', `"${slug}" ${why}. Move that one away, or wait until it has gone.`, {
    conflict: { slug },
  })
}
