import { Refusal } from '../errors.ts'
import type { ProjectStore } from '../git/store.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { Family } from './family.ts'
import type { RegistrySettings } from './registry.ts'
import { Registry } from './registry.ts'
import { repairArtifact } from './repair-artifact.ts'

/** How often plain git's changes to repositories that nobody names are looked for, in milliseconds. */
const SWEEP_EVERY = 1000

/** Who asked for a list so many milliseconds ago may ask again, and should not have to wait for a sweep then. */
const SOON = 10_000

/** A registry that is read in, repaired, and kept current until it is closed. */
export interface OpenRegistry {
  readonly registry: Registry
  close(): void
}

/** Reads a project in: every repository once, finishing what a crash cut off. */
export async function openRegistry(
  store: ProjectStore,
  families: readonly Family[],
  settings: RegistrySettings,
): Promise<OpenRegistry> {
  const registry = new Registry(store, families, settings)
  await registry.index.load()
  for (const family of families) {
    for (const artifact of await registry.index.list(family)) await repairIfPossible(registry, artifact)
  }
  await followEnvironments(registry)
  return { registry, close: keepCurrent(registry) }
}

/** An artifact that cannot be repaired now (somebody locks it, git left damage) is served as it is, like the others. */
async function repairIfPossible(registry: Registry, artifact: ArtifactView): Promise<void> {
  try {
    await repairArtifact(registry, artifact)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
}

/** What plain git did to environments, and what a crash cut off after a deployment. */
async function followEnvironments(registry: Registry): Promise<void> {
  if (registry.families.some(({ pins }) => pins)) await registry.mirrors.followAll()
}

/**
 * Sweeps each family again and again. With very many artifacts a sweep takes long: then it takes a half of the time at most while lists
 * are asked for, so that few have to wait for one, and a twenty-fifth while nobody asks; for environments their mirrors ask all the
 * time. A list that would be too stale waits.
 */
function keepCurrent(registry: Registry): () => void {
  const timers = new Map<Family, NodeJS.Timeout>()
  let closed = false
  const again = (family: Family, pause: number): void => {
    if (!closed) timers.set(family, setTimeout(() => void sweep(family), pause).unref())
  }
  const sweep = async (family: Family): Promise<void> => {
    const started = Date.now()
    // A disk that fails here fails the requests that need it too, and they say so.
    await registry.index
      .sweep(family)
      .then(() => (family.pins ? registry.mirrors.followAll() : undefined))
      .catch(() => undefined)
    const share = registry.index.unasked(family) < SOON ? 1 : 24
    again(family, Math.max(SWEEP_EVERY, (Date.now() - started) * share))
  }
  for (const family of registry.families) again(family, SWEEP_EVERY)
  return () => {
    closed = true
    for (const timer of timers.values()) clearTimeout(timer)
  }
}
