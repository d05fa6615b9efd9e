/**
 * Lines of spans that are stored together, as bytes: the garbage collector would copy and look through texts that wait, again and again,
 * which cost as much as storing them.
 */
export class SpanBatch {
  #bytes: Buffer
  #used = 0
  #count = 0

  /** Has room for so many bytes, and gets more when it is needed. */
  constructor(room: number) {
    this.#bytes = Buffer.allocUnsafeSlow(room)
  }

  /** How many spans it has. */
  get count(): number {
    return this.#count
  }

  /** How many bytes they are. */
  get size(): number {
    return this.#used
  }

  /** Adds the lines of so many spans, which take so many bytes in UTF-8. */
  add(lines: string, count: number, size: number): void {
    if (this.#used + size > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#used + size))
      this.#bytes.copy(larger, 0, 0, this.#used)
      this.#bytes = larger
    }
    this.#bytes.write(lines, this.#used)
    this.#used += size
    this.#count += count
  }

  /** A copy of its bytes that can be given away. */
  lines(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.subarray(0, this.#used))
  }
}
