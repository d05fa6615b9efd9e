import type { Fs } from '../../../src/storage/files/fs.ts'

/** A disk on which the calls that say yes to `failIf` find it full. */
export function failingFs(fs: Fs): {
  readonly fs: Fs
  failIf(isFailing: (call: string, path: string) => boolean): void
} {
  let fails: (call: string, path: string) => boolean = () => false
  const check = (call: string, path: string): void => {
    if (fails(call, path)) throw Object.assign(new Error(`no space: ${call} ${path}`), { code: 'ENOSPC' })
  }
  return {
    failIf: (isFailing) => void (fails = isFailing),
    fs: {
      ...fs,
      // In a thread they would not fail.
      createSynced: async (path, bytes) => (check('createSynced', path), fs.createSynced(path, bytes)),
      create: (path, bytes) => (check('create', path), fs.create(path, bytes)),
      createLog: (path) => {
        check('createLog', path)
        const log = fs.createLog(path)
        return {
          ...log,
          append: (bytes) => (check('log.append', path), log.append(bytes)),
          sync: async () => (check('log.sync', path), log.sync()),
        }
      },
      makeDir: (path) => (check('makeDir', path), fs.makeDir(path)),
      rename: (from, to) => (check('rename', to), fs.rename(from, to)),
      link: (from, to) => (check('link', to), fs.link(from, to)),
      remove: (path) => (check('remove', path), fs.remove(path)),
      syncDir: async (path) => (check('syncDir', path), fs.syncDir(path)),
    },
  }
}
