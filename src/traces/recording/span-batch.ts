import { type ReferenceTexts, referenceTexts } from './reference-texts.ts'
import { spanLine } from './span-line.ts'
import { microsecondsOf } from '../span-time.ts'
import type { Span } from '../span.ts'

/** Spans on their way to the thread that stores them: a line each in UTF-8, its times, and the references that the lines name by their place. */
export interface SpanLines {
  readonly lines: Uint8Array<ArrayBuffer>
  /** Of each line `TIMES` of them: when the span began and ended and when it was recorded, in microseconds. */
  readonly times: Float64Array<ArrayBuffer>
  readonly references: readonly ReferenceTexts[]
}

/** How many times a span has. */
export const TIMES = 3

/**
 * Spans that are stored together. They wait as bytes: the garbage collector would copy and look through objects and texts again and again,
 * which cost as much as storing them.
 */
export class SpanBatch {
  readonly #references = new Map<ReferenceTexts, number>()
  /** Maps of references whose place is known. To keep all of them would have the garbage collector copy them. */
  readonly #known = new Map<Span['references'], number>()
  readonly #times: number[] = []
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #used = 0
  /** Characters of the references. */
  #beside = 0
  #count = 0

  /** How many spans it has. */
  get count(): number {
    return this.#count
  }

  /** How many bytes they are. */
  get size(): number {
    return this.#used + this.#beside + Float64Array.BYTES_PER_ELEMENT * this.#times.length
  }

  /** Adds spans, all or none of them. `now` is in milliseconds. Throws TypeError for attributes that JSON has no word for. */
  add(spans: readonly Span[], now: number): void {
    let lines = ''
    for (const span of spans) lines += spanLine(span, this.#placeOf(span.references))
    // the most that it can be; of a long text it is worth knowing
    const most = lines.length < LONG ? 3 * lines.length : Buffer.byteLength(lines)
    if (this.#used + most > this.#bytes.length) this.#grow(this.#used + most)
    this.#used += this.#bytes.write(lines, this.#used)
    for (const { startTime, endTime } of spans)
      this.#times.push(microsecondsOf(startTime), microsecondsOf(endTime), microsecondsOf(now))
    this.#count += spans.length
  }

  /** What the thread gets of it: a copy that can be given away. */
  sent(): SpanLines {
    return {
      lines: new Uint8Array(this.#bytes.subarray(0, this.#used)),
      times: Float64Array.from(this.#times),
      references: [...this.#references.keys()],
    }
  }

  #placeOf(references: Span['references']): number {
    const known = this.#known.get(references)
    if (known !== undefined) return known
    const texts = referenceTexts(references)
    const place = this.#references.get(texts) ?? this.#references.size
    if (place === this.#references.size) {
      this.#references.set(texts, place)
      this.#beside += texts.members.length + texts.list.length
    }
    if (this.#known.size < MOST_KNOWN) this.#known.set(references, place)
    return place
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, least))
    this.#bytes.copy(larger, 0, 0, this.#used)
    this.#bytes = larger
  }
}

const FIRST_BYTES = 64 * 1024
const LONG = 16 * 1024
const MOST_KNOWN = 20
