import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import type { Repository, ProjectStore } from '../../git/store.ts'
import { atRest } from '../../base/scheduling.ts'
import type { Family } from '../payload/family.ts'
import { Mirrors } from '../environments/mirrors.ts'
import { damageOf } from '../index/damaged-repositories.ts'
import { MANY } from '../index/index-tables.ts'
import { type ClaimKeeper, keepClaims } from '../slugs/record-claims.ts'
import type { RegistrySettings } from './registry.ts'
import { Registry } from './registry.ts'
import { purgeTrash } from '../artifacts/trash-artifact.ts'

/** The interval between searches for plain git's changes to repositories, in milliseconds. */
const SWEEP_INTERVAL_MS = 1000

/** The interval between purges of the trash, in milliseconds. */
const PURGE_INTERVAL_MS = 60 * 60 * 1000

/**
 * A client that requested a list within these milliseconds may do so again, and should not have to wait for a
 * sweep.
 */
const RECENTLY_MS = 10_000

/** A loaded registry, kept current until it is closed. */
export interface OpenRegistry {
  readonly registry: Registry
  /**
   * Removes leftovers of dead processes from the repositories (see Repository), at low priority; resolves
   * when done, or when the registry is closed. Requests do not wait for it: a write takes over a dead
   * process's lock, and readers ignore the other files.
   */
  sweepLeftovers(): Promise<void>
  /** Resolves when it no longer writes to the folder. */
  close(): Promise<void>
}

/**
 * Loads a project from the index file that an earlier process left, and checks every repository; the start
 * waits for the check only in a small project. The journal already finished what a crash interrupted. Mirrors
 * are moved to what their environments say, and branches and tags from plain git are recorded.
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
  // A small project is checked within half a second, once it is filled.
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
      // If something cannot be written now, for example because the store is gone, the next start finds it again.
      await registry.index.close().catch(() => undefined)
    },
  }
}

/** Checks every repository. In a large project it waits until the start is done, or a list is requested. */
async function load(registry: Registry, mirrors: Mirrors, claims: ClaimKeeper): Promise<void> {
  if (isLarge(registry)) await pause(SWEEP_INTERVAL_MS)
  await registry.index.load()
  await claims.recordSeen()
  await followEnvironments(registry, mirrors)
}

function isLarge({ families, store }: Registry): boolean {
  return families.some(({ folder }) => store.slugs(folder).length > MANY)
}

/** Purges expired trash now and every hour; returns a function that stops it. */
function keepPurged(registry: Registry): () => void {
  // If another artifact has the slugs, or the disk fails, the next round retries.
  const purge = (): void => void purgeTrash(registry).catch(() => undefined)
  const soon = setTimeout(purge, SWEEP_INTERVAL_MS).unref()
  const rounds = setInterval(purge, PURGE_INTERVAL_MS).unref()
  return () => {
    clearTimeout(soon)
    clearInterval(rounds)
  }
}

/** The repositories of all artifacts, without building their views. */
function* repositoriesOf({ families, index, store }: Registry): Generator<Repository> {
  for (const family of families)
    for (const slug of index.seen(family).slugs()) yield store.repository(family.folder, slug)
}

/** An artifact that cannot be swept now (it is locked, or damaged) is served anyway. */
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
    // The registry closes, or the disk fails, which requests will report. The next start sweeps the rest.
  }
}

/** Follows plain git's changes to environments, and deployments that a crash interrupted. */
async function followEnvironments(registry: Registry, mirrors: Mirrors): Promise<void> {
  if (registry.families.some(({ pins }) => pins)) await mirrors.syncAll()
}

/**
 * Sweeps each family repeatedly. With thousands of artifacts a sweep takes long. It then takes at most half
 * of the time while lists are requested, so that few requests wait for one, and a twenty-fifth otherwise.
 * Mirrors request environments all the time. In a large project a sweep yields to other work.
 */
function keepCurrent(registry: Registry, mirrors: Mirrors, loaded: Promise<void>): () => void {
  const timers = new Map<Family, NodeJS.Timeout>()
  let closed = false
  const again = (family: Family, pause: number): void => {
    if (!closed) timers.set(family, setTimeout(() => void sweep(family), pause).unref())
  }
  const sweep = async (family: Family): Promise<void> => {
    const started = Date.now()
    // Requests that need a failing disk report it.
    await registry.index
      .sweepAtRest(family)
      .then(() => (family.pins ? mirrors.syncAll() : undefined))
      .catch(() => undefined)
    const share = registry.index.unasked(family) < RECENTLY_MS ? 1 : 24
    const rest = registry.index.age > 0 ? 0 : (Date.now() - started) * share
    again(family, Math.max(SWEEP_INTERVAL_MS, rest))
  }
  const begin = (): void => registry.families.forEach((family) => again(family, SWEEP_INTERVAL_MS))
  // If the first check fails, the next one finds the rest.
  void loaded.then(begin, begin)
  return () => {
    closed = true
    for (const timer of timers.values()) clearTimeout(timer)
  }
}
