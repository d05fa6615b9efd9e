import { CorruptObject, PackGone } from '../objects/errors.ts'
import type { GitObject, Oid } from '../objects/object.ts'
import { hashObject } from '../objects/object.ts'
import type { EntrySource } from './pack-entry.ts'
import type { PackReader } from './pack-reader.ts'

/** The place of no entry. */
const NOWHERE = -1

/** After so many entries that are other objects, the next one is not tried any more. */
const MAX_MISSES_IN_A_ROW = 4

/**
 * Reads objects in the order in which they probably lie in a pack: each is first taken to be the entry after the last, which
 * its own id proves or disproves, so that whoever guesses right needs no index.
 */
export class SequentialPackReader {
  #pack: PackReader | undefined
  #source: EntrySource | undefined
  #next = 0
  #misses = 0

  /** The object if it is the entry that comes next. Anything wrong with that entry counts as another object. */
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

  /** The object at this place of a pack, from where the run goes on. Throws as `PackReader.read` does, and for another object. */
  startAt(pack: PackReader, offset: number, oid: Oid): GitObject {
    const { kind, bytes, next } = pack.read(offset)
    if (hashObject(kind, bytes) !== oid) throw new CorruptObject(`its bytes do not match its id`)
    if (pack !== this.#pack) {
      this.#pack = pack
      this.#source = pack.pieces()
      this.#goOnAt(next)
    } else if (next === undefined || offset === this.#next) {
      // the order is back when two that were looked up follow one another
      this.#goOnAt(next)
    } else if (this.#misses >= MAX_MISSES_IN_A_ROW || offset > this.#next) {
      this.#next = next
    }
    // what lies behind was needed by an earlier row too: the run goes on where it was
    return { kind, bytes }
  }

  /** Where no next entry is known none is tried. */
  #goOnAt(next: number | undefined): void {
    this.#next = next ?? NOWHERE
    this.#misses = next === undefined ? MAX_MISSES_IN_A_ROW : 0
  }
}
