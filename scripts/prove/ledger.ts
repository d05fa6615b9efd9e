/** What the clients of a load were told is stored. Only what was answered with success stands in it. */
export interface Ledger {
  /** Revisions by id. */
  readonly revisions: Map<string, AcknowledgedRevision>
  /** Variant slugs by id. */
  readonly variants: Map<string, string>
  /** Artifact slugs by id. */
  readonly artifacts: Map<string, string>
  /** Names of artifacts by id: the last one answered for, and the last one asked for. */
  readonly names: Map<string, { readonly answered: string | undefined; readonly asked: string }>
  /** Requests that failed although the service should have answered them. */
  readonly failures: string[]
}

export interface AcknowledgedRevision {
  readonly version: number
  /** The payload that was sent. */
  readonly data: unknown
  /** The slug that its committer chose. */
  readonly slug: string | undefined
}

/** A ledger of nothing. */
export function emptyLedger(): Ledger {
  return {
    revisions: new Map(),
    variants: new Map(),
    artifacts: new Map(),
    names: new Map(),
    failures: [],
  }
}
