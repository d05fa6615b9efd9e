import { CACHE_ENTRY, recentlyUsed } from '../../base/recently-used.ts'
import type { Fs } from '../../storage/files.ts'
import { type GitObject, heldBytes } from '../objects/object.ts'
import type { PackReader } from './pack-reader.ts'
import { FileCache } from './windowed-file.ts'

const MIB = 1024 * 1024

/**
 * Cached data of packs, shared by all repositories of a process, with a limit of bytes and of open files. Everything in it is derived from
 * files that never change, and can be dropped at any time.
 */
export class PackCache extends FileCache {
  /** Open packs by the path of their index, with the bytes of small indexes. */
  readonly packs = recentlyUsed<string, PackReader>(16 * MIB, (pack) => pack.index.heldBytes + CACHE_ENTRY)
  /** Recently used bases of deltas, and results of deltas: the next delta may build on them. */
  readonly bases = recentlyUsed<string, GitObject>(8 * MIB, heldBytes)
  /** Recently written objects, by repository and id: they are often read next. */
  readonly written = recentlyUsed<string, GitObject>(8 * MIB, heldBytes)

  /**
   * Closes files that were removed since they were opened, or that cannot be checked any more, because open files keep their space on the
   * disk. They are opened again when needed.
   */
  closeRemoved(fs: Fs): void {
    for (const path of this.handles.keys()) if (!isThere(fs, path)) this.handles.delete(path)
  }

  /** Drops the entries of a repository's path, because the repository is gone. */
  drop(gitdir: string): void {
    for (const cache of [this.packs, this.written, this.handles]) {
      for (const key of [...cache.keys()]) {
        if (key.startsWith(`${gitdir}/`) || key.startsWith(`${gitdir} `)) cache.delete(key)
      }
    }
  }

  /** Drops everything, and closes open files. */
  close(): void {
    this.packs.clear()
    this.windows.clear()
    this.bases.clear()
    this.written.clear()
    this.handles.clear()
  }
}

function isThere(fs: Fs, path: string): boolean {
  try {
    return fs.stat(path) !== undefined
  } catch {
    return false
  }
}
