import type { Fs } from './fs.ts'
import type { StoreGuard } from './store-guard.ts'

/**
 * `fs` for what lies in a store: while that is not there, every call refuses with `storage_unavailable`. So nothing is made where the store
 * was, and nobody takes what is not there for absent. What is open already can be read and written on.
 */
export function guardedFs(fs: Fs, guard: StoreGuard): Fs {
  const there = (): Fs => {
    guard.assertThere()
    return fs
  }
  return {
    isSeenByOthers: fs.isSeenByOthers,
    documents: fs.documents,
    stat: (path) => there().stat(path),
    readDir: (path) => there().readDir(path),
    readFile: (path) => there().readFile(path),
    open: (path) => there().open(path),
    createSynced: async (path, bytes, mode) => there().createSynced(path, bytes, mode),
    create: (path, bytes, mode) => there().create(path, bytes, mode),
    createLog: (path) => there().createLog(path),
    createFile: (path) => there().createFile(path),
    sync: async (path) => there().sync(path),
    syncAll: async (paths) => there().syncAll(paths),
    append: (path, bytes) => there().append(path, bytes),
    makeDir: (path) => there().makeDir(path),
    rename: (from, to) => there().rename(from, to),
    link: (from, to) => there().link(from, to),
    remove: (path) => there().remove(path),
    removeAll: async (paths) => there().removeAll(paths),
    removeFolder: (path) => there().removeFolder(path),
    removeTree: (path) => there().removeTree(path),
    syncDir: async (path) => there().syncDir(path),
  }
}
