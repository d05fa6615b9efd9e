import type { Fs } from '../../../src/storage/files/fs.ts'

/** The classic ways to lose data, each as a server that leaves something out or does it in the wrong order. */
export const CARELESS: Readonly<Record<string, (fs: Fs) => Fs>> = {
  'new files are renamed without a sync': (fs) => ({
    ...fs,
    createSynced: async (path, bytes) => fs.create(path, bytes),
  }),

  'folders are not synced': (fs) => ({ ...fs, syncDir: async () => undefined }),

  'the journal is not synced': (fs) => ({
    ...fs,
    createLog: (path) => ({ ...fs.createLog(path), sync: async () => undefined }),
  }),

  'a write is answered before the sync of the journal is over': (fs) => ({
    ...fs,
    createLog: (path) => {
      const log = fs.createLog(path)
      return { ...log, sync: async () => void log.sync() }
    },
  }),

  'the journal is begun again before what it tells of is synced': (fs) => ({
    ...fs,
    syncAll: async () => undefined,
  }),

  'refs move before their objects are there': (fs) => {
    const late: (() => void)[] = []
    return {
      ...fs,
      rename: (from, to) => {
        if (isSmallPack(fs, to)) late.push(() => fs.rename(from, to))
        else fs.rename(from, to)
        if (/\/refs\/(?:heads|meta)\//.test(to)) for (const rename of late.splice(0)) rename()
      },
    }
  },
}

/** A pack that comes with a commit; others are published for themselves. */
function isSmallPack(fs: Fs, path: string): boolean {
  const isPack = /\.git\/objects\/pack\/pack-[0-9a-f]{40}\.(?:pack|idx)$/.test(path)
  return isPack && !fs.stat(path.replace(/(?:pack|idx)$/, 'keep'))
}
