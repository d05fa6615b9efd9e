/** A message of an interpreter's, as `inside/messages.ts` describes them. */
export interface Message {
  readonly letter: string
  readonly body: Buffer
}

/** Cuts what comes out of a pipe into messages. What is in them is not believed here, only that they are not too long. */
export class MessageReader {
  /** The longest message that is taken, in bytes. */
  limit: number
  #pieces: Buffer[] = []
  #length = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** The messages that end in this piece; undefined if one is too long, after which nothing can be read any more. */
  read(piece: Buffer): readonly Message[] | undefined {
    this.#pieces.push(piece)
    this.#length += piece.length
    const messages: Message[] = []
    while (this.#length >= HEAD) {
      const first = this.#joined(HEAD)
      const length = first.readUInt32BE()
      if (length < 1 || length > this.limit) return undefined
      if (this.#length < HEAD + length) break
      const all = this.#joined(this.#length)
      const end = HEAD + length
      messages.push({ letter: String.fromCharCode(all[HEAD] ?? 0), body: all.subarray(HEAD + 1, end) })
      this.#pieces = [all.subarray(end)]
      this.#length -= end
    }
    return messages
  }

  /** The first piece, once it has at least so many bytes. */
  #joined(length: number): Buffer {
    const [first] = this.#pieces
    if (first && first.length >= length) return first
    const all = Buffer.concat(this.#pieces)
    this.#pieces = [all]
    return all
  }
}

/** Four bytes of length. */
const HEAD = 4
