import type { Oid } from '../../../git/objects/object.ts'

/** How full the table may be, and by how much it then grows: 9 to 11 bytes an id. */
const FULLEST = 0.9
const GROWTH = 1.25

/** How many bytes of an id are kept, as two words. */
const WORDS = 2
const SMALLEST = 1024

/**
 * A set of object ids that keeps their first 8 bytes only. That is enough: the chance that another id is taken for one of a million is 1 in
 * 18 million million. Who makes two objects agree on purpose, at the price of 2^32 hashes, has written both himself. Ids are as good as
 * random, so their order is their place, and growing goes through memory in order.
 */
export class OidTable {
  #slots = SMALLEST
  #words = new Uint32Array(WORDS * SMALLEST)
  #size = 0

  has(oid: Oid): boolean {
    const at = this.#find(
      Number.parseInt(oid.slice(0, 8), 16),
      lowWord(Number.parseInt(oid.slice(8, 16), 16)),
    )
    return this.#words[at + 1] !== 0
  }

  /** Adds the id that stands in 20 bytes of a tree object. */
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

  /** Where the id is, or the free slot where it would go. */
  #find(high: number, low: number): number {
    const words = this.#words
    let at = WORDS * Math.floor((high / 2 ** 32) * this.#slots)
    while (words[at + 1] !== 0 && (words[at + 1] !== low || words[at] !== high)) {
      at += WORDS
      if (at === words.length) at = 0
    }
    return at
  }

  #grow(): void {
    const old = this.#words
    this.#slots = Math.ceil(this.#slots * GROWTH)
    this.#words = new Uint32Array(WORDS * this.#slots)
    this.#size = 0
    for (let at = 0; at < old.length; at += WORDS) {
      const low = old[at + 1] ?? 0
      if (low !== 0) this.#put(old[at] ?? 0, low)
    }
  }
}

/** A free slot is one whose second word is 0, so no id may have that. */
function lowWord(word: number): number {
  return word === 0 ? 1 : word
}
