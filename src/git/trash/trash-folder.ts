import { dirname } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import { BUILD_PREFIX } from '../create-repository.ts'
import { fencing } from './fence.ts'
import { moveFolder, purgeMark, STAMP_FILE, TRASH_FOLDER } from './folder-move.ts'
import type { Fs } from '../../storage/fs.ts'
import { RefMoved } from '../refs/ref-move.ts'
import type { Arbiter, Seen } from '../transactions/arbiter.ts'
import { createDurableFolder, syncTree } from '../../storage/durable-folder.ts'
import type { PackCache } from '../packs/pack-cache.ts'
import { identityName, thisProcess } from '../../storage/process-identity.ts'
import { Repository } from '../repository.ts'
import { repositoryPath } from '../repository-path.ts'

/** How often a repository is trashed anew because it was written to elsewhere. */
const ATTEMPTS = 20

/**
 * The repositories of a project that were removed, each whole, in `<project>/.trash`. A record of the journal decides that one goes there
 * or comes back, one rename does it, and where a process dies in between, any other makes the move. Everything here but reading is done
 * by who has the slugs of the project.
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

  /** What was noted when it was trashed; undefined if there is nothing. */
  stamp(family: string, slug: string): string | undefined {
    return this.#fs.readFile(`${this.#pathOf(family, slug)}/${STAMP_FILE}`)?.toString('utf8')
  }

  /**
   * Has everything of a repository on the disk, whatever the journal says of it: that tells of where it was. What is synced already
   * costs little.
   */
  async sync(family: string, slug: string): Promise<void> {
    await syncTree(this.#fs, repositoryPath(this.#project, family, slug))
  }

  /**
   * Moves a repository to the trash while nobody writes to it, nor to those at the paths `others`, unless `check`, which is called when
   * that is so, rejects. `stamp` is one that no other has.
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
    await this.#unlessMoved(slug, async () => {
      const seen = await this.#arbiter.elsewhere?.seen([from, ...others])
      await fencing(this.#fs, [from, ...others], this.#arbiter.shared?.finishFor, async () => {
        await check()
        const path = `${from}/${STAMP_FILE}`
        this.#fs.remove(path)
        await this.#fs.createSynced(path, Buffer.from(stamp))
        await syncTree(this.#fs, from)
        await this.#move({ from, to, stamp }, seen)
      })
    })
  }

  /** Does it again where a server elsewhere, which no fence here keeps out, was faster. */
  async #unlessMoved(slug: string, work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
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

  /** Moves it back to where it was. Refuses with `slug_taken` if another has come there meanwhile. */
  async takeBack(family: string, slug: string): Promise<void> {
    const [from, to] = [this.#pathOf(family, slug), repositoryPath(this.#project, family, slug)]
    // A server of before, or git, that was at work when it went may have left a folder there.
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

  /** Whether one of this slug was removed for good, and it was to be remembered. */
  async wasPurged(family: string, slug: string): Promise<boolean> {
    const path = this.#pathOf(family, slug)
    return (
      this.#fs.stat(purgeMark(path)) !== undefined ||
      (await this.#arbiter.elsewhere?.wasPurged(path)) === true
    )
  }

  /** Removes it for good: in one step, and then its files. With `isRemembered`, it is remembered that it was. */
  async purge(family: string, slug: string, isRemembered = false): Promise<void> {
    const path = this.#pathOf(family, slug)
    const decided = await this.#arbiter.decide([], { purged: { gitdir: path, isRemembered } })
    if (isRemembered && !this.#fs.stat(purgeMark(path)))
      await this.#fs.createSynced(purgeMark(path), Buffer.alloc(0))
    // A name that is swept when we are dead.
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
    // What is open stays open for whoever reads it now; nobody finds it there again.
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
