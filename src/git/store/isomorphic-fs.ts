import type { PromiseFsClient } from 'isomorphic-git'
import type { Fs } from '../../storage/files.ts'

/**
 * The part of a file system that isomorphic-git needs to read a repository, over any `Fs`. Refuses writes, because isomorphic-git writes refs
 * and objects in place, without the locks and the journal that protect concurrent writes.
 */
export function isomorphicFs(fs: Fs): PromiseFsClient {
  const refuse = async (path: string): Promise<never> => {
    throw systemError('EROFS', path)
  }
  const stat = async (path: string) => {
    const found = fs.stat(path) ?? absent(path)
    return { ...found, isFile: () => found.kind === 'file', isDirectory: () => found.kind === 'folder' }
  }
  const promises = {
    readFile: async (path: string, options?: string | { readonly encoding?: string }) => {
      const bytes = fs.readFile(path) ?? absent(path)
      const encoding = typeof options === 'string' ? options : options?.encoding
      return encoding === undefined ? bytes : bytes.toString('utf8')
    },
    readdir: async (path: string) => fs.readDir(path) ?? absent(path),
    stat,
    lstat: stat,
    writeFile: refuse,
    unlink: refuse,
    mkdir: refuse,
    rmdir: refuse,
    readlink: refuse,
    symlink: refuse,
  }
  return { promises }
}

function absent(path: string): never {
  throw systemError('ENOENT', path)
}

function systemError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}
