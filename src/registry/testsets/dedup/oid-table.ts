import type { Oid } from '../../../git/objects.ts'

/** The load factor past which the table grows, and the growth factor; costs 9 to 11 bytes per id. */
const FULLEST = 0.9
const GROWTH = 1.25

const WORDS_PER_ID = 2
const SMALLEST = 1024

/**
 * A set of object ids that stores only their first 8 bytes. Among a million ids, a false match has a chance
 * of 1 in 18 million million. A deliberate collision costs 2^32 hashes and hurts only its author. Ids are
 * uniformly distributed, so each one's slot follows its order and growing reads memory sequentially.
 */
export class OidTable {
  #slots = SMALLEST
  #words = new Uint32Array(WORDS_PER_ID * SMALLEST)
  #size = 0

  has(oid: Oid): boolean {
    const at = this.#find(
      Number.parseInt(oid.slice(0, 8), 16),
      lowWord(Number.parseInt(oid.slice(8, 16), 16)),
    )
    return this.#words[at + 1] !== 0
  }

  /** Adds the id stored in 20 bytes of a tree object. */
  add(bytes: Buffer, at: number): void {
    this.#put(bytes.readUInt32BE(at), lowWord(bytes.readUInt32BE(at + 4)))
  }

  #put(high: number, low: number): void {
    const at = this.#find(high, low)
    if (this.#words[at + 1] !== 0) return
    this.#words[at] = high
    this.#words[at + 1] = low
    this.#size++
    if (this.#size > this.#slots * FULLEST) this.#grow()
  }

  /** The index of the id, or of the free slot for it. */
  #find(high: number, low: number): number {
    const words = this.#words
    let at = WORDS_PER_ID * Math.floor((high / 2 ** 32) * this.#slots)
    while (words[at + 1] !== 0 && (words[at + 1] !== low || words[at] !== high)) {
      at += WORDS_PER_ID
      if (at === words.length) at = 0
    }
    return at
  }

  #grow(): void {
    const old = this.#words
    this.#slots = Math.ceil(this.#slots * GROWTH)
    this.#words = new Uint32Array(WORDS_PER_ID * this.#slots)
    this.#size = 0
    for (let at = 0; at < old.length; at += WORDS_PER_ID) {
      const low = old[at + 1] ?? 0
      if (low !== 0) this.#put(old[at] ?? 0, low)
    }
  }
}

/** Maps 0 to 1, because a second word of 0 marks a free slot. */
function lowWord(word: number): number {
  return word === 0 ? 1 : word
}
