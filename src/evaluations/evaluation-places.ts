import { Refusal } from '../errors.ts'

/** Room for so many evaluations at once in this process, whichever project they are of. */
export class EvaluationPlaces {
  readonly #most: number
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** How many evaluations run. */
  get running(): number {
    return this.#taken
  }

  /** Takes a place; call what it answers, once, to give it back. Refuses with `overloaded` when none is left: one may be taken for hours. */
  take(): () => void {
    if (this.#taken >= this.#most) {
      throw new Refusal(
        'overloaded',
        `This server runs ${this.#most} evaluations already, the most that it takes at once. Try again when one of them has ` +
          'ended, stop one of yours with POST /evaluations/{id}/stop, or have the operator raise EVALUATIONS_AT_ONCE.',
      )
    }
    this.#taken++
    return () => void this.#taken--
  }
}
