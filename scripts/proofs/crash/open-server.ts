import { followStore } from '../../../src/cluster/following/open-following.ts'
import { tmpdir } from 'node:os'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { Store } from '../../../src/git/store/store.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { queryFamily } from '../../../src/registry/families/query-family.ts'
import { testsetFamily } from '../../../src/registry/testsets/testset-family.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { openRegistry } from '../../../src/registry/store/open-registry.ts'
import { Registry } from '../../../src/registry/store/registry.ts'

/** The only store of a simulated disk: a path that a real folder may have, too (see GitOnDisk). */
export const STORE = `${tmpdir()}/branchpoint-crash-${process.pid}`

export const LIMITS = { maxRows: 1000, maxRowBytes: 100_000, maxColumns: 100 }

export const testsets = testsetFamily(LIMITS)

const FAMILIES = [workflowFamily, testsets, environmentFamily, queryFamily]

let seconds = 0
const SETTINGS = {
  servicesBase: 'http://localhost/services',
  now: () => new Date(Date.parse('2026-03-01T09:30:00Z') + 1000 * ++seconds),
}

/** A server over the store of a disk, without its HTTP. */
export interface CrashServer {
  readonly fs: Fs
  readonly store: Store
  readonly registry: Registry
  /** Stops it as the real one is: the journal is settled, and the memory of its index let go of. */
  close(): Promise<void>
}

/**
 * Starts it as the real one is: journals are recovered, every repository is read in, repaired and swept. With a log that servers share the
 * store follows that.
 */
export async function openServer(fs: Fs, openLog?: OpenLog): Promise<CrashServer> {
  const store = await (openLog ? followStore(fs, STORE, openLog) : Store.open(fs, STORE))
  await store.filling?.whole
  const project = await store.project('default')
  const { registry, sweepLeftovers, close } = await openRegistry(project, FAMILIES, SETTINGS)
  await sweepLeftovers()
  // Its regular look at the disk would come at another step each time.
  close()
  return { fs, store, registry, close: () => closeAll(store, registry) }
}

/** SQLite's memory for an index that nobody closes is never given back, and every git that is started later costs more for it. */
async function closeAll(store: Store, registry: Registry): Promise<void> {
  try {
    await store.close()
  } finally {
    await registry.index.close()
  }
}

/** Another registry over the same store, which has read nothing yet. */
export async function newRegistry({ store }: CrashServer): Promise<Registry> {
  return new Registry(await store.project('default'), FAMILIES, SETTINGS)
}
