import { Refusal } from '../../errors.ts'

/** Reads pkt-lines from a body, and then what follows them as it is. Refuses (`contradictory_request`) what is none. */
export class PktReader {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next line's content, 'flush' for a flush packet, undefined at the end of the body. */
  async next(): Promise<Buffer | 'flush' | undefined> {
    if (!(await this.#have(4))) {
      if (this.#rest.length === 0) return undefined
      throw malformed()
    }
    const digits = this.#rest.toString('latin1', 0, 4)
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
    if (length !== 0 && (length < 4 || !(await this.#have(length)))) throw malformed()
    const content = this.#rest.subarray(4, length)
    this.#rest = this.#rest.subarray(length || 4)
    return length === 0 ? 'flush' : content
  }

  /** What comes after the lines that were read. */
  async *rest(): AsyncGenerator<Buffer> {
    try {
      if (this.#rest.length > 0) yield this.#rest
      for (let next = await this.#source.next(); !next.done; next = await this.#source.next())
        yield next.value
    } finally {
      await this.end()
    }
  }

  /** The rest of the body is not wanted. */
  async end(): Promise<void> {
    await this.#source.return?.()
  }

  async #have(length: number): Promise<boolean> {
    while (this.#rest.length < length) {
      const next = await this.#source.next()
      if (next.done) return false
      this.#rest = Buffer.concat([this.#rest, next.value])
    }
    return true
  }
}

function malformed(): Refusal {
  return new Refusal(
    'contradictory_request',
    'The body is not what a git client sends: its lines are cut off or do not say how long they are. Use git push.',
  )
}
