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
  /** Whether artifacts are archived, by id: as last answered, and as last asked for. */
  readonly archived: Map<string, { readonly answered: boolean | undefined; readonly asked: boolean }>
  /** Testset revisions by id: the version, and what stands in the column "value" of rows that it brought. */
  readonly rows: Map<string, { readonly version: number; readonly values: readonly string[] }>
  /** Deployments by their message. */
  readonly deployments: Map<string, { readonly environment: string; readonly revision: string }>
  /**
   * Commits that are deployed in the same write, by their message, which is the Idempotency-Key, too; also those that were not answered: all
   * of each or nothing.
   */
  readonly joint: Map<string, JointCommit>
  /** How many runs of a handler were answered; their traces are not promised. */
  invocations: number
  /** Requests that failed although the service should have answered them. */
  readonly failures: string[]
}

export interface JointCommit {
  readonly variant: string
  readonly environment: string
  /** What is posted to `/workflows/revisions/commit`. */
  readonly body: object
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
    archived: new Map(),
    rows: new Map(),
    deployments: new Map(),
    joint: new Map(),
    invocations: 0,
    failures: [],
  }
}

/** How many writes stand in a ledger. */
export function acknowledgedIn(ledger: Ledger): number {
  const { revisions, variants, artifacts, archived, rows, deployments } = ledger
  return [revisions, variants, artifacts, archived, rows, deployments].reduce(
    (sum, { size }) => sum + size,
    0,
  )
}
