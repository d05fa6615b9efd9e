import { LRUCache } from 'lru-cache'
import { CACHE_ENTRY, recentlyUsed } from '../../base/recently-used.ts'
import type { Fs, ReadHandle } from '../../storage/files.ts'
import { PackGone } from '../objects/errors.ts'

/** Windows have twice this length and start at multiples of it, so a piece of this length is always completely in one of them. */
const STRIDE = 64 * 1024
const WINDOW = 2 * STRIDE

/** A part of a file: `bytes[0]` is the file's byte number `start`. */
export class FileWindow {
  readonly bytes: Buffer
  readonly start: number
  /** The same bytes as a view: a Buffer's own readers are several times slower until they are compiled. */
  readonly view: DataView

  constructor(bytes: Buffer, start: number) {
    this.bytes = bytes
    this.start = start
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

const MIB = 1024 * 1024

/** Windows and open files of all windowed files of a process, with a limit of bytes and of files. */
export class FileCache {
  readonly windows = recentlyUsed<number, FileWindow>(24 * MIB, ({ bytes }) => bytes.length + CACHE_ENTRY)
  /** Open files by path. */
  readonly handles = new LRUCache<string, ReadHandle>({
    max: 128,
    dispose: (handle) => handle.close(),
  })

  #serial = 0

  /** A number that is unique in this cache, for cache keys that are shorter than the file's path. */
  nextSerial(): number {
    return ++this.#serial
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
  readonly #cache: FileCache
  readonly #serial: number

  constructor(fs: Fs, cache: FileCache, path: string) {
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
   * A window of `length` bytes from `position` on; shorter only at the end of the file. Throws `PackGone` if the file has been removed and
   * is not open any more.
   */
  at(position: number, length: number): FileWindow {
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

  /** Fills `target` from byte `position` and answers the number of bytes; keeps no window. Throws as `at` does. */
  fill(target: Uint8Array, position: number): number {
    return this.#handle().read(target, position)
  }

  #keyOf(number: number): number {
    return this.#serial * 2 ** 24 + number // enough for files of a tebibyte
  }

  #read(start: number, length: number): FileWindow {
    if (this.size <= WINDOW) return this.#readAndClose(this.#open())
    return this.#readFrom(this.#handle(), start, length)
  }

  /** The whole small file, which is not kept open. */
  #readAndClose(handle: ReadHandle): FileWindow {
    try {
      return this.#readFrom(handle, 0, handle.size)
    } finally {
      handle.close()
    }
  }

  #readFrom(handle: ReadHandle, start: number, length: number): FileWindow {
    const target = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, handle.size - start)))
    return new FileWindow(target.subarray(0, handle.read(target, start)), start)
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
    if (!handle) throw new PackGone(`${this.path} is gone.`)
    return handle
  }
}

/**
 * One piece of a file at a time, outside the shared windows: for a reader of a long part, or of single places in a file that is too large
 * to keep. A piece that starts in the previous one is twice as long, up to `longest`; longer reads get a separate buffer. The next read of
 * another place overwrites the answered bytes.
 */
export class ReadAheadBuffer {
  readonly size: number
  readonly #file: WindowedFile
  readonly #shortest: number
  readonly #longest: number
  #memory: Buffer
  #piece = new FileWindow(Buffer.alloc(0), 0)

  constructor(file: WindowedFile, shortest: number, longest = shortest) {
    this.#file = file
    this.#shortest = shortest
    this.#longest = longest
    this.#memory = Buffer.allocUnsafeSlow(shortest)
    this.size = file.size
  }

  /** A window of `length` bytes from `position` on; shorter only at the end of the file. */
  at(position: number, length: number): FileWindow {
    const { start, bytes } = this.#piece
    const end = start + bytes.length
    if (position >= start && (position + length <= end || (end === this.size && position <= end))) {
      return this.#piece
    }
    if (length > this.#longest) return this.#read(Buffer.allocUnsafeSlow(length), position)
    const goesOn = position > start && position <= end
    const wanted = Math.max(length, goesOn ? Math.min(bytes.length * 2, this.#longest) : this.#shortest)
    if (wanted > this.#memory.length) this.#memory = Buffer.allocUnsafeSlow(wanted)
    return (this.#piece = this.#read(this.#memory.subarray(0, wanted), position))
  }

  #read(target: Buffer, position: number): FileWindow {
    return new FileWindow(target.subarray(0, this.#file.fill(target, position)), position)
  }
}
