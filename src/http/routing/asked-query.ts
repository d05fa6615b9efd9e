import type { FieldProblem } from '../../errors.ts'
import { MOST_LISTED, UNKNOWN_KEY } from '../../resources/documents/problems-refusal.ts'
import { unknownName } from './unknown-fields.ts'

/** The query string of a request, which remembers the parameters that somebody looked for: these are the ones that the route knows. */
export class AskedQuery extends URLSearchParams {
  readonly #known = new Set<string>()

  override get(name: string): string | null {
    this.#known.add(name)
    return super.get(name)
  }

  override getAll(name: string): string[] {
    this.#known.add(name)
    return super.getAll(name)
  }

  override has(name: string): boolean {
    this.#known.add(name)
    return super.has(name)
  }

  /** To read them all is to know them all. */
  override [Symbol.iterator]() {
    for (const name of super.keys()) this.#known.add(name)
    return super[Symbol.iterator]()
  }

  /** The parameters that somebody looked for. */
  get known(): ReadonlySet<string> {
    return this.#known
  }

  /** The parameters that nobody looked for (interface 2.10), save those that may be sent for nothing. */
  unknown(unused: readonly string[] = []): readonly FieldProblem[] {
    const known = [...this.#known]
    return [...new Set(super.keys())]
      .filter((name) => !this.#known.has(name) && !unused.includes(name))
      .slice(0, MOST_LISTED)
      .map((name) => ({
        loc: ['query', name],
        msg: unknownName('query parameter', name, known),
        type: UNKNOWN_KEY,
      }))
  }
}
