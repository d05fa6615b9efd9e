import { CorruptObject, PackGone } from '../objects/errors.ts'
import type { GitObject, Oid } from '../objects/object.ts'
import { hashObject } from '../objects/object.ts'
import type { EntrySource } from './pack-entry.ts'
import type { PackReader } from './pack-reader.ts'

/** No known entry. */
const NOWHERE = -1

/** After this many entries in a row that were other objects, the next one is not tried. */
const MAX_MISSES_IN_A_ROW = 4

/**
 * Reads objects that probably follow one another in a pack. It first tries the entry after the last one, and checks the guess by the
 * object's id. A right guess needs no lookup in the index.
 */
export class SequentialPackReader {
  #pack: PackReader | undefined
  #source: EntrySource | undefined
  #next = 0
  #misses = 0

  /** The object if the next entry has it. An invalid entry counts as another object. */
  next(oid: Oid): GitObject | undefined {
    if (!this.#pack || this.#misses >= MAX_MISSES_IN_A_ROW) return undefined
    try {
      const { kind, bytes, next } = this.#pack.read(this.#next, this.#source)
      if (hashObject(kind, bytes) === oid) {
        this.#goOnAt(next)
        return { kind, bytes }
      }
    } catch (error) {
      if (!(error instanceof CorruptObject || error instanceof PackGone)) throw error
    }
    this.#misses++
    return undefined
  }

  /** The object at this offset of a pack; the next guess continues from there. Throws as `PackReader.read` does, and for another object. */
  startAt(pack: PackReader, offset: number, oid: Oid): GitObject {
    const { kind, bytes, next } = pack.read(offset)
    if (hashObject(kind, bytes) !== oid) throw new CorruptObject(`its bytes do not match its id`)
    if (pack !== this.#pack) {
      this.#pack = pack
      this.#source = pack.pieces()
      this.#goOnAt(next)
    } else if (next === undefined || offset === this.#next) {
      // two consecutive lookups follow one another: the order is as expected again
      this.#goOnAt(next)
    } else if (this.#misses >= MAX_MISSES_IN_A_ROW || offset > this.#next) {
      this.#next = next
    }
    // an earlier row already needed a later entry: the next guess stays where it was
    return { kind, bytes }
  }

  /** Without a known next entry, none is tried. */
  #goOnAt(next: number | undefined): void {
    this.#next = next ?? NOWHERE
    this.#misses = next === undefined ? MAX_MISSES_IN_A_ROW : 0
  }
}
