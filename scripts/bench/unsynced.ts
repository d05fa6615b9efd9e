import type { Fs } from '../../src/storage/fs.ts'

/** A disk that is never waited for: the same files as on `fs`, for stores that nobody misses after a power cut. */
export function unsynced(fs: Fs): Fs {
  const sync = async (): Promise<void> => undefined
  return {
    ...fs,
    createSynced: async (path, bytes, mode) => {
      if (mode !== undefined) return fs.createSynced(path, bytes, mode)
      fs.create(path, bytes instanceof Uint8Array ? bytes : Buffer.concat(bytes))
    },
    createLog: (path) => ({ ...fs.createLog(path), sync }),
    createFile: (path) => ({ ...fs.createFile(path), sync }),
    sync,
    syncAll: sync,
    syncDir: sync,
  }
}
