import type { Fs } from '../../../src/storage/files/fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

/**
 * The real disk, without waiting for it: syncs resolve at once. For suites of many small writes that ask what the service
 * answers; that answered writes survive a power cut is proved elsewhere, with the syncs.
 */
export const hastyFs: Fs = {
  ...nodeFs,
  createSynced: (path, bytes) => {
    nodeFs.create(path, bytes)
    return Promise.resolve()
  },
  createLog: (path) => ({ ...nodeFs.createLog(path), sync: () => Promise.resolve() }),
  createFile: (path) => ({ ...nodeFs.createFile(path), sync: () => Promise.resolve() }),
  sync: () => Promise.resolve(),
  syncAll: () => Promise.resolve(),
  syncDir: () => Promise.resolve(),
}
