/** Size limits for every document. */
export interface DocumentLimits {
  /**
   * Maximum size in bytes of a stored document with its texts filled in; one that indentation would make
   * longer is written without it.
   */
  readonly maxBytes: number
  /** The same limit for a commit, as sent and as stored. Environments have their own limit. */
  readonly maxDocumentBytes: number
  /** Maximum number of values (members and items at any depth) in a pushed file. */
  readonly maxValues: number
}

/** The default limits. */
export const DOCUMENT_LIMITS: DocumentLimits = {
  maxBytes: 16 * 1024 ** 2,
  maxDocumentBytes: 1024 ** 2,
  maxValues: 1_000_000,
}
