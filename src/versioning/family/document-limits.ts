/** How large a document may be, whoever brings it. */
export interface DocumentLimits {
  /** Most bytes that a stored document unfolds to, its texts filled in; what indentation would make longer is written without. */
  readonly maxBytes: number
  /** The same of what a commit brings, as it is sent and as it is stored. Environments have a bound of their own. */
  readonly maxDocumentBytes: number
  /** Most values (members and items at any depth) of a file that is pushed. */
  readonly maxValues: number
}

/** Those of a server that is told nothing else. */
export const DOCUMENT_LIMITS: DocumentLimits = {
  maxBytes: 16 * 1024 ** 2,
  maxDocumentBytes: 1024 ** 2,
  maxValues: 1_000_000,
}
