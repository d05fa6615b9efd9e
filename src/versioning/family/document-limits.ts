/** How large a document may be, whoever brings it. */
export interface DocumentLimits {
  /** Most bytes of a file that a write lays down; what indentation would make longer is written without. */
  readonly maxBytes: number
  /** Most values (members and items at any depth) of a file that is pushed. */
  readonly maxValues: number
}

/** Those of a server that is told nothing else. */
export const DOCUMENT_LIMITS: DocumentLimits = { maxBytes: 16 * 1024 ** 2, maxValues: 1_000_000 }
