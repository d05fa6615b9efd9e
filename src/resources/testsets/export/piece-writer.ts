/** Writes a file piece by piece: text, and bytes that are copied. */
export class PieceWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST)
  #length = 0

  /** How many bytes were written since the last piece. */
  get length(): number {
    return this.#length
  }

  /** What was written since the last piece. */
  take(): Buffer {
    const piece = this.#bytes.subarray(0, this.#length)
    // the next one is probably about as long
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(FIRST, Math.ceil(this.#length * 1.25)))
    this.#length = 0
    return piece
  }

  /** Writes in UTF-8. */
  text(text: string): void {
    this.#makeRoom(3 * text.length) // the most that it takes
    // a call of `write` costs as much as fifty letters
    if (text.length > 50 || !this.#putAscii(text)) this.#length += this.#bytes.write(text, this.#length)
  }

  /** Copies what stands from `start` to before `end`. */
  copy(bytes: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start)
    const target = this.#bytes
    let to = this.#length
    if (end - start > LONG) to += bytes.copy(target, to, start, end)
    else for (let at = start; at < end; at++) target[to++] = bytes[at]!
    this.#length = to
  }

  /** Copies what a JSON string stands for, with the quotes in it doubled. Of escapes it knows those of one letter. */
  copyUnescaped(bytes: Buffer, start: number, end: number): void {
    this.#makeRoom(2 * (end - start))
    const target = this.#bytes
    let to = this.#length
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!
      if (byte !== BACKSLASH) target[to++] = byte
      else {
        const escaped = ESCAPED_BY[bytes[++at]!]!
        if (escaped === QUOTE) target[to++] = QUOTE
        target[to++] = escaped
      }
    }
    this.#length = to
  }

  /** False, and nothing is written, if the text is no ASCII. */
  #putAscii(text: string): boolean {
    const target = this.#bytes
    let to = this.#length
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code > 127) return false
      target[to++] = code
    }
    this.#length = to
    return true
  }

  #makeRoom(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

/** Room for the first piece. */
const FIRST = 64 * 1024
/** From so many bytes on `copy` of Buffer is quicker. */
const LONG = 128
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What each letter stands for behind a backslash. */
const ESCAPED_BY = Uint8Array.from({ length: 256 }, (_, byte) => {
  const at = '"\\bfnrt'.indexOf(String.fromCharCode(byte))
  return at < 0 ? byte : '"\\\b\f\n\r\t'.charCodeAt(at)
})
