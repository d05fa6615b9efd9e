import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { ProjectStore } from '../git/project-store.ts'
import { atRest } from '../scheduling/cooperative.ts'
import type { Family } from './family/family.ts'
import { Mirrors } from './environments/mirrors.ts'
import { damageOf } from './index/damaged-repositories.ts'
import { MANY } from './index/index-tables.ts'
import { type ClaimKeeper, keepClaims } from './slugs/record-claims.ts'
import type { RegistrySettings } from './registry.ts'
import { Registry } from './registry.ts'
import { purgeTrash } from './trash/trash-artifact.ts'

/** How often plain git's changes to repositories that nobody names are looked for, in milliseconds. */
const SWEEP_EVERY = 1000

/** How often the trash is looked through, in milliseconds. */
const PURGE_EVERY = 60 * 60 * 1000

/** Who asked for a list so many milliseconds ago may ask again, and should not have to wait for a sweep then. */
const SOON = 10_000

/** A registry that is read in, and kept current until it is closed. */
export interface OpenRegistry {
  readonly registry: Registry
  /**
   * Removes what dead processes left in the repositories (see Repository), at rest; resolves when that is done, or the
   * registry closed. Nothing that is served waits for it: who needs a dead process's lock takes it, and the rest nobody sees.
   */
  sweepLeftovers(): Promise<void>
  /** Resolves once nothing of it writes to the folder any more. */
  close(): Promise<void>
}

/**
 * Reads a project in: from the index file, as a process of before left it, and by a look at every repository, for which a start waits only
 * where they are few. What a crash cut off was finished before, from the journal and from nothing else; only what mirrors environments is
 * moved to where these say, and it is recorded what plain git made meanwhile.
 */
export async function openRegistry(
  store: ProjectStore,
  families: readonly Family[],
  settings: RegistrySettings,
): Promise<OpenRegistry> {
  const registry = new Registry(store, families, settings)
  registry.index.restore()
  const mirrors = new Mirrors(registry)
  const claims = keepClaims(registry)
  const loaded = load(registry, mirrors, claims)
  // Few are looked at within half a second, once they are here.
  if (!isLarge(registry) && !store.filling) await loaded
  const closing = new AbortController()
  const stopSweeps = keepCurrent(registry, mirrors, loaded)
  const stopPurging = keepPurged(registry)
  return {
    registry,
    sweepLeftovers: () => sweepLeftovers(registry, loaded, closing.signal),
    close: async () => {
      closing.abort()
      stopSweeps()
      stopPurging()
      claims.stop()
      // What is not written by then, also since the store is gone, is found at the next start.
      await registry.index.close().catch(() => undefined)
    },
  }
}

/** Looks at every repository; of very many once what a start has to do else is done, or somebody asks for a list. */
async function load(registry: Registry, mirrors: Mirrors, claims: ClaimKeeper): Promise<void> {
  if (isLarge(registry)) await pause(SWEEP_EVERY)
  await registry.index.load()
  await claims.recordSeen()
  await followEnvironments(registry, mirrors)
}

function isLarge({ families, store }: Registry): boolean {
  return families.some(({ folder }) => store.slugs(folder).length > MANY)
}

/** Removes for good, now and every hour, what has lain in the trash for its time; answers how to stop it. */
function keepPurged(registry: Registry): () => void {
  // Somebody else has the slugs, or the disk fails: the next round tries again.
  const purge = (): void => void purgeTrash(registry).catch(() => undefined)
  const soon = setTimeout(purge, SWEEP_EVERY).unref()
  const rounds = setInterval(purge, PURGE_EVERY).unref()
  return () => {
    clearTimeout(soon)
    clearInterval(rounds)
  }
}

/** The repository of every artifact; their views are not made for that. */
function* repositoriesOf({ families, index, store }: Registry): Generator<Repository> {
  for (const family of families)
    for (const slug of index.seen(family).slugs()) yield store.repository(family.folder, slug)
}

/** An artifact that cannot be swept now (somebody locks it, git left damage) is served as it is, like the others. */
async function unlessRefused(sweep: Promise<unknown>): Promise<void> {
  try {
    await sweep
  } catch (error) {
    if (!(error instanceof Refusal) && !damageOf(error, '')) throw error
  }
}

async function sweepLeftovers(
  registry: Registry,
  loaded: Promise<void>,
  closing: AbortSignal,
): Promise<void> {
  try {
    await loaded
    await atRest(repositoriesOf(registry), closing, (repository) =>
      unlessRefused(repository.sweepLeftovers()),
    )
  } catch {
    // It closes; or the disk fails, and whoever needs it says so. The next start sweeps what stays.
  }
}

/** What plain git did to environments, and what a crash cut off after a deployment. */
async function followEnvironments(registry: Registry, mirrors: Mirrors): Promise<void> {
  if (registry.families.some(({ pins }) => pins)) await mirrors.syncAll()
}

/**
 * Sweeps each family again and again. With some thousand artifacts a sweep takes long: then it takes a half of the time at most while
 * lists are asked for, so that few have to wait for one, and a twenty-fifth while nobody asks; for environments their mirrors ask all the
 * time. One of very many rests while it is under way.
 */
function keepCurrent(registry: Registry, mirrors: Mirrors, loaded: Promise<void>): () => void {
  const timers = new Map<Family, NodeJS.Timeout>()
  let closed = false
  const again = (family: Family, pause: number): void => {
    if (!closed) timers.set(family, setTimeout(() => void sweep(family), pause).unref())
  }
  const sweep = async (family: Family): Promise<void> => {
    const started = Date.now()
    // A disk that fails here fails the requests that need it too, and they say so.
    await registry.index
      .sweepAtRest(family)
      .then(() => (family.pins ? mirrors.syncAll() : undefined))
      .catch(() => undefined)
    const share = registry.index.unasked(family) < SOON ? 1 : 24
    const rest = registry.index.age > 0 ? 0 : (Date.now() - started) * share
    again(family, Math.max(SWEEP_EVERY, rest))
  }
  const begin = (): void => registry.families.forEach((family) => again(family, SWEEP_EVERY))
  // Where the first look fails, the next one finds what it did not.
  void loaded.then(begin, begin)
  return () => {
    closed = true
    for (const timer of timers.values()) clearTimeout(timer)
  }
}
