/**
 * Refs that this server's decisions moved, kept until all earlier decisions of other servers are in the folder. Those may be applied later
 * and must not set the refs back.
 */
export class OwnMoves {
  readonly #moved = new Map<string, Map<string, OwnMove>>()
  /** The number of looks at the log so far. */
  #looks = 0

  /** Counts a look that begins, and answers its number. */
  begin(): number {
    return ++this.#looks
  }

  /**
   * The folder now has what this look answered, which includes every other server's decision before the moves that were known when it began.
   */
  ended(look: number): void {
    for (const [repository, refs] of this.#moved) {
      for (const [ref, { since }] of refs) if (since < look) refs.delete(ref)
      if (refs.size === 0) this.#moved.delete(repository)
    }
  }

  /** The log may have lost decisions, so its current state counts. */
  forget(): void {
    this.#moved.clear()
  }

  add(repository: string, version: number, refs: Iterable<string>): void {
    const moved = this.#moved.get(repository) ?? new Map<string, OwnMove>()
    this.#moved.set(repository, moved)
    for (const ref of refs) {
      if ((moved.get(ref)?.version ?? 0) < version) moved.set(ref, { version, since: this.#looks })
    }
  }

  /** Whether a decision of this server moved the ref after this version of the repository. */
  isNewer(repository: string, ref: string, version: number): boolean {
    return (this.#moved.get(repository)?.get(ref)?.version ?? 0) > version
  }
}

interface OwnMove {
  readonly version: number
  /** The last look that had begun when the ref moved. */
  readonly since: number
}
