import { CACHE_ENTRY, recentlyUsed } from '../../base/recently-used.ts'
import type { Fs } from '../../storage/files.ts'
import { type GitObject, heldBytes } from '../objects/object.ts'
import type { PackReader } from './pack-reader.ts'
import { FileCache } from './windowed-file.ts'

const MIB = 1024 * 1024

/**
 * What all repositories of a process may keep of their packs: so many bytes and so many open files, however many
 * repositories there are. Everything in it is derived from files that never change, and can be dropped at any time.
 */
export class PackCache extends FileCache {
  /** Open packs by the path of their index, with the bytes of small indexes. */
  readonly packs = recentlyUsed<string, PackReader>(16 * MIB, (pack) => pack.index.heldBytes + CACHE_ENTRY)
  /** Objects that deltas were built on, or that deltas made, lately: the next delta may build on them. */
  readonly bases = recentlyUsed<string, GitObject>(8 * MIB, heldBytes)
  /** Objects written lately, by repository and id: what was just stored is what is read next. */
  readonly written = recentlyUsed<string, GitObject>(8 * MIB, heldBytes)

  /**
   * Closes the files that were removed since they were opened, or that we may not look at any more: until then their bytes take room on
   * the disk. Who needs one opens it again.
   */
  closeRemoved(fs: Fs): void {
    for (const path of this.handles.keys()) if (!isThere(fs, path)) this.handles.delete(path)
  }

  /** Lets go of what is kept by the path of a repository that is there no more. */
  drop(gitdir: string): void {
    for (const cache of [this.packs, this.written, this.handles]) {
      for (const key of [...cache.keys()]) {
        if (key.startsWith(`${gitdir}/`) || key.startsWith(`${gitdir} `)) cache.delete(key)
      }
    }
  }

  /** Lets go of everything, open files included. */
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
