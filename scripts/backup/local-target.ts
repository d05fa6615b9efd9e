import type { Config } from '../../src/config.ts'
import { ChangeLog } from '../../src/git/change-log.ts'
import { nodeFs } from '../../src/git/node-fs.ts'
import { Store } from '../../src/git/store.ts'
import { openRegistry } from '../../src/versioning/open-registry.ts'
import { restoreArtifact } from '../../src/versioning/restore-artifact.ts'
import { familiesOf } from './families-of.ts'
import type { Target } from './target.ts'

/** The store in a folder of this machine, which is made if need be; servers may be using it. */
export async function localTarget(
  config: Config,
  projects: readonly string[],
  signal: AbortSignal,
): Promise<Target> {
  const store = await Store.open(nodeFs, config.storeDir)
  const restore: Target['restore'] = async ({ project, family, slug }, url, refs) => {
    const into = await store.project(project)
    const outcome = await restoreArtifact(into, { family, slug, refs, source: { url }, signal })
    if (outcome !== 'there') new ChangeLog(nodeFs, into.folder, WRITER).announce(`${family}/${slug}`)
    return outcome
  }
  const check = async (): Promise<string[]> => {
    const found: string[] = []
    for (const project of projects) {
      // Read in as a server does it, which also moves what mirrors environments.
      const settings = { servicesBase: '', now: () => new Date() }
      const open = await openRegistry(await store.project(project), familiesOf(config), settings)
      open.close()
      for (const { repository, reason } of open.registry.index.problems())
        found.push(`${project}/${repository}: it would not be served: ${reason}`)
    }
    return found
  }
  return { name: `the store at ${config.storeDir}`, restore, check, close: () => store.close() }
}

/** Whom servers that use the store hear of new repositories from. */
const WRITER = `restore-${process.pid}`
