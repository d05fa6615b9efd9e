import type { Config } from '../../../../config.ts'
import { openRegistry } from '../../../../versioning/open-registry.ts'
import { Registry } from '../../../../versioning/registry.ts'
import { restoreArtifact } from '../../../../versioning/artifacts/restore-artifact.ts'
import { openStore } from '../../../command/open-store.ts'
import { familiesOf } from '../families-of.ts'
import type { Target } from './target.ts'

/** The store in a folder of this machine, which is made if need be, or in a database; servers may be using it. */
export async function localTarget(
  config: Config,
  projects: readonly string[],
  signal: AbortSignal,
): Promise<Target> {
  const { store, dir, name, close } = await openStore(config)
  const families = familiesOf(config)
  const settings = {
    servicesBase: '',
    now: () => new Date(),
    limits: {
      maxBytes: config.maxBodyBytes,
      maxDocumentBytes: config.maxDocumentBytes,
      maxValues: config.maxBodyValues,
    },
  }
  const registries = new Map<string, Promise<Registry>>()
  const registryOf = async (project: string): Promise<Registry> => {
    const registry = new Registry(await store.project(project), families, settings)
    await registry.index.load()
    return registry
  }
  const restore: Target['restore'] = async ({ project, family, slug }, url, refs) => {
    const loading = registries.get(project) ?? registryOf(project)
    registries.set(project, loading)
    const registry = await loading
    const found = registry.families.find(({ folder }) => folder === family)
    if (!found) throw new Error(`there is no family ${family}`)
    const limits = { maxBlobBytes: config.pushMaxBlobBytes }
    return restoreArtifact(registry, { family: found, slug, refs, source: { url }, limits, signal })
  }
  const check = async (): Promise<string[]> => {
    const found: string[] = []
    for (const project of projects) {
      // Read in as a server does it, which also moves what mirrors environments.
      const open = await openRegistry(await store.project(project), families, settings)
      open.close()
      for (const { repository, reason } of open.registry.index.problems())
        found.push(`${project}/${repository}: it would not be served: ${reason}`)
    }
    return found
  }
  return { name, state: { fs: store.fs, dir }, restore, check, close }
}
