import type { Oid } from '../../../git/objects/object.ts'
import { withinCalendar } from '../../../git/objects/ident.ts'
import type { CommitFacts } from './commit-facts.ts'

/**
 * The facts of many commits as bytes, to be found by id without decoding the others: a header, a hash table of record numbers, the
 * records, the texts. All numbers are big-endian.
 *
 * | part    | bytes                                                                                                     |
 * | ------- | --------------------------------------------------------------------------------------------------------- |
 * | header  | `BPF1`, the count of records, the count of slots (a power of two)                                          |
 * | slots   | 4 each: a record's number, counted from 1, in the first free slot from its id's first four bytes on; else 0 |
 * | records | 56 each: id, first parent (zeros for a root), seconds as a double, places of author and text               |
 * | texts   | length in 4 bytes, UTF-8                                                                                  |
 */
const MAGIC = Buffer.from('BPF1')
const HEADER = 12
const SLOT = 4
const RECORD = 56
const OID = 20
const [PARENT, SECONDS, AUTHOR, TEXT] = [OID, 2 * OID, 2 * OID + 8, 2 * OID + 12]
/** In the place of a text. */
const NO_TEXT = 0xffffffff
const LONG_TEXT = 0xfffffffe

/** Past so many bytes of text a message counts as one that is too long to be kept. */
const MOST_TEXT = 256 * 1024 * 1024

const ROOT: Oid = '0'.repeat(2 * OID)

/** Looks facts up in a table. */
export class FactsTable {
  readonly #bytes: Buffer
  readonly #slots: number
  readonly #records: number
  readonly #texts: number
  /** By place: few people make many commits. */
  readonly #authors = new Map<number, string>()

  private constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#slots = bytes.readUInt32BE(8)
    this.#records = HEADER + this.#slots * SLOT
    this.#texts = this.#records + bytes.readUInt32BE(4) * RECORD
  }

  /** The table that these bytes are; undefined if they are none that this version writes. They must be whole. */
  static of(bytes: Buffer): FactsTable | undefined {
    return bytes.length >= HEADER && bytes.subarray(0, MAGIC.length).equals(MAGIC)
      ? new FactsTable(bytes)
      : undefined
  }

  find(oid: Oid): CommitFacts | undefined {
    const id = Buffer.from(oid, 'hex')
    for (let slot = id.readUInt32BE(0); ; slot++) {
      const number = this.#bytes.readUInt32BE(HEADER + (slot & (this.#slots - 1)) * SLOT)
      if (number === 0) return undefined
      const at = this.#records + (number - 1) * RECORD
      if (this.#bytes.compare(id, 0, OID, at, at + OID) === 0) return this.#factsAt(at, oid)
    }
  }

  #factsAt(at: number, oid: Oid): CommitFacts {
    const bytes = this.#bytes
    const parent = bytes.toString('hex', at + PARENT, at + PARENT + OID)
    return {
      oid,
      parent: parent === ROOT ? undefined : parent,
      // Written by a server of before, it may be any number.
      seconds: withinCalendar(bytes.readDoubleBE(at + SECONDS)),
      author: this.#authorAt(bytes.readUInt32BE(at + AUTHOR)),
      text: this.#textAt(bytes.readUInt32BE(at + TEXT)),
    }
  }

  #authorAt(place: number): string {
    const known = this.#authors.get(place)
    if (known !== undefined) return known
    const author = this.#stringAt(place)
    this.#authors.set(place, author)
    return author
  }

  #textAt(place: number): CommitFacts['text'] {
    if (place === NO_TEXT) return undefined
    return place === LONG_TEXT ? null : this.#stringAt(place)
  }

  #stringAt(place: number): string {
    const at = this.#texts + place
    return this.#bytes.toString('utf8', at + 4, at + 4 + this.#bytes.readUInt32BE(at))
  }
}

/** Makes a table, commit by commit, so that whoever makes a long one can let others have their turn. */
export class FactsTableWriter {
  readonly #slots: Buffer
  readonly #records: Buffer
  readonly #texts: Buffer[] = []
  readonly #authors = new Map<string, number>()
  #count = 0
  #textBytes = 0

  /** For `most` commits at most. */
  constructor(most: number) {
    // Half of the slots or more stay free, so that a search ends soon.
    this.#slots = Buffer.alloc(SLOT * 2 ** Math.ceil(Math.log2(2 * most + 1)))
    this.#records = Buffer.alloc(RECORD * most)
  }

  /** Adds the facts of a commit; of one that was added before they are the same. */
  add({ oid, parent, seconds, author, text }: CommitFacts): void {
    const at = this.#count++ * RECORD
    this.#records.write(oid, at, 'hex')
    if (parent !== undefined) this.#records.write(parent, at + PARENT, 'hex')
    this.#records.writeDoubleBE(seconds, at + SECONDS)
    this.#records.writeUInt32BE(this.#placeOfAuthor(author), at + AUTHOR)
    this.#records.writeUInt32BE(this.#placeOfText(text), at + TEXT)
    this.#slots.writeUInt32BE(this.#count, this.#freeSlot(this.#records.readUInt32BE(at)))
  }

  /** The table's bytes. */
  finish(): Buffer {
    const header = Buffer.alloc(HEADER)
    MAGIC.copy(header)
    header.writeUInt32BE(this.#count, 4)
    header.writeUInt32BE(this.#slots.length / SLOT, 8)
    return Buffer.concat([
      header,
      this.#slots,
      this.#records.subarray(0, this.#count * RECORD),
      ...this.#texts,
    ])
  }

  /** Where in the slots the number of the next record goes. */
  #freeSlot(from: number): number {
    let slot = from
    const placeOf = (number: number): number => (number & (this.#slots.length / SLOT - 1)) * SLOT
    while (this.#slots.readUInt32BE(placeOf(slot)) !== 0) slot++
    return placeOf(slot)
  }

  #placeOfAuthor(author: string): number {
    const known = this.#authors.get(author)
    if (known !== undefined) return known
    const place = this.#placeOf(author)
    this.#authors.set(author, place)
    return place
  }

  #placeOfText(text: CommitFacts['text']): number {
    if (text === undefined) return NO_TEXT
    return text === null || this.#textBytes > MOST_TEXT ? LONG_TEXT : this.#placeOf(text)
  }

  #placeOf(text: string): number {
    const place = this.#textBytes
    const length = Buffer.byteLength(text)
    const bytes = Buffer.allocUnsafe(4 + length)
    bytes.writeUInt32BE(length)
    bytes.write(text, 4)
    this.#texts.push(bytes)
    this.#textBytes += bytes.length
    return place
  }
}
