import type { Oid } from '../objects/object.ts'

/** A row is eight words of 32 bits: five of the id, the CRC, the offset's low and high word. */
const ROW = 8
const CRC = 5
const LOW = 6
const HIGH = 7

const SMALLEST = 64

/** A few milliseconds' work. */
const ROWS_SORTED_BETWEEN_YIELDS = 65_536

/** The id that is looked for, as bytes: turned from hex in place, for there is no cheaper way. */
const sought = Buffer.alloc(20)
const soughtWords = new DataView(sought.buffer, sought.byteOffset, sought.length)

/**
 * The objects of a pack that is being written, numbered from 0 in the order they were added: id, CRC-32 and offset of their
 * entries. 40 to 48 bytes an object, none of them on the heap.
 */
export class PackEntryTable {
  #rows = new Uint32Array(SMALLEST * ROW)
  /** Open addressing by the id's first word: a row's number plus one, 0 where free; at least half of them are. */
  #slots = new Uint32Array(SMALLEST * 2)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** The number of the object's row, or undefined if it was not added. */
  find(oid: Oid): number | undefined {
    const row = this.#slots[this.#slotOf(oid)]
    return row ? row - 1 : undefined
  }

  /** Adds a row for an object that has none. */
  add(oid: Oid, offset: number, crc: number): void {
    if ((this.#count + 1) * 2 > this.#slots.length) this.#grow()
    this.#slots[this.#slotOf(oid)] = this.#count + 1
    const at = this.#count++ * ROW
    for (let word = 0; word < 5; word++) this.#rows[at + word] = soughtWords.getUint32(word * 4)
    this.#rows[at + CRC] = crc
    this.#rows[at + LOW] = offset % 0x100000000
    this.#rows[at + HIGH] = Math.floor(offset / 0x100000000)
  }

  offset(row: number): number {
    return this.#word(row, HIGH) * 0x100000000 + this.#word(row, LOW)
  }

  crc(row: number): number {
    return this.#word(row, CRC)
  }

  /** Writes the 20 bytes of the row's id. */
  writeId(row: number, target: DataView, at: number): void {
    for (let word = 0; word < 5; word++) target.setUint32(at + word * 4, this.#word(row, word))
  }

  firstByte(row: number): number {
    return this.#word(row, 0) >>> 24
  }

  /** The rows in order of their ids. Ordering many takes a while: it comes back now and then, for whoever has to do something else, too. */
  *inOrder(): Generator<void, Uint32Array> {
    // ids are spread evenly: as many buckets as rows leave one or two to sort in each
    const bits = Math.min(20, Math.ceil(Math.log2(this.#count + 2)))
    const starts = new Uint32Array(2 ** bits + 1)
    const bucket = (row: number): number => this.#word(row, 0) >>> (32 - bits)
    for (let row = 0; row < this.#count; row++) {
      starts[bucket(row) + 1]! += 1 // one more than there are buckets
      if (row % ROWS_SORTED_BETWEEN_YIELDS === ROWS_SORTED_BETWEEN_YIELDS - 1) yield
    }
    for (let number = 0; number < 2 ** bits; number++) starts[number + 1]! += starts[number]! // likewise
    const rows = new Uint32Array(this.#count)
    // the first words beside their rows: looking them up in order of ids would miss the processor's cache each time
    const heads = new Uint32Array(this.#count)
    for (let row = 0; row < this.#count; row++) {
      const place = starts[bucket(row)]!++ // likewise
      rows[place] = row
      heads[place] = this.#word(row, 0)
      if (row % ROWS_SORTED_BETWEEN_YIELDS === ROWS_SORTED_BETWEEN_YIELDS - 1) yield
    }
    // nothing moves out of its bucket, so this takes as many steps as there are rows
    for (let place = 1; place < rows.length; place++) {
      const row = rows[place]! // place < rows.length
      const head = heads[place]! // likewise
      let at = place
      for (; at > 0; at--) {
        const before = heads[at - 1]! // at > 0
        if (before < head || (before === head && this.#compare(rows[at - 1]!, row) < 0)) break
        heads[at] = before
        rows[at] = rows[at - 1]! // at > 0
      }
      heads[at] = head
      rows[at] = row
      if (place % ROWS_SORTED_BETWEEN_YIELDS === 0) yield
    }
    return rows
  }

  #word(row: number, word: number): number {
    return this.#rows[row * ROW + word]! // rows come from `find` and `inOrder`
  }

  #compare(a: number, b: number): number {
    for (let word = 0; word < 5; word++) {
      const difference = this.#word(a, word) - this.#word(b, word)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The slot that holds the object, or the free one where it belongs; leaves the id in `soughtWords`. */
  #slotOf(oid: Oid): number {
    sought.write(oid, 'hex')
    const last = this.#slots.length - 1
    for (let slot = soughtWords.getUint32(0) & last; ; slot = (slot + 1) & last) {
      const row = this.#slots[slot]! // slot <= last
      if (row === 0 || this.#isSought(row - 1)) return slot
    }
  }

  #isSought(row: number): boolean {
    for (let word = 0; word < 5; word++) {
      if (this.#word(row, word) !== soughtWords.getUint32(word * 4)) return false
    }
    return true
  }

  #grow(): void {
    const rows = new Uint32Array(this.#rows.length * 2)
    rows.set(this.#rows)
    this.#rows = rows
    this.#slots = new Uint32Array(this.#slots.length * 2)
    const last = this.#slots.length - 1
    for (let row = 0; row < this.#count; row++) {
      let slot = this.#word(row, 0) & last
      while (this.#slots[slot] !== 0) slot = (slot + 1) & last
      this.#slots[slot] = row + 1
    }
  }
}
