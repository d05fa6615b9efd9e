import type { Fs, ReadHandle } from './fs.ts'
import type { PackCache } from './pack-cache.ts'
import { Vanished } from './vanished.ts'

/** Windows are twice this long and start every so many bytes: what is no longer than this lies whole in one of them. */
const STRIDE = 64 * 1024
const WINDOW = 2 * STRIDE

/** A stretch of a file: `bytes[0]` is the file's byte number `start`. */
export class Window {
  readonly bytes: Buffer
  readonly start: number
  /** The same bytes as numbers: a Buffer's own readers cost several times as much until they are compiled. */
  readonly view: DataView

  constructor(bytes: Buffer, start: number) {
    this.bytes = bytes
    this.start = start
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

/**
 * A file that never changes, read a window at a time. Windows and the open file live in the shared cache; a file that
 * fits into one window is not kept open.
 */
export class WindowedFile {
  readonly path: string
  readonly size: number
  readonly #fs: Fs
  readonly #cache: PackCache
  readonly #serial: number

  constructor(fs: Fs, cache: PackCache, path: string) {
    this.path = path
    this.#fs = fs
    this.#cache = cache
    this.#serial = cache.nextSerial()
    const handle = this.#open()
    this.size = handle.size
    if (this.size > WINDOW) cache.handles.set(path, handle)
    else cache.windows.set(this.#keyOf(0), this.#readAndClose(handle))
  }

  /**
   * A window that holds `length` bytes from `position` on, fewer only where the file ends. Throws `Vanished` if the file
   * has been removed and is not open any more.
   */
  at(position: number, length: number): Window {
    const number = this.size <= WINDOW ? 0 : Math.floor(position / STRIDE)
    const start = number * STRIDE
    if (position + length > start + WINDOW && start + WINDOW < this.size) return this.#read(position, length)
    const key = this.#keyOf(number)
    const known = this.#cache.windows.get(key)
    if (known) return known
    const window = this.#read(start, WINDOW)
    this.#cache.windows.set(key, window)
    return window
  }

  /** Fills `target` from byte `position` and answers how many bytes it got; keeps no window. Throws as `at` does. */
  fill(target: Uint8Array, position: number): number {
    return this.#handle().read(target, position)
  }

  #keyOf(number: number): number {
    return this.#serial * 2 ** 24 + number // room for files of a tebibyte
  }

  #read(start: number, length: number): Window {
    if (this.size <= WINDOW) return this.#readAndClose(this.#open())
    return this.#readFrom(this.#handle(), start, length)
  }

  /** The whole of a small file, which is not kept open. */
  #readAndClose(handle: ReadHandle): Window {
    try {
      return this.#readFrom(handle, 0, handle.size)
    } finally {
      handle.close()
    }
  }

  #readFrom(handle: ReadHandle, start: number, length: number): Window {
    const target = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, handle.size - start)))
    return new Window(target.subarray(0, handle.read(target, start)), start)
  }

  #handle(): ReadHandle {
    const known = this.#cache.handles.get(this.path)
    if (known) return known
    const handle = this.#open()
    this.#cache.handles.set(this.path, handle)
    return handle
  }

  #open(): ReadHandle {
    const handle = this.#fs.open(this.path)
    if (!handle) throw new Vanished(`${this.path} is gone.`)
    return handle
  }
}
