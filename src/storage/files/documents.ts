/**
 * Writes everything of a store outside its repositories: keys, sessions, secrets, webhooks and deliveries, intents, logs of evaluations. A
 * document is a file of the store, named by its path. It is read directly from the folder. Writes go through this interface, on which all
 * servers of the store agree.
 */
export interface Documents extends DocumentWriter {
  /** Whether every write is durable and seen in order, including those with `mayBeLost`. */
  readonly isAlwaysDurable: boolean
  /**
   * Replaces a document by the result of `change`, and resolves to its answer when the document is durable. No other change comes in between:
   * if another server was faster, `change` runs again on the new content. Refuses with `locked` if others hold the document too long. `lease`
   * is the lease that other writers take, by default the path without its ending.
   */
  update<T>(
    path: string,
    change: (before: Buffer | undefined) => Changed<T> | Promise<Changed<T>>,
    how?: HowToPut & { readonly lease?: string },
  ): Promise<T>
  /** Creates a document unless it exists; true if this call created it. When this resolves, the document is durable. */
  create(path: string, bytes: Uint8Array, how?: HowToPut): Promise<boolean>
  /** Runs `work` while no other server or caller holds the lease of this path. Refuses with `locked` if a live holder keeps it too long. */
  lease<T>(path: string, work: (lease: Lease) => Promise<T>, how?: HowToLease): Promise<T>
  /** As `lease`, but if the lease is held, does nothing and answers undefined at once. */
  leaseIfFree<T>(
    path: string,
    work: (lease: Lease) => Promise<T>,
    how?: Pick<HowToLease, 'note'>,
  ): Promise<T | undefined>
  /** Whether a holder that may be alive has the lease. If not, everything written under the lease is in the folder. */
  isLeased(path: string): Promise<boolean>
  /** The names of held leases directly in a folder. Everything written under other leases is in the folder. */
  leased(folder: string): Promise<readonly string[]>
  /**
   * Leases with a note whose holders died or abandoned them, so that the work can be continued. Empty if only processes of one host share the
   * store.
   */
  abandoned(): Promise<readonly AbandonedLease[]>
  /** Releases leases in a folder whose holders are dead. */
  sweepLeases(folder: string, how?: Pick<HowToLease, 'beforeTakeOver'>): Promise<void>
}

/** Writes for the sole writer of a document: the holder of its lease, or its creator. */
export interface DocumentWriter {
  /** Replaces the content atomically; creates the document if absent. When this resolves, it is durable. */
  put(path: string, bytes: Uint8Array, how?: HowToPut): Promise<void>
  /** Appends bytes; creates the document if absent. When this resolves, they are durable. */
  append(path: string, bytes: Uint8Array, how?: Pick<HowToPut, 'mayBeLost'>): Promise<void>
  /** Removes a document; absence is fine. A power cut may undo this. */
  remove(path: string): Promise<void>
}

/** An exclusive right to write. */
export interface Lease extends DocumentWriter {
  /** Aborted when another server may have the lease; later writes are refused. */
  readonly signal: AbortSignal
  /** Lets another server continue the work after this one ends. */
  abandon(): void
}

export interface HowToLease {
  /** Applies what a dead holder decided before its lease is taken. It gets a name that begins with the holder's identity. */
  readonly beforeTakeOver?: ((dead: string) => Promise<void>) | undefined
  /** What another server needs to continue the work. */
  readonly note?: string
}

/** A lease of unfinished work that is no longer held. */
export interface AbandonedLease {
  readonly path: string
  readonly note: string
}

export interface HowToPut {
  /** The permissions of a private file: 0o600 for secrets. */
  readonly mode?: number | undefined
  /** A power cut may undo this write; the content can be computed again. */
  readonly mayBeLost?: boolean
}

/** The result of a `change` function: new content, or none to leave the document unchanged. */
export interface Changed<T> {
  readonly bytes?: Uint8Array | undefined
  readonly answer: T
}
