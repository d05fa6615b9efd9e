import { getConfig } from 'isomorphic-git'
import type { Fs } from './fs.ts'

/**
 * A variable of a repository's config as git reads it; undefined where it is not set. The package takes fifty milliseconds to load, so
 * this file is loaded by the first repository whose config is not the one that we write.
 */
export async function configValue(fs: Fs, gitdir: string, path: string): Promise<unknown> {
  return getConfig({ fs: readOnly(fs), gitdir, path })
}

/** As much of isomorphic-git's file system client as reading a config takes; a write would be a mistake here. */
function readOnly(fs: Fs): NonNullable<Parameters<typeof getConfig>[0]['fs']> {
  const refuse = async (): Promise<never> => {
    throw Object.assign(new Error('read-only'), { code: 'EROFS' })
  }
  const readFile = async (
    path: string,
    options?: string | { encoding?: string },
  ): Promise<Buffer | string> => {
    const bytes = fs.readFile(path)
    if (!bytes) throw Object.assign(new Error(`${path} is absent`), { code: 'ENOENT' })
    const encoding = typeof options === 'string' ? options : options?.encoding
    return encoding === undefined ? bytes : bytes.toString('utf8')
  }
  const promises = {
    readFile,
    writeFile: refuse,
    unlink: refuse,
    readdir: refuse,
    mkdir: refuse,
    rmdir: refuse,
    stat: refuse,
    lstat: refuse,
    readlink: refuse,
    symlink: refuse,
  }
  return { promises }
}
