import type { Arbiter, DecidedBeside, DecidedWrite, Decision, Seen } from '../transactions/arbiter.ts'
import type { Journal } from './journal.ts'

/** Servers that share a folder: git's locks order their writes, and a record in a journal of the folder decides each. */
export class FileArbiter implements Arbiter {
  readonly #journal: Journal
  readonly #store: string

  constructor(journal: Journal, store: string) {
    this.#journal = journal
    this.#store = store
  }

  async decide(
    writes: readonly DecidedWrite[],
    { notes = [], moved, purged }: DecidedBeside = {},
  ): Promise<Decision> {
    // Its rename decides.
    if (purged !== undefined) return NOTHING_LEFT
    return this.#journal.append({
      // Names are claimed under the lock of their project, and large packs are on the disk.
      writes: writes.map(({ gitdir, moves, pack, created }) => ({
        repository: this.#relative(gitdir),
        moves,
        pack,
        created,
      })),
      notes,
      moved,
    })
  }

  async admit(): Promise<Decision> {
    return NOTHING_LEFT
  }

  /** They are where they belong. */
  async stageLarge(): Promise<readonly string[]> {
    return []
  }

  async seen(): Promise<Seen> {
    return NOTHING_SEEN
  }

  /** The folder remembers it itself. */
  async wasPurged(): Promise<boolean> {
    return false
  }

  /** What others acknowledged is in the folder that we read: nothing has to be waited for. */
  async fresh(): Promise<void> {
    return undefined
  }

  async readable(): Promise<undefined> {
    return undefined
  }

  finishFor(dead: string): Promise<void> {
    return this.#journal.finishFor(dead)
  }

  untilSettled(gitdir: string): Promise<void> {
    return this.#journal.untilSettled(this.#relative(gitdir))
  }

  checkpoint(): Promise<void> {
    return this.#journal.checkpoint()
  }

  notes(): readonly string[] {
    return this.#journal.notes()
  }

  afterReturn(): Promise<void> {
    return this.#journal.redo()
  }

  close(): Promise<void> {
    return this.#journal.close()
  }

  #relative(gitdir: string): string {
    return gitdir.slice(this.#store.length + 1)
  }
}

const NOTHING_SEEN: Seen = new Map()

const NOTHING_LEFT: Decision = {
  complete: () => undefined,
  withdraw: async () => undefined,
  keep: () => false,
}
