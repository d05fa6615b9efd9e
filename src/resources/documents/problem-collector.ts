import type { FieldProblem, Refusal, RefusalCode } from '../../errors.ts'
import { MOST_LISTED, problemsRefusal } from './problems-refusal.ts'

/**
 * What is wrong with a document, collected while it is read from the outside in. It knows the place that is being read, and
 * keeps only the problems that a refusal names: a large body made of mistakes costs no more than a good one.
 */
export class ProblemCollector {
  readonly #place: (string | number)[]
  readonly #listed: FieldProblem[] = []
  #count = 0

  /** `loc` is the place of the whole document in the request. */
  constructor(loc: readonly (string | number)[]) {
    this.#place = [...loc]
  }

  /** What `read` gives; the problems it adds are those of the member or item `key` of what is being read. */
  below<T>(key: string | number, read: () => T): T {
    this.#place.push(key)
    const result = read()
    this.#place.pop()
    return result
  }

  /** Notes that something is wrong with what is being read; a sentence that takes work is only made where it is listed. */
  add(msg: string | (() => string), type: string): void {
    this.#count++
    if (this.#listed.length >= MOST_LISTED) return
    this.#listed.push({ loc: [...this.#place], msg: typeof msg === 'string' ? msg : msg(), type })
  }

  /** The problems so far, but for those past what a refusal names. */
  get listed(): readonly FieldProblem[] {
    return this.#listed
  }

  /** The refusal that names every problem there was, undefined if there was none. */
  refusal(code: RefusalCode): Refusal | undefined {
    return this.#count === 0 ? undefined : problemsRefusal(code, this.#listed, this.#count)
  }
}
