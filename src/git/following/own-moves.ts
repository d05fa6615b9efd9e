/**
 * The refs that decisions of this server moved, until everything that was decided elsewhere before them is in the folder, too: that may be
 * applied later, and must not set them back.
 */
export class OwnMoves {
  readonly #moved = new Map<string, Map<string, OwnMove>>()
  /** How often the log was looked at. */
  #looks = 0

  /** A look begins; what it answers is taken in. */
  begin(): number {
    return ++this.#looks
  }

  /** What that look answered is in the folder: all that was decided elsewhere before the decisions that were known when it began. */
  ended(look: number): void {
    for (const [repository, refs] of this.#moved) {
      for (const [ref, { since }] of refs) if (since < look) refs.delete(ref)
      if (refs.size === 0) this.#moved.delete(repository)
    }
  }

  /** What was decided may have been lost by the log: what that says now holds. */
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

  /** Whether a decision of this server moved the ref after the repository came to this version. */
  isNewer(repository: string, ref: string, version: number): boolean {
    return (this.#moved.get(repository)?.get(ref)?.version ?? 0) > version
  }
}

interface OwnMove {
  readonly version: number
  /** The last look that had begun. */
  readonly since: number
}
