import { CorruptObject } from '../../objects/errors.ts'

/** Reads values in SSH's wire format (RFC 4251, section 5). Throws `CorruptObject` if they are incomplete. */
export class SshReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The next `length` bytes. */
  take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new CorruptObject('is cut off')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  uint32(): number {
    return this.take(4).readUInt32BE()
  }

  /** A length, then that many bytes. */
  string(): Buffer {
    return this.take(this.uint32())
  }

  text(): string {
    return this.string().toString('latin1')
  }

  /** Throws `CorruptObject` if bytes are left. */
  end(): void {
    if (this.#at < this.#bytes.length) throw new CorruptObject('has something left over at its end')
  }
}

/** These values, each with its length before it. */
export function sshStrings(...values: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(values.map(sshString))
}

function sshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
