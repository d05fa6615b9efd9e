import type { DecisionNote } from '../git/transactions/arbiter.ts'
import { decidedFile, decidedIn, type DecidedCommit, type RowCounts } from './decided.ts'

/** What one go at a keyed request asks of what was decided, and tells of what it decides. */
export interface AttemptDecisions {
  /** The commits that earlier attempts put on a ref of an artifact (known by the end of its id), or were about to. */
  decidedOn(digits: string, ref: string): readonly DecidedCommit[]
  /** What the journal has to note with a write that puts a commit on a ref; `met` is told to who sends the request again. */
  noteOf(digits: string, ref: string, commit: string, met?: RowCounts): DecisionNote
}

/** What attempts at one keyed request decide: empty files beside its intent, whose names say it. */
export class Decisions {
  readonly #folder: string
  readonly #storeDir: string
  readonly #intent: string
  readonly #earlier: readonly string[]
  readonly #own: string[] = []
  #isOver = false

  /** `intent` is the name of the intent's file without its end, `earlier` what was decided by now. */
  constructor(folder: string, storeDir: string, intent: string, earlier: readonly string[]) {
    this.#folder = folder
    this.#storeDir = storeDir
    this.#intent = intent
    this.#earlier = earlier
  }

  /** What the work of the request asks and tells. */
  get attempt(): AttemptDecisions {
    return {
      decidedOn: (digits, ref) => decidedIn(this.#earlier, this.#intent, digits, ref),
      noteOf: (digits, ref, commit, met) =>
        this.#note(decidedFile(this.#intent, { digits, ref, commit, met })),
    }
  }

  /**
   * The result is in the intent, or the request as if it had never been sent: nobody asks what was decided. Answers the files that say it,
   * to be removed.
   */
  forget(): readonly string[] {
    this.#isOver = true
    const decided = [...this.#earlier, ...this.#own].filter((file) => file.endsWith('.decided'))
    return decided.map((file) => `${this.#folder}/${file}`)
  }

  #note(file: string): DecisionNote {
    this.#own.push(file)
    const folder = this.#folder.slice(this.#storeDir.length + 1)
    return { path: `${folder}/${file}`, isNeeded: () => !this.#isOver }
  }
}
