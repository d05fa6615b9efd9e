import { Window, type WindowedFile } from './windowed-file.ts'

/**
 * One piece of a file at a time, beside the windows that are shared: for one reader who goes through a long stretch or
 * looks here and there in a file that is too large to keep. A piece that starts in the one before is twice as long as
 * that, up to `longest`; what is longer is read by itself. What a look answered is overwritten by the next look elsewhere.
 */
export class PieceReader {
  readonly size: number
  readonly #file: WindowedFile
  readonly #shortest: number
  readonly #longest: number
  #memory: Buffer
  #piece = new Window(Buffer.alloc(0), 0)

  constructor(file: WindowedFile, shortest: number, longest = shortest) {
    this.#file = file
    this.#shortest = shortest
    this.#longest = longest
    this.#memory = Buffer.allocUnsafeSlow(shortest)
    this.size = file.size
  }

  /** A window that holds `length` bytes from `position` on, fewer only where the file ends. */
  at(position: number, length: number): Window {
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

  #read(target: Buffer, position: number): Window {
    return new Window(target.subarray(0, this.#file.fill(target, position)), position)
  }
}
