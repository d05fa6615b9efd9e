import { BoundedCache } from './bounded-cache.ts'
import type { ReadHandle } from './fs.ts'
import type { GitObject } from './object.ts'
import type { PackFile } from './pack-file.ts'

const MIB = 1024 * 1024

/** What an entry costs beside its bytes, roughly: the objects, closures and map slots around them. */
const ENTRY = 512

/**
 * What all repositories of a process may keep of their packs: so many bytes and so many open files, however many
 * repositories there are. Everything in it is derived from files that never change, and can be dropped at any time.
 */
export class PackCache {
  /** Open packs by the path of their index, with the bytes of small indexes. */
  readonly packs = new BoundedCache<PackFile>(16 * MIB, (pack) => pack.index.heldBytes + ENTRY)
  /** Pieces of packs and of large indexes. */
  readonly windows = new BoundedCache<Buffer>(24 * MIB, (bytes) => bytes.length + ENTRY)
  /** Objects read lately, which the next delta may build on. */
  readonly bases = new BoundedCache<GitObject>(8 * MIB, ({ bytes }) => bytes.length + ENTRY)
  /** Open files by path. */
  readonly handles = new BoundedCache<ReadHandle>(
    128,
    () => 1,
    (handle) => handle.close(),
  )

  /** Lets go of everything, open files included. */
  close(): void {
    this.packs.clear()
    this.windows.clear()
    this.bases.clear()
    this.handles.clear()
  }
}
