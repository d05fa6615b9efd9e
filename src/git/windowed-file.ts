import type { Fs } from './fs.ts'
import type { PackCache } from './pack-cache.ts'
import { Vanished } from './vanished.ts'

/** A stretch of a file: `bytes[0]` is the file's byte number `start`. */
export interface Window {
  readonly bytes: Buffer
  readonly start: number
}

/**
 * A large file that never changes, read a window at a time. Windows are `2 × stride` long and start every `stride`, so
 * whatever is no longer than a stride lies whole in one of them. Windows and the open file live in the shared cache.
 */
export class WindowedFile {
  readonly path: string
  readonly size: number
  readonly #fs: Fs
  readonly #cache: PackCache
  readonly #stride: number

  constructor(fs: Fs, cache: PackCache, path: string, stride: number) {
    this.path = path
    this.#fs = fs
    this.#cache = cache
    this.#stride = stride
    this.size = this.#handle().size
  }

  /**
   * A window that holds `length` bytes from `position` on, fewer only where the file ends. Throws `Vanished` if the file
   * has been removed and is not open any more.
   */
  at(position: number, length: number): Window {
    const number = Math.floor(position / this.#stride)
    const start = number * this.#stride
    if (position + length > start + 2 * this.#stride && start + 2 * this.#stride < this.size) {
      return { bytes: this.#read(position, length), start: position }
    }
    const key = `${this.path}@${number}`
    let bytes = this.#cache.windows.get(key)
    if (!bytes) {
      bytes = this.#read(start, 2 * this.#stride)
      this.#cache.windows.set(key, bytes)
    }
    return { bytes, start }
  }

  #read(position: number, length: number): Buffer {
    const target = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, this.size - position)))
    const handle = this.#handle()
    const got = handle.read(target, position)
    // one window holds all of a small file, so its handle is worth more to another
    if (this.size <= 2 * this.#stride) this.#cache.handles.delete(this.path)
    return target.subarray(0, got)
  }

  #handle() {
    const open = this.#cache.handles.get(this.path)
    if (open) return open
    const handle = this.#fs.open(this.path)
    if (!handle) throw new Vanished(`${this.path} is gone.`)
    this.#cache.handles.set(this.path, handle)
    return handle
  }
}
