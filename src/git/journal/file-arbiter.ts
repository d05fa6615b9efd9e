import type { Arbiter, DecidedBeside, DecidedWrite, Decision } from '../transactions/arbiter.ts'
import type { Journal } from './journal.ts'

/** Servers that share a folder: git's locks order their writes, and a record in a journal of the folder decides each. */
export class FileArbiter implements Arbiter {
  readonly #journal: Journal
  readonly #store: string

  constructor(journal: Journal, store: string) {
    this.#journal = journal
    this.#store = store
  }

  decide(writes: readonly DecidedWrite[], { notes = [], moved }: DecidedBeside = {}): Promise<Decision> {
    return this.#journal.append({
      writes: writes.map(({ gitdir, ...write }) => ({ repository: this.#relative(gitdir), ...write })),
      notes,
      moved,
    })
  }

  /** What others acknowledged is in the folder that we read: nothing has to be waited for. */
  async fresh(): Promise<void> {
    return undefined
  }

  finishFor(dead: string): Promise<void> {
    return this.#journal.finishFor(dead)
  }

  untilSettled(gitdir: string): Promise<void> {
    return this.#journal.untilSettled(this.#relative(gitdir))
  }

  #relative(gitdir: string): string {
    return gitdir.slice(this.#store.length + 1)
  }
}
