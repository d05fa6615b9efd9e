import { crc32 } from 'node:zlib'
import type { Fs } from './fs.ts'
import { identityName, thisProcess } from './process-identity.ts'

const CHECKSUM = 4

/**
 * A file beside a repository's own that is made of its objects and can be made again: never synced, and nothing that its
 * checksum does not vouch for is believed. It may be deleted at any time.
 */
export class CacheFile {
  readonly path: string
  readonly #fs: Fs

  constructor(fs: Fs, path: string) {
    this.#fs = fs
    this.path = path
  }

  /** What was written last; undefined if there is nothing, or nothing whole. */
  read(): Buffer | undefined {
    const bytes = readOrNothing(this.#fs, this.path)
    if (!bytes || bytes.length < CHECKSUM) return undefined
    const content = bytes.subarray(0, -CHECKSUM)
    return crc32(content) === bytes.readUInt32BE(content.length) ? content : undefined
  }

  /** Replaces the file. A disk that fails costs nothing but the work of deriving it again. */
  write(content: Buffer): void {
    const temporary = `${this.path}.${identityName(thisProcess())}`
    const checksum = Buffer.alloc(CHECKSUM)
    checksum.writeUInt32BE(crc32(content))
    try {
      this.#fs.remove(temporary)
      this.#fs.create(temporary, Buffer.concat([content, checksum]))
      this.#fs.rename(temporary, this.path)
    } catch {
      // Who needs it finds it missing, or as it was.
    }
  }
}

/** The bytes of a file that is made of other things; undefined also where nobody may read it. */
export function readOrNothing(fs: Fs, path: string): Buffer | undefined {
  try {
    return fs.readFile(path)
  } catch {
    return undefined
  }
}
