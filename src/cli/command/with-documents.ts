import type { Config } from '../../config.ts'
import { refuseCopy } from '../../git/store.ts'
import { announceProcess, type Fs, nodeFs } from '../../storage/files.ts'

/** A store's keys, sessions and secrets, for a command. */
export interface StatePlace {
  readonly fs: Fs
  readonly storeDir: string
  /** How messages name the store. */
  readonly shown: string
}

/**
 * Runs work on the keys, sessions and secrets of the configured store. If it is a database, the project's documents are read into memory, and
 * changes are written to the database.
 */
export async function withDocuments<T>(
  { store, storeDir }: Config,
  project: string,
  work: (place: StatePlace) => Promise<T>,
): Promise<T> {
  if (store === undefined) {
    refuseCopy(nodeFs, storeDir)
    const liveness = await announceProcess(nodeFs, storeDir)
    try {
      return await work({ fs: nodeFs, storeDir, shown: storeDir })
    } finally {
      liveness.release()
    }
  }
  const { openDocumentTable, SharedDocuments } = await import('../../cluster/cluster.ts')
  const { memoryFs } = await import('../../storage/memory-fs.ts')
  const { feed, close } = await openDocumentTable(store)
  try {
    const fs = memoryFs()
    fs.makeDir(FOLDER)
    const documents = new SharedDocuments({ fs, dir: FOLDER, feed, fresh: async () => undefined })
    const files = ['keys', 'sessions', 'secrets'].map((name) => `${project}/${name}.json`)
    // The projects that are there, which a new one must not be called like.
    const keys = (await feed.table.summaries()).map(({ path }) => path).filter((it) => KEYS.test(it))
    await documents.fetch(['secrets.key', 'default/projects.json', ...files, ...keys])
    return await work({ fs: { ...fs, documents }, storeDir: FOLDER, shown: 'the database in STORE' })
  } finally {
    await close()
  }
}

const FOLDER = '/store'
const KEYS = /^[^/]+\/keys\.json$/
