/**
 * How everything of a store is written that lies outside its repositories: keys, sessions, secrets, webhooks and deliveries, intents, logs
 * of evaluations. A document is a file of the store, named by its path there. It is read from the folder, at once; writing goes through
 * here, where all servers of the store agree on it.
 */
export interface Documents extends DocumentWriter {
  /** Whether nothing is lost, nor seen in another order than it was written in, also of what may be. */
  readonly isAlwaysDurable: boolean
  /**
   * Replaces a document by what `change` makes of it, and answers what that answers; once this resolves it is durable. Nobody changes it
   * in between: where another server was faster, `change` is called again with what is there by then. Refuses with `locked` where others
   * keep it too long. `lease` is what others hold who change it, if not the path without its ending.
   */
  update<T>(
    path: string,
    change: (before: Buffer | undefined) => Changed<T> | Promise<Changed<T>>,
    how?: HowToPut & { readonly lease?: string },
  ): Promise<T>
  /** Makes a document, unless there is one; true if it was made here. Once this resolves, one of them is durable. */
  create(path: string, bytes: Uint8Array, how?: HowToPut): Promise<boolean>
  /**
   * Runs `work` while no other server, nor another caller here, holds the lease of this path. Refuses with `locked` if somebody alive keeps
   * it too long.
   */
  lease<T>(path: string, work: (lease: Lease) => Promise<T>, how?: HowToLease): Promise<T>
  /** The same, but where somebody has it nothing is done, and undefined is answered at once. */
  leaseIfFree<T>(
    path: string,
    work: (lease: Lease) => Promise<T>,
    how?: Pick<HowToLease, 'note'>,
  ): Promise<T | undefined>
  /** Whether somebody who is not known to be dead holds the lease of this path. If not, what was done with it is in the folder. */
  isLeased(path: string): Promise<boolean>
  /** The names of the leases right in a folder that are held. What was done with others is in the folder. */
  leased(folder: string): Promise<readonly string[]>
  /** Leases with a note whose holders died, or abandoned them: somebody else may go on. None where only processes of one host share. */
  abandoned(): Promise<readonly AbandonedLease[]>
  /** Ends leases in a folder that dead processes hold. */
  sweepLeases(folder: string, how?: Pick<HowToLease, 'beforeTakeOver'>): Promise<void>
}

/** Writes of who alone writes to a document: because of a lease, or because nobody else knows its name yet. */
export interface DocumentWriter {
  /** Puts bytes in place of what a document holds, in one step; it is made if need be. Once this resolves, it is durable. */
  put(path: string, bytes: Uint8Array, how?: HowToPut): Promise<void>
  /** Adds bytes at its end; it is made if need be. Once this resolves, they are durable. */
  append(path: string, bytes: Uint8Array, how?: Pick<HowToPut, 'mayBeLost'>): Promise<void>
  /** Removes it; absence is fine. A power cut may bring it back. */
  remove(path: string): Promise<void>
}

/** What somebody may do while nobody else may. */
export interface Lease extends DocumentWriter {
  /** Aborted when another server may have the lease: writes with it are refused from then on. */
  readonly signal: AbortSignal
  /** When the work is over, somebody else is to go on with it. */
  abandon(): void
}

export interface HowToLease {
  /** Puts in place what a dead holder decided, before its lease is taken from it; it is given a name that begins with that one's identity. */
  readonly beforeTakeOver?: ((dead: string) => Promise<void>) | undefined
  /** What somebody else needs to go on with the work. */
  readonly note?: string
}

/** A lease that nobody holds, of work that is not over. */
export interface AbandonedLease {
  readonly path: string
  readonly note: string
}

export interface HowToPut {
  /** The permissions of a file that is not for everybody: 0o600 for secrets. */
  readonly mode?: number | undefined
  /** A power cut may bring back what was there before, which is worked out again. */
  readonly mayBeLost?: boolean
}

/** What `update` is to do: put other bytes there, or leave it as it is. */
export interface Changed<T> {
  readonly bytes?: Uint8Array | undefined
  readonly answer: T
}
