/**
 * Where several servers with folders of their own agree on documents, whose paths are relative to the store here. Every change makes a
 * version, a number greater than those that the document had before; 0 stands for no document. Rejects where it cannot be reached: then
 * nobody knows whether a change happened.
 */
export interface DocumentTable {
  /** Makes a change, durably, if what it expects is so. Once it resolves, the other servers' next look finds it. */
  decide(change: DocumentChange): Promise<DocumentOutcome>
  /** What documents hold beyond these versions. One of which there is nothing new, or that is not there, is left out. */
  newerThan(known: ReadonlyMap<string, number>): Promise<readonly DocumentNews[]>
  /** Every document there is, in any order. */
  summaries(): Promise<readonly DocumentSummary[]>
  /**
   * Takes a lease that nobody has, or whose time is over, for so many milliseconds by the clock that all share; answers a token that no
   * holder before had, or undefined where somebody has it. The note is kept with it.
   */
  takeLease(name: string, milliseconds: number, note?: string): Promise<string | undefined>
  /** Prolongs a lease from now; false if somebody else has taken it. */
  renewLease(lease: HeldLease, milliseconds: number): Promise<boolean>
  /** Gives a lease back, unless somebody else has taken it. */
  dropLease(lease: HeldLease): Promise<void>
  /** Whether somebody has a lease whose time is not over. */
  isLeased(name: string): Promise<boolean>
  /** Leases with a note whose time is over, and which were not given back. */
  abandonedLeases(): Promise<readonly { readonly name: string; readonly note: string }[]>
  /** Forgets leases without a note whose time was over long ago, and what changed longer ago than anybody should have to be told. */
  tidy(): Promise<void>
}

/** What one server has of a table. */
export interface TableFeed {
  readonly table: DocumentTable
  /**
   * What changed since the call before, or since the summaries, in any order; what this server changed may be among it. Undefined where that is
   * not known any more, and everything has to be compared. One call at a time.
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
  /** `put` replaces what is there, `append` adds to it, `remove` needs no document. */
  readonly kind: 'put' | 'append' | 'remove'
  readonly bytes?: Uint8Array | undefined
  readonly mode?: number | undefined
  /** The version that it has to be made on; any, where there is none. */
  readonly expected?: number | undefined
  /** It happens only while this is held. */
  readonly lease?: HeldLease | undefined
}

/** What became of a change: it was made on `before`; the document has another version than expected; the lease is somebody else's. */
export type DocumentOutcome =
  | { readonly kind: 'done'; readonly version: number; readonly before: number }
  | { readonly kind: 'moved' }
  | { readonly kind: 'lost' }

/** What is new of a document: changes in the order in which they were made, of which `put` forgets those before. */
export interface DocumentNews {
  readonly path: string
  readonly mode: number | undefined
  readonly parts: readonly DocumentPart[]
}

export interface DocumentPart {
  readonly version: number
  /** Whether it replaces what was there before, in place of adding to it. */
  readonly isWhole: boolean
  readonly bytes: Uint8Array
}

/** That a document changed, as servers tell each other. */
export interface DocumentEntry {
  readonly path: string
  readonly version: number
  readonly isRemoved: boolean
}

export interface DocumentSummary {
  readonly path: string
  readonly version: number
  /** MD5 of what it holds, in hex: tells a copy that is torn or old, nothing else. */
  readonly digest: string
}
