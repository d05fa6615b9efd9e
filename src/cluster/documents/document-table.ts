/**
 * Decides changes of documents for servers that each have a folder of their own. Paths are relative to the store. Every change makes a
 * version, a number greater than the document's earlier ones; 0 means no document. Methods reject if the table cannot be reached; a change
 * may then have happened or not.
 */
export interface DocumentTable {
  /** Makes a change, durably, if its conditions hold. After it resolves, the other servers see the change on their next look. */
  decide(change: DocumentChange): Promise<DocumentOutcome>
  /** The content of documents after these versions. Documents that are unchanged or absent are left out. */
  newerThan(known: ReadonlyMap<string, number>): Promise<readonly DocumentNews[]>
  /** Every document, in any order. */
  summaries(): Promise<readonly DocumentSummary[]>
  /**
   * Takes a free or expired lease for this long by the table's clock. Answers a new, unique token; undefined if the lease is held. The note
   * is stored with the lease.
   */
  takeLease(name: string, milliseconds: number, note?: string): Promise<string | undefined>
  /** Extends a lease from now; false if another server has taken it. */
  renewLease(lease: HeldLease, milliseconds: number): Promise<boolean>
  /** Returns a lease, unless another server has taken it. */
  dropLease(lease: HeldLease): Promise<void>
  /** Whether a lease is held and not expired. */
  isLeased(name: string): Promise<boolean>
  /** The names, relative to the folder, of unexpired leases directly in it. */
  leased(folder: string): Promise<readonly string[]>
  /** Leases with a note that expired without being returned. */
  abandonedLeases(): Promise<readonly { readonly name: string; readonly note: string }[]>
  /** Deletes leases without a note that expired long ago, and old records of changes. */
  tidy(): Promise<void>
}

/** A server's access to a table. */
export interface TableFeed {
  readonly table: DocumentTable
  /**
   * Lists the changes since the previous call, in any order; the first call lists those since `summaries` was read. The list may include
   * changes of this server. Undefined if the table no longer has them; then the caller compares everything. One call at a time.
   */
  entries(): Promise<readonly DocumentEntry[] | undefined>
}

/** A lease that was taken; another server may have taken it since. */
export interface HeldLease {
  readonly name: string
  readonly token: string
}

export interface DocumentChange {
  readonly path: string
  /** `put` replaces the content, `append` adds to it, `remove` succeeds even without a document. */
  readonly kind: 'put' | 'append' | 'remove'
  readonly bytes?: Uint8Array | undefined
  readonly mode?: number | undefined
  /** The version that the document must have; undefined for any. */
  readonly expected?: number | undefined
  /** The change happens only while this lease is held. */
  readonly lease?: HeldLease | undefined
}

/** The outcome of a change: made after version `before`; the document has another version than expected; another server has the lease. */
export type DocumentOutcome =
  | { readonly kind: 'done'; readonly version: number; readonly before: number }
  | { readonly kind: 'moved' }
  | { readonly kind: 'lost' }

/** New changes of a document in order; a `put` replaces those before it. */
export interface DocumentNews {
  readonly path: string
  readonly mode: number | undefined
  readonly parts: readonly DocumentPart[]
}

export interface DocumentPart {
  readonly version: number
  /** Whether the part replaces the content, instead of being added to it. */
  readonly isWhole: boolean
  readonly bytes: Uint8Array
}

/** A change of a document, as recorded for other servers. */
export interface DocumentEntry {
  readonly path: string
  readonly version: number
  readonly isRemoved: boolean
}

export interface DocumentSummary {
  readonly path: string
  readonly version: number
  /** The MD5 of the content in hexadecimal, used only to detect a damaged or old copy. */
  readonly digest: string
}
